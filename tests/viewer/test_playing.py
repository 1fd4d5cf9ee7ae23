"""Playing."""

from dataclasses import replace

import pytest
from kerntape.viewer.model import playing
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import first_look, select, window
from timeline_builder import timeline_of_intervals, two_commands


@pytest.fixture(scope="module")
def index():
    return TimelineIndex(two_commands().build(), "x")


def test_the_first_speed_shows_the_window_in_ten_seconds(index):
    assert playing.first_speed(replace(first_look(index), from_ps=0, to_ps=96_000)) == 9_600
    assert playing.first_speed(replace(first_look(index), from_ps=0, to_ps=100)) == 20


def test_speeds_double_and_halve_down_to_a_picosecond_a_tick():
    assert playing.faster(100) == 200
    assert playing.slower(100) == 50
    assert playing.slower(21) == playing.TICKS_PER_S


def test_the_row_s_stage_is_selected_as_time_goes_on(index):
    look = select(index, first_look(index), 3)  # GEMM 30–54, then 54–78
    later = playing.advanced(index, look, 23_999)
    assert (later.at_ps, later.stage) == (53_999, 3)
    assert playing.advanced(index, later, 1).stage == 4
    assert later.row == look.row


def test_playing_ends_at_the_end(index):
    look = playing.advanced(index, first_look(index), 10**9)
    assert look.at_ps == 96_000
    assert playing.at_end(index, look)
    assert not playing.at_end(index, first_look(index))


def test_the_window_turns_its_page_shortly_before_the_cursor_leaves_it(index):
    look = window(index, select(index, first_look(index), 0), 0, 24_000)
    assert playing.advanced(index, look, 21_000).from_ps == 0
    turned = playing.advanced(index, look, 23_000)
    assert (turned.from_ps, turned.to_ps) == (21_000, 45_000)


def test_an_empty_timeline_is_at_its_end():
    index = TimelineIndex(timeline_of_intervals([], []), "x")
    assert playing.at_end(index, playing.advanced(index, first_look(index), 10))
