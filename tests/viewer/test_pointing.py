"""What a click and a turn of the wheel mean."""

from dataclasses import replace

import pytest
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.look import first_look, window
from kerntape.viewer.model.pointing import pick, wheel, wheel_pan
from timeline_builder import two_commands

SIZE = (60, 6)
"""12 columns of titles and 48 of 2 ns; the ruler and five rows: PE 0, CPU, TCM, GEMM, MATH."""


@pytest.fixture
def index():
    return TimelineIndex(two_commands().build(), "x")


def test_a_click_on_a_bar_selects_its_stage(index):
    # column 12 + 20 shows 40–42 ns: GEMM tile 1 (30–54) on line 4, fetch 2 (30–50) on line 3
    look = first_look(index)
    assert pick(index, look, 32, 4, SIZE).stage == 3
    assert pick(index, look, 32, 3, SIZE).stage == 2


def test_a_click_beside_a_bar_selects_the_nearest_stage(index):
    assert pick(index, first_look(index), 13, 5, SIZE).stage == 7


def test_a_click_on_a_group_s_title_folds_it(index):
    assert pick(index, first_look(index), 3, 1, SIZE).folded == {0}


def test_a_click_on_a_lane_s_title_goes_to_the_lane(index):
    look = pick(index, first_look(index), 3, 4, SIZE)
    assert index.tree.rows[look.row].title == "GEMM"


def test_a_click_on_the_ruler_or_below_the_rows_does_nothing(index):
    look = first_look(index)
    assert pick(index, look, 30, 0, SIZE) == look
    assert pick(index, look, 30, 6, (60, 7)) == look


def test_where_rows_have_air_the_line_below_a_row_belongs_to_it(index):
    size = (60, 11)
    look = first_look(index)
    assert pick(index, look, 32, 7, size).stage == 3
    assert pick(index, look, 32, 8, size).stage == 3


def test_the_wheel_zooms_around_the_pointer(index):
    # column 12 + 12 shows 24 to 26 ns (24.000 to 26.000): 25 ns stays a quarter into the window
    look = window(index, first_look(index), 0, 96_000)
    closer = wheel(index, look, 24, -1, 60)
    assert (closer.from_ps, closer.to_ps) == (25_000 - 12_500, 25_000 - 12_500 + 48_000)
    assert wheel(index, closer, 24, 1, 60).span_ps == 96_000


def test_the_wheel_pans_with_shift(index):
    look = window(index, first_look(index), 20_000, 40_000)
    assert wheel_pan(index, look, 1).from_ps == 30_000
    assert wheel_pan(index, look, -1).from_ps == 10_000


def test_a_click_on_an_empty_row_selects_no_stage(index):
    look = replace(first_look(index), stage=NO_STAGE)
    assert pick(index, look, 32, 4, SIZE).stage == 3
