"""One row as glyphs."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.schemas.stages import StageKind
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.lane_cells import row_line
from kerntape.viewer.model.look import first_look, select
from kerntape.viewer.model.occupancy import axis
from kerntape.viewer.model.tones import LABEL, Paint, Shade, tone
from timeline_builder import (
    CPU,
    GEMM,
    MATH,
    SCHED,
    TimelineBuilder,
    decode_like,
    timeline_of_intervals,
    topology,
    two_commands,
)

NO_GRID = np.zeros(0, dtype=np.int64)


def draw(timeline, lane, shown, *, stage=NO_STAGE, grid=NO_GRID, key=None, trail=()):
    """(text, tone of every column) of a row."""
    index = TimelineIndex(timeline, "x")
    unselected = replace(first_look(index), stage=NO_STAGE)
    look = replace(select(index, unselected, stage), trail=trail) if stage >= 0 else unselected
    row = index.tree.rows[index.tree.row_of_lane[lane] if key is None else key]
    line = row_line(index, HazardIndex(index), look, row, shown, grid)
    text = "".join(span.text for span in line)
    tones = [span.tone for span in line for _ in span.text]
    assert len(text) == shown.width
    return text, tones


def stages(*intervals, **kind):
    starts, ends = [s for s, _ in intervals], [e for _, e in intervals]
    return timeline_of_intervals(starts, ends, **kind)


def test_a_column_is_as_high_as_it_was_busy():
    # columns of 80 ps: wholly busy, 79, 40, 10, 1, idle
    timeline = stages((0, 80), (80, 159), (160, 200), (240, 250), (320, 321))
    text, _ = draw(timeline, GEMM, axis(0, 480, 6))
    assert text == "█▇▄▁▁ "


def test_the_shortest_stage_is_seen_in_the_longest_timeline():
    # 1 ps in a second, 100 columns
    text, _ = draw(stages((0, 1), (10**12 - 1, 10**12)), GEMM, axis(0, 10**12, 100))
    assert text == "▁" + " " * 98 + "▁"


def test_a_stage_of_no_length_is_a_tick_and_an_admission_a_diamond():
    assert draw(stages((50, 50)), GEMM, axis(0, 100, 10))[0] == "     ╵    "
    admitted = stages((50, 50), engine=SCHED, kind=StageKind.ADMIT)
    assert draw(admitted, SCHED, axis(0, 100, 10))[0] == "     ◆    "


def test_the_last_instant_of_the_timeline_is_shown():
    timeline = stages((0, 100), (100, 100))
    index = TimelineIndex(timeline, "x")
    assert draw(timeline, GEMM, axis(0, index.span_ps, 2))[0][-1] == "▇"
    assert draw(stages((100, 100)), GEMM, axis(0, 101, 2))[0] == " ╵"


def test_stages_that_touch_are_told_apart_by_their_shade():
    _, tones = draw(stages((0, 20), (20, 40), (40, 60)), GEMM, axis(0, 60, 6))
    plain, other = tone(Paint.GEMM), tone(Paint.GEMM, Shade.OTHER)
    assert tones == [plain, plain, other, other, plain, plain]


def test_a_column_of_many_stages_has_the_paint_of_what_was_busy_longest():
    builder = TimelineBuilder()
    builder.command(CommandKind.WAIT)
    builder.stage(StageKind.HBM_READ, MATH, 0.003)
    builder.stage(StageKind.MATH, MATH, 0.007)
    assert draw(builder.build(), MATH, axis(0, 10, 1)) == ("█", [tone(Paint.MATH)])


def test_the_grid_shows_through_where_nothing_ran():
    text, _ = draw(stages((0, 20)), GEMM, axis(0, 100, 10), grid=np.array([1, 5, 9]))
    assert text == "██   ╎   ╎"


def test_a_bar_with_room_says_what_it_is():
    # dispatch of command 0, a dot: 0–10 ns in columns of 1 ns; command 1's is 78–88
    timeline = two_commands().build()
    text, tones = draw(timeline, CPU, axis(0, 12_000, 12))
    assert text == "█#0 dot███  "
    assert tones[1] == tone(Paint.DISPATCH) | LABEL
    assert draw(timeline, GEMM, axis(54_000, 78_000, 12))[0] == "█#0.2███████"
    assert draw(timeline, MATH, axis(88_000, 96_000, 8))[0] == "█exp #1█"
    assert draw(timeline, MATH, axis(88_000, 96_000, 4))[0] == "exp█"


def test_the_selected_stage_stands_in_brackets_and_its_cause_is_marked():
    timeline = stages((0, 40), (40, 80), (80, 120))
    text, tones = draw(timeline, GEMM, axis(0, 120, 12), stage=1)
    assert text[4] + text[7] == "[]"
    assert {number & ~LABEL for number in tones[4:8]} == {tone(Paint.GEMM, Shade.SELECTED)}
    assert {number & ~LABEL for number in tones[:4]} == {tone(Paint.GEMM, Shade.MARKED)}
    assert {number & ~LABEL for number in tones[8:]} == {tone(Paint.GEMM)}


def test_brackets_leave_a_label_that_needs_the_whole_bar_alone():
    # a bar of four columns: "exp" needs the first three
    timeline = two_commands().build()
    text, tones = draw(timeline, MATH, axis(88_000, 96_000, 4), stage=7)
    assert text == "exp█"
    assert {number & ~LABEL for number in tones} == {tone(Paint.MATH, Shade.SELECTED)}


def test_the_trail_stays_marked():
    timeline = stages((0, 40), (40, 80), (80, 120))
    _, tones = draw(timeline, GEMM, axis(0, 120, 12), stage=0, trail=(2,))
    assert tones[10] & ~LABEL == tone(Paint.GEMM, Shade.MARKED)


def test_a_selected_stage_of_no_length_has_its_column():
    _, tones = draw(stages((0, 10), (50, 50)), GEMM, axis(0, 100, 10), stage=1)
    assert tones[5] == tone(Paint.GEMM, Shade.SELECTED)


@pytest.mark.parametrize(
    ("outcomes", "glyph"),
    [
        ((Outcome.HELD,), "◇"),
        ((Outcome.HELD, Outcome.POTENTIAL), "?"),
        ((Outcome.VIOLATED, Outcome.POTENTIAL, Outcome.HELD), "!"),
    ],
)
def test_a_hazard_is_drawn_over_everything_the_worst_on_top(outcomes, glyph):
    builder = two_commands()
    for outcome in outcomes:
        builder.hazard(outcome, HazardKind.RAW, 0, 1, 2)
    text, _ = draw(builder.build(), CPU, axis(0, 96_000, 8))
    assert text[6] == glyph  # 78 ns in columns of 12


def test_a_held_command_says_for_what_along_the_line_of_its_waiting():
    # held for 66 ns before the dispatch at 78: from 12 ns on, in columns of 3 ns
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=66)
    text, _ = draw(builder.build(), CPU, axis(0, 96_000, 32))
    assert text == "#0█▂◇#1 held for s────────#1█▂  "


def test_a_held_command_s_line_is_drawn_though_its_beginning_is_out_of_sight():
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=60)
    text, _ = draw(builder.build(), CPU, axis(40_000, 60_000, 10))
    assert text == "──────────"


def test_hazards_of_a_folded_pe_are_seen_on_its_row():
    timeline = decode_like(2)
    text, _ = draw(timeline, SCHED, axis(0, timeline.makespan_ps + 1, 40), key=0)
    assert "◇" in text


def test_a_folded_group_is_as_high_as_the_share_of_its_engines_at_work():
    # PE 0 of two_commands has four engines that work; from 30 to 50 TCM and GEMM do: half
    text, _ = draw(two_commands().build(), CPU, axis(30_000, 50_000, 4), key=0)
    assert text == "▄▄▄▄"


def test_a_row_costs_the_same_for_a_hundred_thousand_stages_at_one_instant():
    count = 100_000
    timeline = stages(*[(50, 50)] * count)
    assert draw(timeline, GEMM, axis(0, 100, 10), stage=5)[0] == "     ╵    "


def test_every_pe_of_a_large_machine_has_its_row():
    machine = topology(sips=4, cubes=(4, 4), pes=(4, 2))
    index = TimelineIndex(decode_like(1, launched=512, machine=machine), "x")
    pes = [row for row in index.tree.rows if row.title.startswith("PE ")]
    assert len(pes) == 512
    assert len(index.tree.rows) == 4 + 64 + 512 + 512 * 8
