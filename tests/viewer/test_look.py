"""The window of time and what moves it."""

from dataclasses import replace

import pytest
from kerntape.viewer.model import look as moves
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.look import MIN_SPAN_PS, first_look, window
from kerntape.viewer.model.rows import row_pitch, scrolled
from timeline_builder import decode_like, timeline_of_intervals, topology, two_commands


@pytest.fixture
def index():
    """Two commands over 96 ns: the whole picture is 96 001 ps, its last instant included."""
    return TimelineIndex(two_commands().build(), "x")


def shown(look):
    return look.from_ps, look.to_ps


def test_the_first_look_shows_everything_with_the_cursor_on_the_first_stage(index):
    look = first_look(index)
    assert shown(look) == (0, 96_001)
    assert look.stage == 0
    assert index.tree.rows[look.row].title == "CPU"


def test_zooming_keeps_the_cursor_in_its_place(index):
    # stage 3 is 30–54 ns, its middle 42 ns; half of 96 001 is 48 000, and 42 ns stays at 42/96 of it
    look = moves.zoom_in(index, moves.select(index, first_look(index), 3))
    assert shown(look) == (42_000 - 42_000 * 48_000 // 96_001, 42_000 - 20_999 + 48_000)
    again = moves.zoom_out(index, look)
    assert again.span_ps == 96_000


def test_zooming_goes_around_the_window_s_middle_where_the_cursor_is_outside(index):
    look = window(index, first_look(index), 60_000, 20_000)
    assert shown(moves.zoom_in(index, replace(look, stage=0))) == (65_000, 75_000)


def test_zooming_in_ends_where_every_picosecond_can_be_told(index):
    look = first_look(index)
    for _ in range(40):
        look = moves.zoom_in(index, look)
    assert look.span_ps == MIN_SPAN_PS


def test_zooming_out_ends_with_everything_in_sight(index):
    look = window(index, first_look(index), 50_000, 10_000)
    for _ in range(10):
        look = moves.zoom_out(index, look)
    assert shown(look) == (0, 96_001)


def test_panning_moves_by_a_quarter_and_stops_at_the_ends(index):
    look = window(index, first_look(index), 40_000, 20_000)
    assert shown(moves.pan_left(index, look)) == (35_000, 55_000)
    assert shown(moves.pan_right(index, look)) == (45_000, 65_000)
    for _ in range(20):
        look = moves.pan_right(index, look)
    assert shown(look) == (76_001, 96_001)


def test_selecting_what_is_in_sight_does_not_move_the_window(index):
    look = window(index, first_look(index), 0, 60_000)
    assert shown(moves.select(index, look, 3)) == (0, 60_000)


def test_selecting_what_is_just_outside_pans_only_as_far_as_it_must(index):
    # a window of 36 ns keeps 3 ns from its edges: stage 4 is 54–78, so its end lies at 81 − 36 = 45
    look = window(index, first_look(index), 20_000, 36_000)
    assert shown(moves.select(index, look, 4)) == (45_000, 81_000)
    # and stage 2, 30–50, in a window from 45 on: 30 − 3 = 27
    look = window(index, first_look(index), 45_000, 36_000)
    assert shown(moves.select(index, look, 2)) == (27_000, 63_000)


def test_selecting_what_is_far_away_puts_it_in_the_middle(index):
    look = window(index, first_look(index), 0, 10_000)
    assert shown(moves.select(index, look, 4)) == (49_000, 59_000)


def test_a_pair_is_shown_whole_with_the_later_one_selected(index):
    # from 0 to 96 ns and an eighth of it on each side, kept inside: everything
    look = moves.show_pair(index, first_look(index), 0, 7)
    assert (look.stage, look.trail) == (7, (0,))
    assert shown(look) == (0, 96_001)
    # 1: 10–30, 3: 30–54: 44 ns long, 5.5 ns of margin
    look = moves.show_pair(index, first_look(index), 1, 3)
    assert shown(look) == (4_500, 59_500)


def test_rows_have_air_between_them_where_all_fit_twice():
    index = TimelineIndex(decode_like(1), "x")  # 9 rows
    look = first_look(index)
    assert row_pitch(index, look, 17) == 2
    assert row_pitch(index, look, 16) == 1


def test_the_rows_scroll_until_the_cursor_s_row_is_shown():
    machine = topology(pes=(4, 1))
    index = TimelineIndex(decode_like(1, launched=4, machine=machine), "x")
    look = replace(first_look(index), folded=frozenset())  # 36 rows
    assert scrolled(index, replace(look, row=0), 10).top == 0
    assert scrolled(index, replace(look, row=12), 10).top == 3
    assert scrolled(index, replace(look, row=12, top=20), 10).top == 12
    assert scrolled(index, replace(look, row=35, top=35), 10).top == 26


def test_an_empty_timeline_can_be_looked_at_and_nothing_can_be_selected():
    index = TimelineIndex(timeline_of_intervals([], []), "x")
    look = first_look(index)
    assert (look.row, look.stage) == (-1, NO_STAGE)
    assert shown(look) == (0, MIN_SPAN_PS)
    assert scrolled(index, look, 10) == look
