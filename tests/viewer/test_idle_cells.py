"""Idle time by reason in the picture, and that it is the summary's."""

import numpy as np
import pytest
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.stages import StageKind, Why
from kerntape.viewer.model.idle_cells import (
    IDLE_LETTERS,
    idle_columns,
    idle_times,
    legend_line,
)
from kerntape.viewer.model.idleness import Idle, idle_by_reason, idle_parts
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.occupancy import axis
from timeline_builder import (
    GEMM,
    HBM,
    MATH,
    TCM,
    TimelineBuilder,
    decode_like,
    timeline_of_intervals,
    two_commands,
)


def test_the_parts_of_every_lane_add_up_to_the_summary_s_reasons():
    index = TimelineIndex(decode_like(5), "x")
    for lane in range(len(index.lanes)):
        if index.lanes.count(lane):
            parts = idle_parts(index, lane)
            totals = [parts[idle].total_ps if idle in parts else 0 for idle in Idle]
            assert totals == idle_by_reason(index, [lane]).tolist()


def test_idle_parts_and_busy_time_never_meet():
    index = TimelineIndex(decode_like(5), "x")
    shown = axis(0, index.timeline.makespan_ps, 1000)
    for lane in (GEMM, MATH, TCM):
        parts = [*idle_parts(index, lane).values(), *index.lane(lane).parts.values()]
        covered = sum(part.measure(shown)[0] for part in parts)
        assert np.array_equal(covered, shown.column_ps)


def test_a_column_shows_its_longest_reason_a_run_begins_with_its_letter():
    # GEMM: 0–10 waits for a dispatch, 10–30 for data; busy 30–78; done 78–96. A column is 5 ns
    index = TimelineIndex(two_commands().build(), "x")
    assert list(idle_times(index).work()) == [0, TCM, GEMM, MATH]
    shown = axis(0, 100_000, 20)
    empty = np.array([column < 6 or column >= 16 for column in range(20)])
    covered, glyphs, _ = idle_columns(index, GEMM, empty, shown)
    text = "".join(chr(g) if c else "_" for g, c in zip(glyphs, covered, strict=True))
    assert text == "p░d░░░__________    ".replace("    ", "    ")[:16] + text[16:]
    assert text[16:19].strip() == ""


def test_what_is_not_worked_out_yet_is_left_empty():
    index = TimelineIndex(two_commands().build(), "x")
    covered, _, _ = idle_columns(index, GEMM, np.ones(10, np.bool_), axis(0, 100, 10))
    assert not covered.any()


def test_a_queue_at_another_engine_is_that_engine_s_fault():
    # TCM runs two fetches 0–10, 10–20; MATH waits for the second, which stood behind the first
    builder = TimelineBuilder()
    builder.command(CommandKind.WAIT)
    for _ in range(2):
        fetch = builder.stage(StageKind.FETCH, TCM, 10)
    math = builder.stage(StageKind.MATH, MATH, 1)
    builder.release(math, fetch, Why.DATA)
    index = TimelineIndex(builder.build(), "x")
    found = idle_by_reason(index, [MATH])
    assert {idle.name: int(found[idle]) for idle in Idle if found[idle]} == {
        "ENGINE": 10_000,
        "DATA": 10_000,
    }


def test_an_engine_s_queue_hides_no_hazard_behind_it():
    # the same, but the first fetch was held by a hazard: HBM 0–5 lets it start
    builder = TimelineBuilder()
    builder.command(CommandKind.WAIT)
    channel = builder.stage(StageKind.HBM_READ, HBM, 5)
    first = builder.stage(StageKind.FETCH, TCM, 10)
    second = builder.stage(StageKind.FETCH, TCM, 10)
    builder.release(first, channel, Why.HAZARD)
    builder.release(second, channel, Why.DATA)
    math = builder.stage(StageKind.MATH, MATH, 1)
    builder.release(math, second, Why.DATA)
    found = idle_by_reason(TimelineIndex(builder.build(), "x"), [MATH])
    assert {idle.name: int(found[idle]) for idle in Idle if found[idle]} == {
        "HAZARD": 5_000,
        "ENGINE": 10_000,
        "DATA": 10_000,
    }


def test_the_legend_names_the_reasons_that_occur_and_waits_until_there_are_some():
    index = TimelineIndex(two_commands().build(), "x")
    assert "adding up" in "".join(span.text for span in legend_line(index, 12, 60))
    list(idle_times(index).work())
    legend = "".join(span.text for span in legend_line(index, 12, 60)).rstrip()
    assert legend == " idle for   d░ data  p░ dispatch  f░ command"


def test_every_reason_has_a_letter_of_its_own():
    assert len(set(IDLE_LETTERS.values())) == len(Idle)


@pytest.mark.parametrize(("starts", "ends"), [([], []), ([5] * 1000, [5] * 1000), ([0], [2**62])])
def test_timelines_at_the_edges_have_reasons_too(starts, ends):
    index = TimelineIndex(timeline_of_intervals(starts, ends), "x")
    assert len(list(idle_times(index).work())) == min(len(starts), 1)
