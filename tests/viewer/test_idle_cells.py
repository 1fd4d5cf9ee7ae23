"""Idle time by reason in the picture, and that it is the summary's."""

import re
from dataclasses import replace

import numpy as np
import pytest
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.stages import StageKind, Why
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.idle_cells import (
    IDLE_LETTERS,
    idle_columns,
    idle_times,
    legend_height,
    legend_lines,
)
from kerntape.viewer.model.idleness import IDLE_WORDS, Idle, idle_by_reason, idle_parts
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.lane_cells import row_line
from kerntape.viewer.model.look import Overlay, first_look
from kerntape.viewer.model.occupancy import axis
from kerntape.viewer.model.text import line_cells
from kerntape.viewer.model.tones import GROUND, Paint, tone
from timeline_builder import (
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


def total_ps(index, part):
    """All of a part, in one column."""
    return int(part.measure(axis(0, index.span_ps, 1))[0])


def test_the_parts_of_every_lane_add_up_to_the_summary_s_reasons():
    index = TimelineIndex(decode_like(5), "x")
    for lane in range(len(index.lanes)):
        if index.lanes.count(lane):
            parts = idle_parts(index, [lane])
            totals = [total_ps(index, parts[idle]) if idle in parts else 0 for idle in Idle]
            assert totals == idle_by_reason(index, [[lane]])[0].tolist()


def test_idle_parts_and_busy_time_never_meet():
    index = TimelineIndex(decode_like(5), "x")
    shown = axis(0, index.timeline.makespan_ps, 1000)
    for lane in (GEMM, MATH, TCM):
        idle = sum(part.measure(shown) for part in idle_parts(index, [lane]).values())
        busy = np.rint(index.lane(lane).seen(shown).density.share * shown.column_ps)
        assert np.array_equal(idle + busy, shown.column_ps)


def leaf(index, lane):
    return index.tree.rows[index.tree.row_of_lane[lane]]


def work_out(index):
    """Every row's idle time."""
    for row in index.tree.rows:
        idle_times(index).work(row)


def letters(index, row, empty, shown):
    """The glyphs of the empty columns, `_` for the others."""
    found = idle_columns(index, row, empty, shown)
    shows = found.is_known & empty
    return "".join(chr(g) if s else "_" for g, s in zip(found.glyphs, shows, strict=True))


def test_a_column_shows_its_longest_reason_a_run_begins_with_its_letter():
    # GEMM: 0–10 waits for a dispatch, 10–30 for data; busy 30–78; done 78–96. A column is 5 ns
    index = TimelineIndex(two_commands().build(), "x")
    work_out(index)
    empty = np.array([column < 6 or column >= 16 for column in range(20)])
    shown = axis(0, 100_000, 20)
    assert letters(index, leaf(index, GEMM), empty, shown) == "p░d░░░__________    "


def test_a_group_shows_what_most_of_its_engines_waited_for():
    # 0–10: TCM, GEMM and MATH wait for a dispatch. 10–30: MATH and CPU for the command, GEMM for its
    # data: two to one. A column is 1.5 ns, the seventh mostly before 10. From 88 on TCM, GEMM and CPU
    # are done, and MATH works
    index = TimelineIndex(two_commands().build(), "x")
    work_out(index)
    every = np.ones(20, np.bool_)
    group = index.tree.rows[0]
    assert letters(index, group, every, axis(0, 30_000, 20)) == "p░░░░░░f░░░░░░░░░░░░"
    found = idle_columns(index, group, np.ones(2, np.bool_), axis(88_000, 96_000, 2))
    assert found.paints.tolist() == [Paint.FAINT] * 2


def test_that_all_is_done_shows_only_where_nothing_waits_any_more():
    # GEMM and TCM are done from 78 on, but MATH still waits for a dispatch until 88
    index = TimelineIndex(two_commands().build(), "x")
    work_out(index)
    found = letters(index, index.tree.rows[0], np.ones(4, np.bool_), axis(80_000, 88_000, 4))
    assert found == "p░░░"


def test_the_scheduler_only_decides_so_a_group_does_not_count_it():
    timeline = decode_like(5)
    index = TimelineIndex(timeline, "x")
    work_out(index)
    group = index.tree.rows[0]
    lanes = [lane for lane in group.lanes if lane != SCHED]
    parts = idle_times(index).known(group)
    known = {idle: total_ps(index, part) for idle, part in parts.items()}
    totals = idle_by_reason(index, [lanes])[0]
    assert known == {idle: total for idle, total in enumerate(totals.tolist()) if total}


def test_what_is_not_worked_out_yet_is_left_empty():
    index = TimelineIndex(two_commands().build(), "x")
    found = idle_columns(index, leaf(index, GEMM), np.ones(10, np.bool_), axis(0, 100, 10))
    assert not found.is_known.any()


def test_above_a_bar_the_reason_is_its_ground():
    # GEMM from 25 to 35 ns: half of it waits for data, then it works
    index = TimelineIndex(two_commands().build(), "x")
    work_out(index)
    look = replace(first_look(index), overlays=frozenset({Overlay.IDLE}), stage=NO_STAGE)
    row, shown = leaf(index, GEMM), axis(25_000, 35_000, 1)
    (span,) = row_line(index, HazardIndex(index), look, row, shown, np.zeros(0, np.int64))
    assert span == ("▄", tone(Paint.GEMM) + GROUND * (Paint.READ + 1))


def test_a_queue_at_another_engine_is_that_engine_s_fault():
    # TCM runs two fetches 0–10, 10–20; MATH waits for the second, which stood behind the first
    builder = TimelineBuilder()
    builder.command(CommandKind.WAIT)
    for _ in range(2):
        fetch = builder.stage(StageKind.FETCH, TCM, 10)
    math = builder.stage(StageKind.MATH, MATH, 1)
    builder.release(math, fetch, Why.DATA)
    index = TimelineIndex(builder.build(), "x")
    found = idle_by_reason(index, [[MATH]])[0]
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
    found = idle_by_reason(TimelineIndex(builder.build(), "x"), [[MATH]])[0]
    assert {idle.name: int(found[idle]) for idle in Idle if found[idle]} == {
        "HAZARD": 5_000,
        "ENGINE": 10_000,
        "DATA": 10_000,
    }


def legend(index, label_cells, width):
    lines = legend_lines(index, label_cells, width)
    assert {line_cells(line) for line in lines} == {width}
    return ["".join(span.text for span in line).rstrip() for line in lines]


def test_the_legend_names_the_reasons_that_occur_and_waits_until_there_are_some():
    index = TimelineIndex(two_commands().build(), "x")
    assert legend(index, 12, 60) == [" idle for   adding up …"]
    work_out(index)
    assert legend(index, 12, 60) == [" idle for   d░ data  p░ dispatch  f░ command"]


def test_the_legend_gets_narrower_before_it_takes_another_line():
    index = TimelineIndex(two_commands().build(), "x")
    work_out(index)
    assert legend(index, 10, 41) == [" idle for d data  p dispatch  f command"]
    assert legend(index, 10, 37) == [" idle for d data p dispatch f command"]
    assert legend(index, 10, 28) == [" d data p dispatch f command"]
    assert legend(index, 10, 27) == [" d data p dispatch", " f command"]


@pytest.mark.parametrize(("width", "lines"), [(40, 3), (70, 2), (80, 2), (93, 1), (120, 1)])
def test_the_legend_of_all_reasons_has_whole_entries_at_any_usual_width(width, lines):
    # the entries in a line: letter, space and word of ten reasons, 83 cells, and ten spaces before them
    index = TimelineIndex(two_commands().build(), "x")
    idle_times(index).reasons.update(Idle)
    shown = legend(index, 10, width)
    assert len(shown) == lines == legend_height(index, width)
    for idle in Idle:
        entry = rf"{IDLE_LETTERS[idle]}░? {IDLE_WORDS[idle]}\b"
        assert len(re.findall(entry, "\n".join(shown))) == (idle is not Idle.DONE)


def test_every_reason_has_a_letter_of_its_own():
    assert len(set(IDLE_LETTERS.values())) == len(Idle)


@pytest.mark.parametrize(("starts", "ends"), [([], []), ([5] * 1000, [5] * 1000), ([0], [2**62])])
def test_timelines_at_the_edges_have_reasons_too(starts, ends):
    index = TimelineIndex(timeline_of_intervals(starts, ends), "x")
    work_out(index)
    assert (
        (idle_times(index).known(index.tree.rows[0]) is not None) if starts else not index.tree.rows
    )
