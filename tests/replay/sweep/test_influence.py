"""How far each number of a grid moves the median: worked out by hand from a table of makespans."""

from itertools import pairwise, product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.replay.sweep.axes import Axis
from kerntape.replay.sweep.influence import Influence, ValueMedian, influences, median_ps

CYCLES, WIDTH = Axis("cycles", (40, 10, 20)), Axis("width", (8, 64))

NO_SAY = -1


def influences_of(axes, *makespans):
    return influences(axes, np.array(makespans, dtype=np.int64))


def test_each_value_has_its_median_by_rising_value_and_what_moves_most_stands_first():
    # (40, 8) 9, (40, 64) 5, (10, 8) 7, (10, 64) 3, (20, 8) 8, (20, 64) 3
    found = influences_of([CYCLES, WIDTH], 9, 5, 7, 3, 8, 3)
    assert found == (
        # of 7 8 9, of 3 3 5
        Influence("width", (ValueMedian(8, 3, 8), ValueMedian(64, 3, 3))),
        # of 3 7, of 3 8, of 5 9: the lower ones
        Influence("cycles", (ValueMedian(10, 2, 3), ValueMedian(20, 2, 3), ValueMedian(40, 2, 5))),
    )
    assert [each.spread_ps for each in found] == [5, 2]
    # 3 to 8 and 3 to 5, in whole millionths
    assert [each.spread_ppm for each in found] == [1_666_666, 666_666]


def test_values_are_compared_where_every_one_of_them_counts():
    # as above without (20, 8): cycles are compared at 64 alone, width at 40 and at 10
    assert influences_of([CYCLES, WIDTH], 9, 5, 7, 3, NO_SAY, 3) == (
        Influence("width", (ValueMedian(8, 2, 7), ValueMedian(64, 2, 3))),
        Influence("cycles", (ValueMedian(10, 1, 3), ValueMedian(20, 1, 3), ValueMedian(40, 1, 5))),
    )


def test_points_left_out_unevenly_make_no_number_matter_that_does_not():
    # opt2's decode of 4,096 tokens under policy none, in ps: all points at 20 and 80 cycles and one at
    # 400 have violations. In truth the bandwidth moves 0.3 % at 400 and 0.2 % at 600; the medians of
    # all that counts would be 83,325,751 at 51.2 against 56,157,751 at 204.8, which is 48.4 %
    cycles, bandwidth = Axis("cycles", (20, 80, 400, 600)), Axis("bandwidth", (1, 2, 4))
    at_400, at_600 = (NO_SAY, 56_185_751, 56_157_751), (83_325_751, 83_185_751, 83_157_751)
    first, last = influences_of([cycles, bandwidth], *[NO_SAY] * 6, *at_400, *at_600)
    assert (first.path, first.spread_ps, first.spread_ppm) == ("bandwidth", 168_000, 2_020)
    assert [each.points for each in first.medians] == [1, 1, 1]
    # 20 and 80 cycles never count, so what cycles do to it is not known
    assert (last.path, last.spread_ps, last.spread_ppm) == ("cycles", None, None)


def test_where_no_two_values_are_compared_there_is_no_spread_and_it_stands_last():
    single, two = Axis("single", (1,)), Axis("two", (1, 2))
    found = influences_of([single, CYCLES, two], 5, 5, 5, 5, NO_SAY, 5)
    # cycles 20 count at the second of two alone, as the others do; two is compared at 40 and 10
    assert [(each.path, each.spread_ps) for each in found] == [
        ("cycles", 0),
        ("two", 0),
        ("single", None),
    ]
    # nothing is the same at both, and the order is the one given
    crossed = influences_of([two, Axis("other", (1, 2))], 5, NO_SAY, NO_SAY, 9)
    assert [(each.path, each.spread_ps, each.spread_ppm) for each in crossed] == [
        ("two", None, None),
        ("other", None, None),
    ]
    assert crossed[0].medians == (ValueMedian(1, 0, None), ValueMedian(2, 0, None))


def test_one_number_is_a_grid_and_none_has_no_influence():
    (found,) = influences_of([WIDTH], 7, 9)
    assert found.medians == (ValueMedian(8, 1, 7), ValueMedian(64, 1, 9))
    (unknown,) = influences_of([WIDTH], 7, NO_SAY)
    assert unknown.spread_ps is None
    assert influences_of([], 7) == ()


def test_makespans_beyond_what_a_float_holds_are_told_apart():
    (found,) = influences_of([WIDTH], (1 << 61) + 1, 1 << 61)
    assert found.spread_ps == 1


def test_a_least_median_of_no_time_has_no_ratio():
    found = Influence("x", (ValueMedian(1, 1, 0), ValueMedian(2, 1, 5)))
    assert (found.spread_ps, found.spread_ppm) == (5, None)


@pytest.mark.parametrize(
    ("makespans", "median"), [([], None), ([5], 5), ([9, 1], 1), ([3, 9, 1], 3)]
)
def test_the_median_is_the_middle_one_and_the_lower_of_two(makespans, median):
    assert median_ps(np.array(makespans, dtype=np.int64)) == median


@st.composite
def grids(draw, least):
    """Axes of 1 to 3 values and a makespan of at least that for each combination."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    axes = [Axis(f"x{place}", tuple(range(size))) for place, size in enumerate(sizes)]
    points = st.integers(least, 1 << 62)
    return axes, draw(st.lists(points, min_size=prod(sizes), max_size=prod(sizes)))


@given(grids(least=0))
def test_where_nothing_is_left_out_medians_are_plain_ones(grid):
    axes, makespans = grid
    combinations = list(product(*(axis.values for axis in axes)))
    found = {each.path: each for each in influences_of(axes, *makespans)}
    for place, axis in enumerate(axes):
        for value, median in zip(axis.values, found[axis.path].medians, strict=True):
            plain = sorted(
                makespan
                for makespan, values in zip(makespans, combinations, strict=True)
                if values[place] == value
            )
            middle = plain[(len(plain) - 1) // 2]
            assert median == ValueMedian(value, len(plain), middle)


@given(grids(least=-2))
def test_values_have_as_many_points_and_those_of_a_number_that_moves_nothing_the_same(grid):
    axes, drawn = grid
    makespans = [max(each, NO_SAY) for each in drawn]
    found = influences_of(axes, *makespans)
    spreads = [-1 if each.spread_ps is None else each.spread_ps for each in found]
    assert all(a >= b for a, b in pairwise(spreads))
    for influence in found:
        assert len({each.points for each in influence.medians}) == 1
        assert all((each.points == 0) == (each.median_ps is None) for each in influence.medians)
    # each combination twice, along a number that does nothing: its spread is 0 or not known
    still = Axis("still", (1, 2))
    twice = influences_of([still, *axes], *makespans, *makespans)
    (spread,) = (each.spread_ps for each in twice if each.path == "still")
    assert spread == (0 if max(makespans) >= 0 else None)
