"""Hazards over a row: few searches draw what going through all of them would."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.viewer.model.cells import Cells
from kerntape.viewer.model.hazard_cells import draw_hazards, draw_waiting
from kerntape.viewer.model.hazards import GLYPHS, SEVERITY, HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.occupancy import Density, axis
from timeline_builder import CPU, two_commands

BEGINS_NS = 78  # of the later command: its dispatch on PE_CPU

hazard = st.tuples(st.sampled_from(Outcome), st.integers(0, BEGINS_NS))
window = st.tuples(st.integers(0, 90_000), st.integers(400, 96_000), st.integers(1, 60))


def drawn(hazards, shown):
    """(glyphs of the hazards, glyphs of the waiting) on an empty PE_CPU row, ' ' where there is none."""
    builder = two_commands()
    for outcome, cost_ns in hazards:
        builder.hazard(outcome, HazardKind.RAW, 0, 1, 2, cost_ns=cost_ns)
    index = TimelineIndex(builder.build(), "x")
    found, row = HazardIndex(index), index.tree.rows[index.tree.row_of_lane[CPU]]
    nothing = np.zeros(shown.width, np.int64)
    empty = Density(np.zeros(shown.width), nothing, nothing)
    pictures = []
    for draw in (draw_hazards, lambda *given: draw_waiting(*given[:3], empty, given[3])):
        picture = Cells(np.full(shown.width, ord(" "), np.uint32), nothing.copy())
        draw(picture, found, row, shown)
        pictures.append("".join(map(chr, picture.glyphs)))
    return pictures


def held_since(outcome, cost_ns):
    """When a hazard's glyph stands: where it began to be held, or where the later command begins."""
    return (BEGINS_NS - (cost_ns if outcome is Outcome.HELD else 0)) * 1000


@given(st.lists(hazard, max_size=12), window)
def test_a_column_has_the_glyph_of_the_worst_hazard_in_it(hazards, looked_at):
    from_ps, span_ps, width = looked_at
    shown = axis(from_ps, from_ps + span_ps, width)
    worst = [" "] * width
    for outcome, cost_ns in sorted(hazards, key=lambda one: int(SEVERITY[one[0]])):
        column = shown.column_of(held_since(outcome, cost_ns))
        if 0 <= column < width:
            worst[column] = GLYPHS[outcome]
    assert drawn(hazards, shown)[0] == "".join(worst)


def test_on_a_group_s_row_commands_held_column_after_column_have_one_glyph():
    builder = two_commands()
    for cost_ns in (78, 60, 58, 30, 2):  # held from 0, 18, 20, 48 and 76 ns on; columns of 10 ns
        builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=cost_ns)
    builder.hazard(Outcome.VIOLATED, HazardKind.RAW, 0, 1, 2)  # at 78
    index = TimelineIndex(builder.build(), "x")
    shown = axis(0, 100_000, 10)

    def row(key):
        picture = Cells(np.full(10, ord(" "), np.uint32), np.zeros(10, np.int64))
        draw_hazards(picture, HazardIndex(index), index.tree.rows[key], shown)
        return "".join(map(chr, picture.glyphs))

    assert row(index.tree.row_of_lane[CPU]) == "◇◇◇ ◇  !  "
    assert row(0) == "◇   ◇  !  "


@given(st.lists(hazard, max_size=12), window)
def test_a_line_runs_through_the_columns_that_begin_while_a_command_is_held(hazards, looked_at):
    from_ps, span_ps, width = looked_at
    shown = axis(from_ps, from_ps + span_ps, width)
    held = [held_since(*one) for one in hazards if one[0] is Outcome.HELD and one[1]]
    expected = [
        any(since <= start < BEGINS_NS * 1000 for since in held)
        for start in shown.edges[:-1].tolist()
    ]
    words = "#1 held for s"
    line = drawn(hazards, shown)[1].replace(words, "─" * len(words))
    assert [glyph == "─" for glyph in line] == expected


def test_the_words_say_which_command_was_held_and_for_what():
    # held from 28 to 78 ns; columns of 2 ns from 20 on: the line begins in the fifth, the words behind
    shown = axis(20_000, 80_000, 30)
    held = drawn([(Outcome.HELD, 50)], shown)[1]
    assert held == "    ─#1 held for s───────────" + " "


def test_of_many_held_at_once_none_is_told_by_words():
    shown = axis(20_000, 80_000, 30)
    assert "held" not in drawn([(Outcome.HELD, 50)] * 8, shown)[1]
