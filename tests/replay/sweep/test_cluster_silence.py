"""Who takes a connection and then says nothing is given up within the time, and named.

Processes of a Dask cluster are stopped by a signal: the machine still takes connections for them.
"""

import os
import signal
import socket

import pytest
from dask_cluster import DaskCluster, until
from kerntape.replay.sweep.axes import parse_vary
from kerntape.replay.sweep.chunks import chunks_of
from kerntape.replay.sweep.cluster_workers import ClusterWorkers
from kerntape.schemas.errors import KerntapeError

pytest.importorskip("distributed", reason="needs the extra 'cluster'")

MANY = parse_vary(f"hbm.latency_ns={','.join(map(str, range(100, 900)))}")


def refusal(address, timeout_s):
    with pytest.raises(KerntapeError) as error:
        ClusterWorkers(address, timeout_s=timeout_s).__enter__()
    return str(error.value)


def test_a_server_that_is_no_scheduler_and_says_nothing_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        assert refusal(address, timeout_s=0.2) == (
            "--cluster must be the address of a Dask scheduler, as in tcp://host:8786, and none"
            f" answers at '{address}' within 0.2 s"
        )


def test_a_worker_that_says_nothing_is_named(tmp_path):
    with DaskCluster(tmp_path) as cluster:
        stopped, _ = cluster.worker(), cluster.worker()
        with ClusterWorkers(cluster.address) as workers:
            until(lambda: workers.count == 2)
            address_of = {pid: address for address, pid in workers._client.run(os.getpid).items()}
        stopped.send_signal(signal.SIGSTOP)
        assert refusal(cluster.address, timeout_s=4) == (
            f"every worker of {cluster.address} must answer, and {address_of[stopped.pid]} did not"
            " within 4 s; stop it, or start it again"
        )


def test_a_scheduler_that_falls_silent_ends_the_sweep_in_one_line(plan_of, tiled, tmp_path):
    plan = plan_of(tiled, MANY, policies=["none", "serial"])
    with DaskCluster(tmp_path) as cluster:
        cluster.worker()
        with ClusterWorkers(cluster.address, deserted_s=3) as workers:
            batches = workers.evaluate(plan, chunks_of(plan, range(len(plan)), 1))
            next(batches)
            cluster.scheduler.send_signal(signal.SIGSTOP)
            with pytest.raises(KerntapeError) as error:
                list(batches)
        assert str(error.value) == (
            f"the cluster at {cluster.address} is gone: its scheduler ended or cannot be reached"
        )
