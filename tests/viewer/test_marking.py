"""The mark and the area."""

from dataclasses import replace

import pytest
from kerntape.viewer.model import marking
from kerntape.viewer.model.frame import ruler_line
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.look import NO_TIME, first_look, select
from kerntape.viewer.model.pointing import drag
from kerntape.viewer.model.tones import ACCENT, LABEL
from timeline_builder import timeline_of_intervals, two_commands


@pytest.fixture(scope="module")
def index():
    return TimelineIndex(two_commands().build(), "x")


def at(index, stage):
    return select(index, first_look(index), stage)


def test_the_delta_counts_from_the_mark_to_the_cursor(index):
    marked = marking.set_mark(index, at(index, 3))  # GEMM at 30
    assert marking.delta_words(first_look(index)) == ""
    assert marking.delta_words(select(index, marked, 7)) == "Δ +58 ns"
    assert marking.delta_words(select(index, marked, 1)) == "Δ −20 ns"


def test_marking_the_same_place_again_takes_the_mark_away(index):
    look = marking.set_mark(index, marking.set_mark(index, at(index, 3)))
    assert (look.mark_ps, look.mark_stage) == (NO_TIME, NO_STAGE)


def test_a_jump_to_the_mark_leaves_the_mark_where_one_was(index):
    look = select(index, marking.set_mark(index, at(index, 3)), 7)
    there = marking.to_mark(index, look)
    assert (there.stage, there.mark_stage, there.mark_ps) == (3, 7, 88_000)
    assert marking.to_mark(index, there).stage == 7
    assert marking.to_mark(index, at(index, 3)) == at(index, 3)


def test_a_mark_without_a_stage_is_a_time():
    index = TimelineIndex(timeline_of_intervals([0, 50], [10, 60]), "x")
    look = replace(first_look(index), stage=NO_STAGE, at_ps=40)
    there = marking.to_mark(index, select(index, marking.set_mark(index, look), 0))
    assert (there.at_ps, there.stage) == (40, 1)


def test_an_area_goes_from_the_earlier_start_to_the_end_of_the_later_stage(index):
    begun = marking.mark_area(index, at(index, 1))  # 10–30
    assert begun.area_from_ps == 10_000
    ended = marking.mark_area(index, select(index, begun, 4))  # 54–78
    assert (ended.area, ended.area_from_ps) == ((10_000, 78_000), NO_TIME)
    assert marking.mark_area(index, ended).area is None
    backwards = marking.mark_area(index, select(index, marking.mark_area(index, at(index, 4)), 1))
    assert backwards.area == (10_000, 54_000)


def test_an_area_is_never_empty(index):
    instant = at(index, 5)  # a finish of no length at 78
    begun = marking.mark_area(index, instant)
    ended = marking.mark_area(index, begun)
    assert (ended.area, ended.area_from_ps) == (None, NO_TIME)
    words = "no area: it would be empty; v begins one, v elsewhere ends it"
    assert marking.area_words(begun, ended) == words
    assert marking.set_area(index, instant, 9, 3).area == (3, 9)
    assert marking.set_area(index, instant, 5, 5).area == (5, 6)


def test_an_area_says_how_it_goes_on(index):
    begun = marking.mark_area(index, at(index, 1))
    assert marking.area_words(at(index, 1), begun) == (
        "area: go to its other end, v again ends it there"
    )
    ended = marking.mark_area(index, select(index, begun, 4))
    assert marking.area_words(begun, ended) == ""
    taken = marking.mark_area(index, ended)
    assert marking.area_words(ended, taken) == "the area is taken away: v begins another"


def test_v_twice_on_a_stage_takes_the_stage_as_the_area(index):
    twice = marking.mark_area(index, marking.mark_area(index, at(index, 1)))  # 10–30
    assert twice.area == (10_000, 30_000)


def test_a_drag_takes_both_columns_whole_in_either_direction(index):
    # 24 columns of 96001 ps / 24 behind a title of 12 cells
    look = first_look(index)
    expected = (96_001 * 2 // 24, 96_001 * 5 // 24)
    assert drag(index, look, 14, 16, 36).area == expected
    assert drag(index, look, 16, 14, 36).area == expected
    assert drag(index, look, 0, 99, 36).area == (0, 96_001)


def test_the_ruler_shows_the_mark_and_the_area(index):
    look = marking.set_mark(index, at(index, 1))
    look = marking.set_area(index, select(index, look, 7), 48_000, 72_000)
    line = ruler_line(index, look, 12 + 96)
    cells = [(glyph, span.tone) for span in line[1:] for glyph in span.text]
    assert cells[10][0] == "m"
    assert cells[10][1] == ACCENT
    grounds = [column for column, (_, tone) in enumerate(cells) if tone == ACCENT + LABEL]
    assert (grounds[0], grounds[-1]) == (48, 71)


def test_an_area_that_is_begun_follows_the_cursor_on_the_ruler(index):
    look = select(index, marking.mark_area(index, at(index, 1)), 7)
    tones = [span.tone for span in ruler_line(index, look, 108)]
    assert ACCENT + LABEL in tones
