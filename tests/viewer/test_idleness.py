"""Every idle picosecond has a reason."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.stages import StageKind, Why
from kerntape.viewer.model import idleness
from kerntape.viewer.model.idleness import Idle, idle_by_reason
from kerntape.viewer.model.index import TimelineIndex
from timeline_builder import (
    CPU,
    GEMM,
    HBM,
    MATH,
    SCHED,
    TCM,
    TimelineBuilder,
    decode_like,
    timeline_of_intervals,
    two_commands,
)


def reasons(timeline, lane):
    """Idle ns by reason, without the zeros."""
    index = TimelineIndex(timeline, "x")
    found = idle_by_reason(index, [[lane]])[0]
    return {idle.name: int(found[idle]) / 1000 for idle in Idle if found[idle]}


def test_before_its_first_stage_gemm_waits_for_dispatch_and_then_for_data():
    # 0–10 the dispatch runs, 10–30 the fetch; after 78 GEMM has nothing to do until 96
    assert reasons(two_commands().build(), GEMM) == {"DATA": 20, "DISPATCH": 10, "DONE": 18}


def test_an_engine_that_follows_a_blocking_command_waits_for_that_command():
    # MATH starts at 88. 78–88 and 0–10 are dispatches; between them PE_CPU was blocked by command 0
    assert reasons(two_commands().build(), MATH) == {"DISPATCH": 20, "BLOCKED": 68}


def test_pe_cpu_is_idle_while_its_command_is_not_finished():
    assert reasons(two_commands().build(), CPU) == {"BLOCKED": 68, "DONE": 8}


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        (Why.HAZARD, "HAZARD"),
        (Why.BUFFER, "BUFFER"),
        (Why.CREDIT, "CREDIT"),
        (Why.MESSAGE, "MESSAGE"),
        (Why.WAITED, "BLOCKED"),
        (Why.IN_FLIGHT, "QUEUE"),
        (Why.SEND_DEPTH, "QUEUE"),
        (Why.RETIREMENT, "DATA"),
    ],
)
def test_the_nearest_edge_that_waits_for_a_resource_gives_the_reason(why, reason):
    # MATH 0–10 lets an admission happen (why), which lets TCM fetch 10–12, which lets GEMM start at 12
    builder = TimelineBuilder()
    builder.command(CommandKind.WAIT)
    math = builder.stage(StageKind.MATH, MATH, 10)
    admit = builder.stage(StageKind.ADMIT, SCHED)
    builder.release(admit, math, why)
    fetch = builder.stage(StageKind.FETCH, TCM, 2)
    builder.release(fetch, admit, Why.DATA)
    gemm = builder.stage(StageKind.GEMM, GEMM, 1)
    builder.release(gemm, fetch, Why.DATA)
    expected = {"DATA": 2, reason: 10} if reason != "DATA" else {"DATA": 12}
    assert reasons(builder.build(), GEMM) == expected


def test_a_latency_between_two_stages_is_waiting_for_data():
    builder = TimelineBuilder()
    builder.command(CommandKind.WAIT)
    channel = builder.stage(StageKind.HBM_READ, HBM, 5)
    fetch = builder.stage(StageKind.FETCH, TCM, 1)
    builder.release(fetch, channel, Why.DATA, lag_ns=100)
    assert reasons(builder.build(), TCM) == {"DATA": 105}


def test_a_stage_released_from_the_start_of_another_is_charged_up_to_its_own_start():
    # the channel runs 0–50, the DMA starts 10 after its start: 10 ns of data, none twice
    builder = TimelineBuilder()
    builder.command(CommandKind.WAIT)
    channel = builder.stage(StageKind.HBM_READ, HBM, 50)
    fetch = builder.stage(StageKind.FETCH, TCM, 40)
    builder.release(fetch, channel, Why.DATA, lag_ns=10, from_start=True)
    assert reasons(builder.build(), TCM) == {"DATA": 10}


def test_a_start_that_nothing_explains_is_counted_as_data():
    timeline = replace(timeline_of_intervals([500], [700]), cause=np.array([-1], dtype=np.int32))
    assert reasons(timeline, GEMM) == {"DATA": 0.5}


def test_busy_and_idle_together_are_the_whole_time_of_every_engine():
    timeline = decode_like(6)
    index = TimelineIndex(timeline, "x")
    for lane in range(len(timeline.engines)):
        idle = int(idle_by_reason(index, [[lane]])[0].sum())
        assert index.lane(lane).busy_ps + idle == timeline.makespan_ps


@pytest.mark.parametrize("at_once", [1, 2, 1 << 16])
def test_gaps_followed_together_and_one_by_one_give_the_same(monkeypatch, at_once):
    timeline = decode_like(40)
    lanes = range(len(timeline.engines))
    together = idle_by_reason(TimelineIndex(timeline, "x"), [lanes])
    monkeypatch.setattr(idleness, "GAPS_AT_ONCE", at_once)
    monkeypatch.setattr(idleness, "_FEW", 10**9)
    assert idle_by_reason(TimelineIndex(timeline, "x"), [lanes]).tolist() == together.tolist()
    monkeypatch.setattr(idleness, "_FEW", 1)
    assert idle_by_reason(TimelineIndex(timeline, "x"), [lanes]).tolist() == together.tolist()
