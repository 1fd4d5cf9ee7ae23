"""How values are cut into parts: every value in one of them, a value between two in the upper one."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from kerntape.replay.sweep.axes import Axis, Span
from kerntape.replay.sweep.cuts import quarters

decimals = st.decimals("0.001", 1000, places=3)


def test_a_value_between_two_quarters_is_in_the_upper_one():
    cut = quarters(Span("x", Decimal(0), Decimal(8)))
    assert [cut.part_of(Decimal(each)) for each in range(9)] == [0, 0, 1, 1, 2, 2, 3, 3, 3]


def test_listed_values_are_cut_by_rank():
    axis = Axis("x", (16, 1, 2, 8, 4))
    assert quarters(axis).ends == ((1, 2), (4, 4), (8, 8), (16, 16))
    assert [quarters(axis).part_of(each) for each in (1, 2, 4, 8, 16)] == [0, 0, 1, 2, 3]


@given(st.sets(decimals, min_size=3, max_size=3).map(sorted))
def test_a_value_is_in_the_quarter_that_its_place_in_the_range_says(three):
    low, value, high = three
    place = Fraction(value - low) / Fraction(high - low)
    assert quarters(Span("x", low, high)).part_of(value) == int(4 * place)


@given(st.sets(st.integers(1, 10**9), min_size=3, max_size=3).map(sorted))
def test_a_whole_number_lies_between_the_ends_of_its_part(three):
    low, value, high = three
    cut = quarters(Span("x", low, high))
    begin, end = cut.ends[cut.part_of(value)]
    assert begin <= value <= end
    assert (cut.ends[0][0], cut.ends[-1][1]) == (low, high)
