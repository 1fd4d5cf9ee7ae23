"""A Dask cluster of real processes gives what this process gives, whoever of it dies on the way.

A scheduler and workers are started by the tests and are killed by them. `--preload` makes a worker
another one than it would be: one that never finishes, one of another version, one without kerntape.
"""

import subprocess
import sys
from collections import Counter
from contextlib import contextmanager

import pytest
from dask_cluster import DaskCluster, until
from kerntape.replay.sweep import cluster_task
from kerntape.replay.sweep.axes import parse_vary
from kerntape.replay.sweep.chunks import chunks_of
from kerntape.replay.sweep.cluster_task import OtherVersionError
from kerntape.replay.sweep.cluster_workers import ClusterWorkers
from kerntape.replay.sweep.journal import journal_path
from kerntape.replay.sweep.local_workers import LocalWorkers
from kerntape.replay.sweep.planning import plan_sweep
from kerntape.replay.sweep.sweep import sweep
from kerntape.schemas.errors import ConfigError, KerntapeError

pytest.importorskip("distributed", reason="needs the extra 'cluster'")

MANY = parse_vary(f"hbm.latency_ns={','.join(map(str, range(100, 900)))}")

NEVER_FINISHES = """
import pathlib, time
from kerntape.replay.sweep import cluster_task
def stuck(part):
    pathlib.Path({began!r}).touch()
    time.sleep(3600)
cluster_task._results = stuck
"""

OF_VERSION_0_0_9 = """
from kerntape.replay.sweep import cluster_task
cluster_task.version_here = lambda: "0.0.9"
"""

WITHOUT_KERNTAPE = """
import sys
class NotHere:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("kerntape"):
            raise ModuleNotFoundError(f"No module named {name!r}")
sys.meta_path.insert(0, NotHere())
"""


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """A cluster without workers."""
    with DaskCluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def joined(scheduler):
    """Starts workers of the preloads that are given, for a block."""

    @contextmanager
    def start(*preloads):
        workers = [scheduler.worker(preload) for preload in preloads]
        try:
            yield workers
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()

    return start


@contextmanager
def entered(address, workers, **options):
    """The cluster, once all of them have come."""
    with ClusterWorkers(address, **options) as cluster:
        until(lambda: cluster.count == workers)
        yield cluster


def unwatched(done, total):
    """Nobody looks."""


def test_a_worker_killed_in_the_middle_costs_no_point_and_no_byte_of_the_results(
    scheduler, joined, plan_of, tiled, tmp_path
):
    plan = plan_of(tiled, MANY, parse_vary("topology.pe.tile_buffers=1,2"), policies=["none"])
    here = sweep(plan, tmp_path / "here.csv", workers=LocalWorkers(1), watch=unwatched)
    began, told = tmp_path / "began", []
    preloads = "", NEVER_FINISHES.format(began=str(began))
    with joined(*preloads) as (_, stuck), entered(scheduler.address, 2) as cluster:

        def watch(done, total):
            told.append(done)
            if done and stuck.poll() is None:
                until(began.exists)  # it has a chunk, of which nothing will come
                stuck.kill()

        outcome = sweep(plan, tmp_path / "there.csv", workers=cluster, watch=watch)
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, 1600)
    assert outcome.followed + outcome.replayed == 1600
    assert outcome.makespans == here.makespans
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


def test_every_point_comes_once_and_several_cases_are_told_apart(
    scheduler, joined, plan_of, tiled, shorter
):
    traces = {"a.ktrace": tiled, "b.ktrace": shorter}
    plan = plan_of(traces, MANY, policies=["none", "byte_range"])
    chunks = chunks_of(plan, range(len(plan)), 2)
    with joined("", ""), entered(scheduler.address, 2) as cluster:
        there = [each for batch in cluster.evaluate(plan, chunks) for each in batch]
    assert set(Counter(each.point for each in there).values()) == {1}
    here = [each for batch in LocalWorkers(1).evaluate(plan, chunks) for each in batch]
    assert {each.point: each.figures for each in there} == {
        each.point: each.figures for each in here
    }
    assert len(there) == 3200


