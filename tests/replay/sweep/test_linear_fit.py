"""Ordinary least squares, worked out by hand, and what holds of every fit."""

from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st
from kerntape.replay.sweep.linear_fit import LinearFit, Slope, linear_fit

whole = st.integers(-(10**6), 10**6)


def test_a_line_through_four_points_has_its_slope_error_and_share():
    # less the means 1.5 and 3, x is -1.5 -0.5 0.5 1.5 and y is -2 0 -1 3
    # x x = 5, x y = 3 - 0.5 + 4.5 = 7, y y = 14: b = 7/5, explained 7 * 7/5 = 9.8 of 14
    # the residuals' 4.2 over 4 - 1 - 1 is s2 = 2.1, over x x 0.42
    fit = linear_fit([[0, 1, 2, 3]], [1, 3, 2, 6])
    assert fit == LinearFit((Slope(Fraction(7, 5), Fraction(42, 100)),), Fraction(7, 10))
    # 1.96 against 4 * 0.42 = 1.68
    assert fit.slopes[0].is_told


def test_columns_that_do_not_go_together_have_the_slopes_that_they_have_alone():
    # b1 = (6 + 9 - 1 - 3) / 2, b2 = (3 + 9 - 1 - 6) / 2; each residual is a quarter: together 1/4
    # s2 = 1/4 over 4 - 2 - 1, and x x = 1 of both; y y = 36.75
    fit = linear_fit([[0, 0, 1, 1], [0, 1, 0, 1]], [1, 3, 6, 9])
    quarter = Fraction(1, 4)
    slopes = (Slope(Fraction(11, 2), quarter), Slope(Fraction(5, 2), quarter))
    assert fit == LinearFit(slopes, 1 - quarter / Fraction("36.75"))


def test_of_columns_that_go_together_each_has_the_slope_that_the_other_leaves_it():
    # y = 3 x1 - 2 x2; alone, x2 would have (1 + 4 - 0 - 3) / 2 = 1
    fit = linear_fit([[0, 1, 1, 2], [0, 0, 1, 1]], [0, 3, 1, 4])
    assert fit == LinearFit((Slope(Fraction(3), Fraction(0)), Slope(Fraction(-2), Fraction(0))), 1)
    assert all(slope.is_told for slope in fit.slopes)


def test_a_slope_is_told_beyond_two_standard_errors_and_not_at_them():
    # x x = 4 and b = (3 + 1) / 4 = 1; residuals 0 0 1 -1: s2 = 2 / 2, over x x 1/4, of which 4 are 1
    (at,) = linear_fit([[-1, -1, 1, 1]], [0, 0, 3, 1]).slopes
    assert at == Slope(Fraction(1), Fraction(1, 4))
    assert not at.is_told
    (beyond,) = linear_fit([[-1, -1, 1, 1]], [0, 0, 299, 101]).slopes
    assert beyond.is_told


def test_where_all_y_are_equal_nothing_is_told_and_there_is_nothing_to_explain():
    fit = linear_fit([[1, 2, 4]], [5, 5, 5])
    assert fit == LinearFit((Slope(Fraction(0), Fraction(0)),), None)
    assert not fit.slopes[0].is_told


def test_points_that_do_not_settle_it_have_no_fit():
    assert linear_fit([[1, 2]], [3, 4]) is None
    assert linear_fit([[1, 2, 4]], [3, 4, 5]) is not None
    assert linear_fit([[1, 2, 4], [1, 2, 5]], [3, 4, 5]) is None
    # a column that is constant, or a multiple of another one
    assert linear_fit([[7, 7, 7, 7]], [1, 2, 3, 4]) is None
    assert linear_fit([[1, 2, 4, 6], [3, 6, 12, 18]], [1, 2, 3, 5]) is None


@st.composite
def tables(draw):
    """Some columns, with a y, that a fit settles."""
    width = draw(st.integers(1, 4))
    points = draw(
        st.lists(st.lists(whole, min_size=width + 1, max_size=width + 1), min_size=6, max_size=12)
    )
    *columns, y = map(list, zip(*points, strict=True))
    assume(linear_fit(columns, y) is not None)
    return columns, y


@given(tables(), st.data())
def test_data_on_straight_lines_give_exactly_these(table, data):
    columns, _ = table
    slopes = data.draw(st.lists(whole, min_size=len(columns), max_size=len(columns)))
    assume(any(slopes))
    rows = zip(*columns, strict=True)
    y = [17 + sum(b * x for b, x in zip(slopes, row, strict=True)) for row in rows]
    fit = linear_fit(columns, y)
    assert fit.slopes == tuple(Slope(Fraction(b), Fraction(0)) for b in slopes)
    assert fit.explained == 1


@given(tables(), whole, whole)
def test_a_constant_added_to_y_or_to_a_column_changes_nothing(table, to_y, to_column):
    columns, y = table
    moved = [[each + to_column for each in columns[0]], *columns[1:]]
    assert linear_fit(moved, [each + to_y for each in y]) == linear_fit(columns, y)


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_the_points_changes_nothing(table, random):
    columns, y = table
    points = list(zip(*columns, y, strict=True))
    random.shuffle(points)
    *shuffled, y_too = zip(*points, strict=True)
    assert linear_fit(shuffled, y_too) == linear_fit(columns, y)


@given(tables())
def test_residuals_are_at_right_angles_to_every_column(table):
    # the normal equations, and thereby that no other slopes leave less
    columns, y = table
    fit = linear_fit(columns, y)
    left = [
        each - sum(slope.b * x for slope, x in zip(fit.slopes, row, strict=True))
        for each, row in zip(y, zip(*columns, strict=True), strict=True)
    ]
    mean = sum(left) / len(left)
    for column in columns:
        assert sum((each - mean) * x for each, x in zip(left, column, strict=True)) == 0
    assert fit.explained is None or 0 <= fit.explained <= 1
