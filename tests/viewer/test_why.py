"""Why a stage did not start earlier, in words."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.schemas.stages import StageKind, Why
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.why import REASON_WORDS, trail_words, why_words
from timeline_builder import (
    CPU,
    GEMM,
    HBM,
    SCHED,
    TCM,
    TimelineBuilder,
    decode_like,
    topology,
    two_commands,
)


def why(timeline, stage):
    index = TimelineIndex(timeline, "x")
    return why_words(index, HazardIndex(index), stage)


def pair(why_edge, *, kind=StageKind.FETCH, engine=TCM, lag_ns=0.0, from_start=False):
    """A GEMM 0–24 that lets one other stage start."""
    builder = TimelineBuilder()
    builder.command(CommandKind.WAIT)
    gemm = builder.stage(StageKind.GEMM, GEMM, 24, tile=1)
    stage = builder.stage(kind, engine, 10, tile=2)
    builder.release(stage, gemm, why_edge, lag_ns=lag_ns, from_start=from_start)
    return builder.build()


def test_the_first_stage_waited_for_nothing():
    assert why(two_commands().build(), 0) == "waited for nothing: it starts the timeline"


def test_a_busy_engine_is_named_with_the_wait_and_what_it_did():
    # GEMM tile 2 was ready at 50 and started at 54
    assert why(two_commands().build(), 4) == "waited 4 ns for the engine: GEMM tile 1"


def test_another_command_is_named_by_its_number():
    assert why(two_commands().build(), 6) == (
        "waited for the command before it to finish: command 0"
    )


def test_a_free_engine_says_how_long_it_had_been_idle():
    assert why(two_commands().build(), 3) == (
        "waited for its data: fetch tile 1 (the engine was idle for 30 ns)"
    )


@pytest.mark.parametrize("edge", [edge for edge in Why if edge not in (Why.NOTHING, Why.ENGINE)])
def test_every_reason_has_words(edge):
    words = why(pair(edge), 1)
    assert words.startswith(f"waited for {REASON_WORDS[edge]}: GEMM tile 2")


def test_a_latency_is_told_from_the_end_of_the_cause():
    assert why(pair(Why.DATA, lag_ns=100), 1) == (
        "waited for its data: GEMM tile 2, 100 ns after its end (the engine was idle for 124 ns)"
    )


def test_a_release_from_the_start_is_told_from_the_start():
    assert why(pair(Why.DATA, lag_ns=5, from_start=True), 1) == (
        "waited for its data: GEMM tile 2, 5 ns after its start (the engine was idle for 5 ns)"
    )


def test_a_stage_that_only_decides_waits_for_what_comes_before_it():
    timeline = pair(Why.DATA, kind=StageKind.FINISH, engine=SCHED)
    assert why(timeline, 1) == "waited for what comes before it: GEMM tile 2"


def test_a_held_command_says_for_what_how_long_and_who_wrote_it():
    builder = two_commands()
    builder.stages[6].releases[0] = (5, Why.HAZARD, 0, False)
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=203)
    assert why(builder.build(), 6) == "waited 203 ns for hazard RAW on s, written by command 0"


def test_a_command_held_for_several_handles_names_them_all():
    builder = two_commands()
    builder.stages[6].releases[0] = (5, Why.HAZARD, 0, False)
    for handle, cost in ((0, 7), (1, 9), (2, 9)):
        builder.hazard(Outcome.HELD, HazardKind.WAR, 0, 1, handle, cost_ns=cost)
    assert why(builder.build(), 6) == ("waited 9 ns for hazard WAR on K, s, q, read by command 0")


def test_a_hazard_that_no_row_tells_of_is_a_plain_reason():
    assert why(pair(Why.HAZARD, kind=StageKind.ADMIT, engine=SCHED), 1) == (
        "waited for a hazard: GEMM tile 2"
    )


def test_a_cause_on_another_pe_is_named_with_its_pe():
    timeline = decode_like(1, launched=2, machine=topology(pes=(2, 1)))
    half = len(timeline.start_ps) // 2
    cause = np.array(timeline.cause)
    reasons = np.array(timeline.why)
    cause[half], reasons[half] = 0, Why.MESSAGE
    crossed = replace(timeline, cause=cause, why=reasons)
    assert why(crossed, half).startswith("waited for a message: dispatch of command 0 on PE 0")


def test_a_start_without_a_cause_names_its_time():
    builder = TimelineBuilder()
    builder.command(CommandKind.WAIT)
    builder.stage(StageKind.DISPATCH, CPU, 1)
    built = builder.build()
    later = replace(built, start_ps=built.start_ps + 2_500, end_ps=built.end_ps + 2_500)
    assert why(later, 0) == "waited for nothing: it starts at 2.5 ns"


def test_the_trail_says_in_which_direction_each_step_went():
    index = TimelineIndex(two_commands().build(), "x")
    assert trail_words(index, (3, 1), 0) == ("GEMM tile 1 of command 0 ← fetch tile 1 ← dispatch")
    assert trail_words(index, (0,), 1) == "dispatch of command 0 → fetch tile 1"
    assert trail_words(index, (0,), 7) == "dispatch of command 0 ─ MATH exp of command 1"
    assert trail_words(index, (), 7) == ""


def test_hbm_reads_are_told_by_their_own_name():
    assert why(pair(Why.BUFFER, kind=StageKind.HBM_READ, engine=HBM), 1) == (
        "waited for a free tile buffer: GEMM tile 2 (the engine was idle for 24 ns)"
    )
