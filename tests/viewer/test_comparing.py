"""Two timelines side by side: one cursor, who is ahead, and what the lines say."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from kerntape.replay.analysis.differences import Group, Level
from kerntape.replay.replay import replay
from kerntape.schemas.stages import Block, StageKind
from kerntape.viewer.model import steps
from kerntape.viewer.model.comparing import (
    LOWER,
    UPPER,
    Comparison,
    first_pair,
    leads,
    moved,
    regrouped,
    swapped,
    to_difference,
    to_divergence,
)
from kerntape.viewer.model.comparing_lines import (
    difference_lines,
    group_words,
    heading_line,
    lead_lines,
    moment_words,
    pane_line,
    signed,
)
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import select
from kerntape.viewer.model.text import line_cells
from kerntape.viewer.model.words import stage_name
from painted_text import line_text
from timeline_builder import decode_like, topology, two_commands


def later(timeline, by_ps, first_stage):
    shift = np.where(np.arange(len(timeline.start_ps)) >= first_stage, by_ps, 0)
    columns = {name: getattr(timeline, name) + shift for name in ("ready_ps", "start_ps", "end_ps")}
    return replace(timeline, **columns)


@pytest.fixture
def slower():
    """two_commands (96 ns), and the same with its second command 8 ns later (104 ns)."""
    one = two_commands().build()
    return Comparison(TimelineIndex(one, "one"), TimelineIndex(later(one, 8_000, 6), "two"))


def test_both_sides_have_one_axis_as_long_as_the_longer(slower):
    assert [side.span_ps for side in slower.sides] == [104_001, 104_001]
    pair = first_pair(slower)
    assert [(look.from_ps, look.to_ps) for look in pair.looks] == [(0, 104_001)] * 2


def test_both_sides_have_one_width_of_titles():
    machine = topology(pes=(4, 1))
    one, many = decode_like(1), decode_like(1, launched=4, machine=machine)
    comparison = Comparison(TimelineIndex(one, "one"), TimelineIndex(many, "many"))
    assert len({side.tree.label_cells for side in comparison.sides}) == 1


def test_the_other_side_follows_the_cursor_and_the_window(slower):
    pair = moved(slower, first_pair(slower), partial(steps.step_machine, by=1))
    pair = moved(slower, pair, lambda index, look: select(index, look, 7))
    assert [look.stage for look in pair.looks] == [7, 7]
    assert pair.looks[UPPER].row == pair.looks[LOWER].row
    pair = swapped(slower, pair)
    assert (pair.active, pair.look.stage) == (LOWER, 7)
    pair = moved(slower, pair, partial(steps.step_pe, by=-1))
    assert [look.stage for look in pair.looks] == [6, 6]


def test_the_lead_at_a_moment_is_told(slower):
    pair = first_pair(slower)
    assert moment_words(slower, pair) == "at dispatch of command 0 neither is ahead"
    pair = to_divergence(slower, pair)
    assert pair.look.stage == 6
    assert moment_words(slower, pair) == "at dispatch of command 1 the upper one is ahead by 8 ns"
    turned = Comparison(*reversed(slower.sides))
    pair = to_divergence(turned, first_pair(turned))
    assert moment_words(turned, pair) == "at dispatch of command 1 the lower one is ahead by 8 ns"


def test_the_lead_of_a_column_is_that_of_its_last_moment(slower):
    pair = first_pair(slower)
    # upper moments: 10, 30, 50, 54, 78, 78 even; 88 and 96 with a lead of 8
    edges = np.array([0, 9, 60, 88, 89, 104]) * 1000
    assert leads(slower, pair, edges).tolist() == [0, 0, 0, 8_000, 8_000]


def test_a_timeline_beside_itself_has_no_divergence():
    one = TimelineIndex(two_commands().build(), "one")
    comparison = Comparison(one, one)
    pair = first_pair(comparison)
    assert to_divergence(comparison, pair) == pair
    assert comparison.change_ps == 0


def test_the_stage_under_the_cursor_is_named_where_the_moment_is_another_ones(opt2, opt3):
    by_tiles = Comparison(TimelineIndex(opt2, "opt2"), TimelineIndex(opt3, "opt3"))
    first = first_pair(by_tiles)
    later = moved(by_tiles, first, lambda index, look: select(index, look, 3))
    for pair, stage in ((first, 0), (later, 3)):
        line = "".join(span.text for span in lead_lines(by_tiles, pair, 100)[-1])
        assert line.startswith(f" {moment_words(by_tiles, pair)} ")
        assert line.endswith(f"  {stage_name(by_tiles.sides[UPPER], stage)} ")
    narrow = "".join(span.text for span in lead_lines(by_tiles, later, 36)[-1])
    assert narrow.strip() == moment_words(by_tiles, later)  # no room for ten cells of a name


def test_different_kernels_meet_at_the_last_tile_that_both_have_used(opt2, opt3):
    comparison = Comparison(TimelineIndex(opt2, "opt2"), TimelineIndex(opt3, "opt3"))
    pair = first_pair(comparison)
    last = len(opt2.stages) - 1
    pair = moved(comparison, pair, lambda index, look: select(index, look, last))
    assert moment_words(comparison, pair).startswith("at v tile 8 the upper one is ahead by ")
    v_tile_8 = opt3.command_of(pair.looks[LOWER].stage)
    assert [h.address for h in v_tile_8.handles if h.tensor >= 0] == [7 * 64 * 128 * 2]


def test_the_table_is_walked_along_with_the_cursor_on_the_longer_side(opt2, opt3):
    comparison = Comparison(TimelineIndex(opt2, "opt2"), TimelineIndex(opt3, "opt3"))
    pair = to_difference(comparison, first_pair(comparison), 1)
    first = comparison.differences(Level.KIND)[0]
    assert (pair.chosen, pair.active, pair.look.stage) == (0, LOWER, first.right_stage)
    assert to_difference(comparison, pair, -1).chosen == 0
    assert to_difference(comparison, pair, 1).chosen == 1
    assert regrouped(pair).level is Level.LINE
    assert regrouped(regrouped(pair)).level is Level.ENGINE


def test_the_table_of_nothing_stays_where_it_is():
    empty = replay_of_nothing()
    comparison = Comparison(TimelineIndex(empty, "a"), TimelineIndex(empty, "b"))
    pair = first_pair(comparison)
    assert to_difference(comparison, pair, 1) == pair
    assert moment_words(comparison, pair) == "the other timeline has nothing like this stage"
    lines, _ = difference_lines(comparison, pair, 0, 80, 4)
    assert {line_cells(line) for line in lines} == {80}


def replay_of_nothing():
    builder = two_commands()
    builder.stages.clear()
    return builder.build()


def test_the_heads_and_the_table_say_what_is_compared(slower):
    assert line_text(heading_line(slower, 90)) == (
        " 96.0 ns → 104.0 ns  +8.0 ns  +8.33 %" + " " * 38 + "stage by stage"
    )
    pair = to_difference(slower, first_pair(slower), 1)
    assert (
        line_text(pane_line(slower, pair, UPPER, 60)) == "   one  96.00 ns  default · strict_fifo"
    )
    assert (
        line_text(pane_line(slower, pair, LOWER, 60)) == " › two  104.0 ns  default · strict_fifo"
    )
    lines, top = difference_lines(slower, pair, 0, 100, 4)
    assert top == 0
    assert [line_text(line) for line in lines] == [
        " critical paths by kind of stage                             upper      lower     change",
        " › latency before dispatch                                       ·    8.00 ns   +8.00 ns"
        "  ██████████",
        "   MATH exp                                                8.00 ns    8.00 ns          ·",
        "   CPU dispatch                                           20.00 ns   20.00 ns          ·",
    ]


def test_the_lead_has_a_lane_for_either_side(slower):
    pair = first_pair(slower)
    upper, lower, words = (line_text(line) for line in lead_lines(slower, pair, 12 + 26))
    # 26 columns of 4 ns: the lead of 8 begins at 88, in column 22
    assert upper == " upper ahead" + " " * 22 + "█" * 4
    assert lower == " lower ahead"
    assert words == " at dispatch of command 0 neither is …"


@pytest.mark.parametrize(
    ("group", "words"),
    [
        (Group(None), "latency"),
        (Group(Block.PE_DMA, "read"), "DMA read"),
        (Group(Block.PE_DMA, "read", StageKind.DMA_READ), "DMA read"),
        (Group(None, "", StageKind.GEMM), "latency before GEMM"),
        (Group(Block.PE_MATH, "", StageKind.MATH, "exp"), "MATH exp"),
        (
            Group(Block.PE_CPU, "", StageKind.DISPATCH, "", "a.py:7"),
            "a.py:7             CPU dispatch",
        ),
    ],
)
def test_a_group_is_named(group, words):
    assert group_words(group) == words


def test_a_change_of_time_has_its_sign():
    assert [signed(change, "41 ns") for change in (0, 41_000, -41_000)] == [
        "·",
        "+41 ns",
        "−41 ns",
    ]


def test_another_policy_of_the_same_trace_is_lined_up_too(opt2):
    serial = replay(opt2.trace, policy="serial")
    comparison = Comparison(TimelineIndex(opt2, "a"), TimelineIndex(serial, "b"))
    assert comparison.change_ps == serial.makespan_ps - opt2.makespan_ps > 0
