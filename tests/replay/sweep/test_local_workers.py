"""Worker processes give what one process gives, and end with the sweep."""

import multiprocessing

import pytest
from kerntape.replay.sweep import local_workers
from kerntape.replay.sweep.axes import parse_vary
from kerntape.replay.sweep.chunks import Chunk, chunks_of
from kerntape.replay.sweep.local_workers import LocalWorkers, _Waiting
from kerntape.replay.sweep.plan import Case
from kerntape.schemas.errors import KerntapeError

MANY = parse_vary(f"hbm.latency_ns={','.join(map(str, range(100, 200)))}")


def results(plan, jobs, workers=2):
    chunks = chunks_of(plan, range(len(plan)), workers)
    batches = list(LocalWorkers(jobs).evaluate(plan, chunks))
    return {each.point: each.figures for batch in batches for each in batch}


def test_two_processes_give_the_results_of_one(plan_of, tiled):
    plan = plan_of(tiled, MANY, parse_vary("topology.pe.tile_buffers=1,2"))
    assert results(plan, jobs=2) == results(plan, jobs=1)
    assert multiprocessing.active_children() == []


def test_a_point_without_a_result_is_one_line_from_a_worker_too(plan_of, tiled):
    plan = plan_of(tiled, MANY)
    plan.traces[0].path.unlink()
    with pytest.raises(KerntapeError, match=r"x\.ktrace: cannot be read: No such file"):
        results(plan, jobs=2)
    assert multiprocessing.active_children() == []


def test_the_process_that_starts_workers_speaks_for_the_engine(plan_of, tiled, monkeypatch):
    told = []
    monkeypatch.setattr(local_workers, "check_engine", lambda: told.append("checked"))
    assert len(results(plan_of(tiled, MANY), jobs=2)) == 100
    assert told == ["checked"]


def test_a_worker_that_dies_ends_the_sweep_in_one_line(plan_of, tiled):
    plan = plan_of(tiled, MANY)
    batches = LocalWorkers(2).evaluate(plan, chunks_of(plan, range(len(plan)), 2))
    next(batches)
    for worker in multiprocessing.active_children():
        worker.kill()
    with pytest.raises(KerntapeError) as error:
        list(batches)
    assert str(error.value) == (
        "a worker process was killed by signal 9; if it ran out of memory, give fewer --jobs"
    )


def test_workers_end_when_nobody_wants_their_results(plan_of, tiled):
    plan = plan_of(tiled, MANY)
    batches = LocalWorkers(2).evaluate(plan, chunks_of(plan, range(len(plan)), 2))
    next(batches)
    batches.close()
    assert multiprocessing.active_children() == []


def test_a_case_is_cut_so_that_every_worker_has_a_share_but_not_into_crumbs(plan_of, tiled):
    plan = plan_of(tiled, MANY)
    sizes = [len(chunk.points) for chunk in chunks_of(plan, range(100), 2)]
    assert sizes == [50, 50]
    assert [len(chunk.points) for chunk in chunks_of(plan, range(100), 50)] == [16] * 6 + [4]


def test_a_worker_keeps_its_case_and_takes_over_anothers_last():
    first, second = Case(0, 0, ()), Case(0, 1, ())
    waiting = _Waiting([Chunk(case, (0,)) for case in (first, first, second, second)])
    assert waiting.take(None, {None}).case == first
    assert waiting.take(None, {first}).case == second
    assert waiting.take(second, {first}).case == second
    assert waiting.take(second, {first}).case == first
    assert not waiting