SWEEP_ON_A_CLUSTER = """
import sys
from kerntape.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_sweep_that_was_killed_goes_on_where_it_was(scheduler, joined, stored, tiled, tmp_path):
    trace, results, whole = stored(tiled), tmp_path / "r.csv", tmp_path / "whole.csv"
    journal = journal_path(results)
    varied = f"hbm.latency_ns={','.join(map(str, range(4000)))}"
    plan = plan_sweep([trace], [parse_vary(varied)], policies=["none"])
    with joined(""):
        command = ["sweep", trace, "--vary", varied, "--hazards", "none", "-o", results]
        killed = subprocess.Popen(
            [sys.executable, "-c", SWEEP_ON_A_CLUSTER, *command, "--cluster", scheduler.address]
        )
        until(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 3)
        killed.kill()
        killed.wait()
        assert not results.exists()
        with entered(scheduler.address, 1) as cluster:
            outcome = sweep(plan, results, workers=cluster, watch=unwatched)
    assert 0 < outcome.kept < 4000
    sweep(plan, whole, workers=LocalWorkers(1), watch=unwatched)
    assert results.read_bytes() == whole.read_bytes()


def test_a_point_without_a_result_is_one_line_from_a_cluster_too(scheduler, joined, plan_of, tiled):
    plan = plan_of(tiled, MANY)
    plan.traces[0].path.write_bytes(b"no trace")
    refused = pytest.raises(KerntapeError, match=r"^x\.ktrace: ")
    with joined(""), entered(scheduler.address, 1) as cluster, refused:
        list(cluster.evaluate(plan, chunks_of(plan, range(len(plan)), 1)))


@pytest.mark.parametrize(
    ("preload", "has"),
    [(OF_VERSION_0_0_9, "it has 0.0.9"), (WITHOUT_KERNTAPE, "it has none, or a much older one")],
    ids=["0.0.9", "none"],
)
def test_a_worker_of_another_version_is_refused_before_anything_runs(
    scheduler, joined, preload, has
):
    with joined(preload), pytest.raises(KerntapeError) as error:
        ClusterWorkers(scheduler.address).__enter__()
    worker, _, rest = str(error.value).partition(" must ")
    assert worker.startswith("the worker tcp://127.0.0.1:")
    assert rest == (
        f"have kerntape {cluster_task.version_here()}, as this sweep has, and {has}; install the same"
        " version there"
    )


def test_a_worker_of_another_version_that_joins_later_is_refused_by_its_first_chunk(
    scheduler, joined, plan_of, tiled
):
    plan = plan_of(tiled, MANY)
    chunks = chunks_of(plan, range(len(plan)), 1)
    with joined("") as (worker,), entered(scheduler.address, 1) as cluster:
        batches = cluster.evaluate(plan, chunks)
        next(batches)
        worker.kill()
        with joined(OF_VERSION_0_0_9), pytest.raises(KerntapeError) as error:
            list(batches)
    assert str(error.value).startswith(f"a worker of {scheduler.address} must have kerntape ")


class LostAndEvaluatedAgain:
    """A future that was done until its worker died, and that one of another version takes over."""

    def exception(self):
        return None

    def result(self):
        raise OtherVersionError("0.0.9")


def test_a_result_that_is_lost_and_taken_over_by_another_version_is_refused_likewise(
    plan_of, tiled
):
    (chunk,) = chunks_of(plan_of(tiled), [0], 1)
    with pytest.raises(KerntapeError) as error:
        ClusterWorkers("tcp://127.0.0.1:1")._results(LostAndEvaluatedAgain(), chunk)
    assert str(error.value).startswith("a worker of tcp://127.0.0.1:1 must have kerntape ")


def test_one_without_kerntape_that_joins_later_costs_nothing(scheduler, joined, plan_of, tiled):
    plan = plan_of(tiled, MANY, policies=["none", "serial", "byte_range"])
    chunks = chunks_of(plan, range(len(plan)), 1)
    with joined(""), entered(scheduler.address, 1) as cluster:
        batches = cluster.evaluate(plan, chunks)
        found = [*next(batches)]
        with joined(WITHOUT_KERNTAPE):
            until(lambda: cluster.count == 2)
            found += [each for batch in batches for each in batch]
    assert sorted(each.point for each in found) == list(range(len(plan)))


def test_a_cluster_that_loses_its_last_worker_is_given_up_after_a_while(
    scheduler, joined, plan_of, tiled
):
    plan = plan_of(tiled, MANY)
    with joined("") as (worker,), entered(scheduler.address, 1, deserted_s=0.5) as cluster:
        worker.kill()
        with pytest.raises(KerntapeError) as error:
            list(cluster.evaluate(plan, chunks_of(plan, range(len(plan)), 1)))
    assert str(error.value) == (
        f"the cluster at {scheduler.address} has had no worker for 0.5 s; start some"
    )


def test_a_scheduler_that_dies_ends_the_sweep_in_one_line(plan_of, tiled, tmp_path):
    plan, began = plan_of(tiled, MANY), tmp_path / "began"
    with DaskCluster(tmp_path) as cluster:
        cluster.worker(NEVER_FINISHES.format(began=str(began)))
        with ClusterWorkers(cluster.address, timeout_s=20) as workers:
            batches = workers.evaluate(plan, chunks_of(plan, range(len(plan)), 1))
            cluster.scheduler.kill()
            with pytest.raises(KerntapeError) as error:
                list(batches)
        gone = f"the cluster at {cluster.address} is gone: its scheduler ended or cannot be reached"
        assert str(error.value) == gone


def test_an_address_where_nobody_answers_is_one_line_within_the_time():
    with pytest.raises(KerntapeError) as error:
        ClusterWorkers("tcp://127.0.0.1:1", timeout_s=0.2).__enter__()
    assert str(error.value) == (
        "--cluster must be the address of a Dask scheduler, as in tcp://host:8786, and none answers"
        " at 'tcp://127.0.0.1:1' within 0.2 s"
    )


def test_a_cluster_without_workers_is_one_line_within_the_time(scheduler):
    with pytest.raises(KerntapeError) as error:
        ClusterWorkers(scheduler.address, timeout_s=1).__enter__()
    assert str(error.value) == (
        f"the cluster at {scheduler.address} must have a worker, and none came within 1 s; start some"
        f" with 'dask worker {scheduler.address} --nthreads 1'"
    )


def test_without_dask_the_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ConfigError) as error:
        ClusterWorkers("tcp://127.0.0.1:1").__enter__()
    assert str(error.value) == (
        "a cluster needs dask: pip install -e '.[cluster]' in kerntape's clone, or leave --cluster out"
    )
