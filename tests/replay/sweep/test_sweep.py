"""A sweep writes whole results once, however often it was stopped on the way."""

import csv
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kerntape.replay.sweep.axes import parse_vary
from kerntape.replay.sweep.journal import journal_path
from kerntape.replay.sweep.local_workers import LocalWorkers
from kerntape.replay.sweep.planning import plan_sweep
from kerntape.replay.sweep.sweep import sweep
from kerntape.schemas.errors import FileError

MANY = parse_vary(f"hbm.latency_ns={','.join(map(str, range(100, 150)))}")


def unwatched(done, total):
    """Nobody looks."""


def rows(results):
    with results.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_has_the_parameters_then_the_model_then_the_figures(plan_of, tiled, tmp_path):
    varied = parse_vary("pe_cpu.cycles_per_byte=0.0625,0.25"), parse_vary("topology.ipcq.depth=3")
    plan = plan_of(tiled, *varied, policies=["none", "serial"])
    outcome = sweep(plan, tmp_path / "r.csv", workers=LocalWorkers(1), watch=unwatched)
    assert (outcome.points, outcome.kept, outcome.replayed) == (4, 0, 4)
    found = rows(tmp_path / "r.csv")
    first_columns = list(found[0])[:8]
    assert first_columns == [
        "pe_cpu.cycles_per_byte",
        "topology.ipcq.depth",
        "trace",
        "policy",
        "topology",
        "calibration",
        "status",
        "makespan_ps",
    ]
    assert [tuple(row[column] for column in first_columns[:7]) for row in found] == [
        ("0.0625", "3", "x.ktrace", "none", "tiny", "default", "ok"),
        ("0.25", "3", "x.ktrace", "none", "tiny", "default", "ok"),
        ("0.0625", "3", "x.ktrace", "serial", "tiny", "default", "ok"),
        ("0.25", "3", "x.ktrace", "serial", "tiny", "default", "ok"),
    ]


def test_the_watcher_is_told_from_the_beginning_to_the_end(plan_of, tiled, tmp_path):
    told = []
    plan = plan_of(tiled, MANY)
    sweep(
        plan, tmp_path / "r.csv", workers=LocalWorkers(1), watch=lambda *counts: told.append(counts)
    )
    assert told[0] == (0, 50)
    assert told[-1] == (50, 50)
    assert told == sorted(told)


def test_a_deadlock_is_counted_and_leaves_its_figures_empty(plan_of, deadlocked, tmp_path):
    outcome = sweep(
        plan_of(deadlocked, MANY), tmp_path / "r.csv", workers=LocalWorkers(1), watch=unwatched
    )
    assert outcome.deadlocked == 50
    assert {(row["status"], row["makespan_ps"]) for row in rows(tmp_path / "r.csv")} == {
        ("deadlock", "")
    }


class StoppedError(Exception):
    """The sweep is stopped from outside."""


def stopped_after(count):
    def watch(done, total):
        if done >= count:
            raise StoppedError

    return watch


class Noting:
    """One process that notes what it is asked."""

    count = 1

    def __init__(self):
        self.asked = []

    def evaluate(self, plan, chunks):
        self.asked += chunks
        return LocalWorkers(1).evaluate(plan, chunks)


def test_a_stopped_sweep_leaves_no_results_and_goes_on_where_it_was(plan_of, tiled, tmp_path):
    plan, whole, results = plan_of(tiled, MANY), tmp_path / "whole.csv", tmp_path / "r.csv"
    undisturbed = sweep(plan, whole, workers=LocalWorkers(1), watch=unwatched)
    with pytest.raises(StoppedError):
        sweep(plan, results, workers=LocalWorkers(1), watch=stopped_after(20))
    assert not results.exists()
    assert journal_path(results).exists()

    workers = Noting()
    outcome = sweep(plan, results, workers=workers, watch=unwatched)
    evaluated_now = [point for chunk in workers.asked for point in chunk.points]
    assert outcome.kept + len(evaluated_now) == 50
    assert outcome.kept >= 20
    assert outcome.makespans == undisturbed.makespans
    assert results.read_bytes() == whole.read_bytes()
    assert not journal_path(results).exists()


def test_a_journal_of_other_arguments_is_refused(plan_of, tiled, tmp_path):
    results = tmp_path / "r.csv"
    with pytest.raises(StoppedError):
        sweep(plan_of(tiled, MANY), results, workers=LocalWorkers(1), watch=stopped_after(1))
    with pytest.raises(FileError, match="must be of this sweep, not of one with other arguments"):
        sweep(
            plan_of(tiled, MANY, policies=["none"]),
            results,
            workers=LocalWorkers(1),
            watch=unwatched,
        )


def test_a_trace_that_changes_while_it_is_swept_ends_the_sweep(
    plan_of, stored, tiled, shorter, tmp_path
):
    plan, results = plan_of(tiled, MANY, policies=["none", "serial"]), tmp_path / "r.csv"

    def captured_again(done, total):
        if done:
            stored(shorter)

    with pytest.raises(FileError) as error:
        sweep(plan, results, workers=LocalWorkers(1), watch=captured_again)
    assert str(error.value) == (
        f"{tmp_path}/x.ktrace: must stay as it is while it is swept, and has changed; name other"
        " results to sweep what is there now"
    )
    assert not results.exists()


def test_ctrl_c_when_every_point_is_done_costs_none(plan_of, tiled, tmp_path, monkeypatch):
    def interrupted(*_):
        raise StoppedError

    plan, results = plan_of(tiled, MANY), tmp_path / "r.csv"
    with monkeypatch.context() as patched:
        patched.setattr("kerntape.replay.sweep.sweep.rankings", interrupted)
        with pytest.raises(StoppedError):
            sweep(plan, results, workers=LocalWorkers(1), watch=unwatched)
    assert not results.exists()
    assert sweep(plan, results, workers=LocalWorkers(1), watch=unwatched).kept == 50


SWEEP_IN_A_PROCESS = """
import sys
from pathlib import Path
from kerntape.replay.sweep.axes import parse_vary
from kerntape.replay.sweep.local_workers import LocalWorkers
from kerntape.replay.sweep.planning import plan_sweep
from kerntape.replay.sweep.sweep import sweep

if __name__ == "__main__":
    trace, results, varied = sys.argv[1:]
    plan = plan_sweep([Path(trace)], [parse_vary(varied)], policies=["none"])
    sweep(plan, Path(results), workers=LocalWorkers(2), watch=lambda done, total: None)
"""


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def runs(pid):
    """Whether the process does anything still (a zombie does not)."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_killed_sweep_is_continued_without_losing_or_repeating_a_point(stored, tiled, tmp_path):
    script, whole, results = tmp_path / "a_sweep.py", tmp_path / "whole.csv", tmp_path / "r.csv"
    script.write_text(SWEEP_IN_A_PROCESS)
    trace, journal = stored(tiled), journal_path(results)
    varied = f"hbm.latency_ns={','.join(map(str, range(2000)))}"
    killed = subprocess.Popen([sys.executable, script, trace, results, varied])
    until(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 10)
    workers = Path(f"/proc/{killed.pid}/task/{killed.pid}/children").read_text().split()
    killed.kill()
    killed.wait()
    assert not results.exists()
    until(lambda: not any(runs(worker) for worker in workers))

    plan = plan_sweep([trace], [parse_vary(varied)], policies=["none"])
    outcome = sweep(plan, results, workers=LocalWorkers(1), watch=unwatched)
    assert 0 < outcome.kept < 2000
    sweep(plan, whole, workers=LocalWorkers(1), watch=unwatched)
    assert results.read_bytes() == whole.read_bytes()
