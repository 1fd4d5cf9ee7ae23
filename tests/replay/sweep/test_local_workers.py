"""Worker processes give what one process gives, and end with the sweep."""

import multiprocessing
import os
import re
import signal
import struct
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from kerntape.replay.sweep import local_workers
from kerntape.replay.sweep.axes import parse_vary
from kerntape.replay.sweep.chunks import Chunk, chunks_of
from kerntape.replay.sweep.local_workers import (
    LocalWorkers,
    _received,
    _started,
    _Waiting,
    _Worker,
    _Workers,
    cores_here,
)
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


def test_a_worker_that_dies_in_the_middle_of_a_message_is_the_same_line():
    ours, theirs = multiprocessing.Pipe()
    os.write(theirs.fileno(), struct.pack("!i", 100) + b"of 100 bytes some")
    theirs.close()
    dead = SimpleNamespace(join=lambda: None, exitcode=-9)
    with pytest.raises(KerntapeError, match=r"^a worker process was killed by signal 9; "):
        _received(_Worker(dead, ours))


def hears(pid, number):
    """Whether the process would be told of that signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    blocked = int(re.search(r"^SigBlk:\s*(\w+)$", status, re.MULTILINE)[1], 16)
    return not blocked >> (number - 1) & 1


def test_a_worker_never_hears_ctrl_c_not_even_while_it_starts(plan_of, tiled):
    workers = _Workers(plan_of(tiled, MANY), 2)
    with workers:
        started = [each.pid for each in multiprocessing.active_children()]
        assert [hears(pid, signal.SIGINT) for pid in started] == [False, False]
        assert hears(os.getpid(), signal.SIGINT)


def test_ctrl_c_while_workers_start_is_heard_once_they_have_and_leaves_none(
    plan_of, tiled, monkeypatch
):
    # the signal goes to a thread that was there before, as it may: a library's
    started, now = [], threading.Event()
    other = threading.Thread(target=lambda: now.wait() and signal.raise_signal(signal.SIGINT))
    other.start()

    def interrupted(plan):
        now.set()
        other.join()
        started.append(_started(plan))
        return started[-1]

    monkeypatch.setattr(local_workers, "_started", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _Workers(plan_of(tiled, MANY), 2)
    assert len(started) == 2
    assert multiprocessing.active_children() == []


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


def test_the_cores_are_those_that_the_process_may_use_or_all_where_the_system_does_not_say(
    monkeypatch,
):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 2, 3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert cores_here() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert cores_here() == 8
