"""The one way in: names become models, models become a timeline, or one line of refusal."""

import pytest
from kerntape.replay.machine import topology_of
from kerntape.replay.op_log import op_log_chunks, op_log_sha256, write_op_log
from kerntape.replay.replay import replay
from kerntape.replay.summary import summary
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.handles import Space
from kerntape.schemas.timeline import Status


@pytest.fixture
def trace(build, topology):
    """A load, two composites on it and a store."""
    q, out = build.handle((4, 4), space=Space.HBM), build.handle((4, 4), space=Space.HBM)
    a, b, c = build.handle((4, 4)), build.handle((4, 4)), build.handle((4, 4))
    load = build.load(q, a)
    build.gemm(4, 4, 4, a, b, c, waits=[load])
    second = build.gemm(4, 4, 4, c, b, a)
    build.store(a, out, waits=[second])
    return build.trace(topology)


def test_the_summary_has_the_promised_keys_and_figures(trace):
    figures = summary(replay(trace), trace="x.ktrace", runner="compiled", op_log_sha256="0")
    assert list(figures) == [
        "status",
        "trace",
        "topology",
        "calibration",
        "policy",
        "runner",
        "makespan_ps",
        "stages",
        "commands",
        "op_log_sha256",
        "dispatch_ps",
        "commands_by_kind",
        "engines",
        "dma_reads",
        "dma_read_bytes",
        "remote_reads",
        "remote_read_bytes",
        "remote_writes",
        "remote_write_bytes",
        "links",
        "hazards",
        "shared_tensors",
        "deadlock",
    ]
    # the load's 32 bytes are the only DMA read; strict_fifo holds the RAW on c
    assert (figures["dma_reads"], figures["dma_read_bytes"]) == (1, 32)
    assert figures["commands_by_kind"] == {"load": 1, "store": 1, "composite": 2}
    assert (figures["hazards"]["held"], figures["hazards"]["violations"]) == (1, 0)
    # 40 cycles a command and 1/16 a byte: load and store 20 bytes, each composite 46
    assert figures["dispatch_ps"] == 4 * 40_000 + (20 + 20 + 46 + 46) * 62.5 * 1000 / 1000
    assert all(0 <= use["utilisation"] <= 1 for use in figures["engines"].values())


@pytest.mark.parametrize("policy", ["none", "rw_handles", "strict_fifo", "byte_range", "serial"])
def test_both_runners_give_the_same_op_log(trace, policy):
    logs = [
        "".join(op_log_chunks(replay(trace, policy=policy, runner=runner)))
        for runner in ("compiled", "simpy")
    ]
    assert logs[0] == logs[1]


def test_the_op_log_is_one_line_a_stage_ordered_by_start_and_its_hash_is_the_files(trace, tmp_path):
    timeline = replay(trace)
    path = tmp_path / "x.oplog"
    sha256 = write_op_log(path, timeline)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert sha256 == op_log_sha256(timeline)
    assert len(lines) == len(timeline.stages)
    starts = [int(line.split("\t")[0].removeprefix("start=")) for line in lines]
    assert starts == sorted(starts)
    assert lines[0] == (
        "start=0\tend=41250\tready=0\tpe=0\tcommand=0\top=-1\ttile=-1\tkind=dispatch"
        "\tengine=pe_cpu\tstage=0\tcause=-1\twhy=nothing"
    )


def test_settings_change_the_calibration_and_its_name(trace):
    timeline = replay(trace, settings=["pe_cpu.fixed_cycles=0"])
    assert "pe_cpu.fixed_cycles" in timeline.calibration.name
    assert timeline.makespan_ps < replay(trace).makespan_ps


def test_another_topology_may_change_structure(trace):
    machine = topology_of(trace)
    tile = machine.pe.tile.model_copy(update={"k": 2})
    finer = machine.model_copy(update={"pe": machine.pe.model_copy(update={"tile": tile})})
    assert len(replay(trace, topology=finer).stages) > len(replay(trace).stages)


def test_another_topology_must_have_the_traces_layout(trace):
    machine = topology_of(trace)
    smaller = machine.model_copy(
        update={"name": "small", "pe": machine.pe.model_copy(update={"tcm_bytes": 1 << 19})}
    )
    with pytest.raises(ConfigError) as refused:
        replay(trace, topology=smaller)
    assert str(refused.value) == (
        "topology 'small': pe.tcm_bytes must be the trace's (1048576), not 524288;"
        " capture again on this topology"
    )


def test_an_unknown_runner_is_refused(trace):
    with pytest.raises(ConfigError, match="no runner is called 'simp'; did you mean 'simpy'"):
        replay(trace, runner="simp")


def test_a_deadlock_is_a_result(build, pair):
    there = type(build)()
    for pe, direction in ((build, "E"), (there, "W")):
        pe.message(CommandKind.RECV, direction, pe.handle((8,)))
        pe.message(CommandKind.SEND, direction, pe.handle((8,)))
    timeline = replay(build.trace(pair, there))
    assert timeline.status is Status.DEADLOCK
    assert timeline.deadlock is not None
    # the two dispatches happened, nothing else did
    assert len(timeline.stages) == 2
    figures = summary(timeline, trace="x", runner="compiled", op_log_sha256="0")
    assert figures["status"] == "deadlock"
    assert figures["deadlock"]["clearing_depth"] is None
    assert figures["deadlock"]["cycle"][0]["verb"] == "recv E"
    # both links are engines of the graph, and nothing crossed either
    assert figures["links"] == {}
