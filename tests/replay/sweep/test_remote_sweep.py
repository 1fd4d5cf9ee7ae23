"""A sweep over a trace whose PEs read and write each other's HBM: every point is a full replay's."""

from decimal import Decimal

import pytest
from kerntape.replay.parameters import changed
from kerntape.replay.policy import resolve_policy
from kerntape.replay.replay import prepare, time
from kerntape.replay.summary import summary
from kerntape.replay.sweep.case_run import CaseRun
from kerntape.replay.sweep.figures import COLUMNS
from kerntape.replay.sweep.points import Asked
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.config_file import leaves
from kerntape.schemas.handles import Space
from towns import placed, slow_links, town

F16 = 2


@pytest.fixture
def crossing(build):
    """Three PEs in a row that stream from the first, store to the last, and send each other on."""
    machine = town(pes=(3, 1))
    builds = [build, type(build)(), type(build)()]
    for place, pe in enumerate(builds):
        for turn in range(3):
            b = pe.handle((8, 8), space=Space.HBM, at=256 * turn, tensor=0)
            pe.gemm(4, 8, 8, pe.handle((4, 8)), b, pe.handle((4, 8)))
            there = pe.handle((16,), space=Space.HBM, at=64 * (turn + 3 * place), tensor=1)
            pe.store(pe.handle((16,)), there)
        if place > 0:
            pe.message(CommandKind.RECV_ASYNC, "W", pe.handle((24,)))
        if place < 2:
            pe.message(CommandKind.SEND, "E", pe.handle((24,)))
    return placed(builds[0].trace(machine, *builds[1:]), [[0, 2]] * 3), machine


@pytest.mark.parametrize(
    "path",
    ["noc.pe_link_bytes_per_ns", "noc.pe_hop_latency_ns", "hbm.bytes_per_ns", "hbm.latency_ns"],
)
@pytest.mark.parametrize("policy", ["none", "strict_fifo"])
def test_every_figure_is_that_of_a_full_replay(crossing, policy, path):
    trace, machine = crossing
    lowered = prepare(trace, machine, resolve_policy(policy))
    values = [Decimal(tenths) / 10 for tenths in range(1, 60)]
    asked = [
        Asked(point, changed(slow_links(), {path: value})) for point, value in enumerate(values)
    ]
    found = [
        result for batch in CaseRun(lowered, op_logs=False).evaluate(asked) for result in batch
    ]
    assert len(found) == len(asked)
    for result in found:
        timeline = time(lowered, asked[result.point].calibration)
        full = leaves(summary(timeline, trace="", runner="", op_log_sha256=""))
        figures = dict(zip(COLUMNS, result.figures, strict=True))
        # two PEs read 3 operands of 8 × 8, each as 4 tiles of 4 × 4; two PEs store 3 times
        assert (figures["remote_reads"], figures["remote_read_bytes"]) == (24, 6 * 64 * F16)
        assert (figures["remote_writes"], figures["remote_write_bytes"]) == (6, 6 * 16 * F16)
        for column in ("makespan_ps", "dispatch_ps", "engines.noc.busy_ps", "engines.hbm.busy_ps"):
            assert figures[column] == full[column]
