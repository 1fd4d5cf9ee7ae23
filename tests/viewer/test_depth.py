"""How many intervals cover each moment."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.viewer.model import depth
from kerntape.viewer.model.depth import Covering
from kerntape.viewer.model.occupancy import Axis, axis


def depth_of(*batches):
    """The depth of intervals that come in batches of (start, end)."""
    covering = Covering()
    for batch in batches:
        columns = np.array(batch, dtype=np.int64).reshape(-1, 2)
        covering.add(columns[:, 0], columns[:, 1])
    return covering.depth()


def steps(found):
    return [*zip(found.times.tolist(), found.depths.tolist(), strict=True)]


def test_the_depth_steps_up_where_intervals_begin_and_down_where_they_end():
    # two from 5 on, one of them until 8, the other until 9
    assert steps(depth_of([(5, 8), (5, 9)])) == [(5, 2), (8, 1), (9, 0)]


def test_intervals_that_meet_are_one_in_whatever_order_they_come():
    assert steps(depth_of([(20, 30)], [(0, 10)], [(10, 20)])) == [(0, 1), (30, 0)]


def test_an_interval_without_a_length_covers_nothing():
    assert steps(depth_of([(7, 7)])) == []
    assert steps(depth_of()) == []


def test_a_column_holds_the_time_covered_in_it_by_all_intervals():
    # columns 0–10, 10–20, 20–30; 5–25 covers 5 + 10 + 5, 8–12 covers 2 + 2
    assert depth_of([(5, 25), (8, 12)]).measure(axis(0, 30, 3)).tolist() == [7, 12, 5]


def test_nothing_is_covered_by_no_intervals():
    assert depth_of([]).measure(axis(0, 30, 3)).tolist() == [0, 0, 0]


def test_times_near_the_greatest_are_exact():
    # three engines idle from 2^61 to 2^62: 3 · 2^61 in all is more than 2^62, and still below 2^63
    half, whole = 1 << 61, 1 << 62
    found = depth_of([(half, whole)] * 3)
    assert found.measure(Axis(np.array([0, half, half + 1, whole]))).tolist() == [
        0,
        3,
        3 * half - 3,
    ]


def intervals():
    return st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=12)


@pytest.mark.parametrize("at_once", [0, 1 << 18])
@given(batches=st.lists(intervals(), max_size=5))
def test_every_moment_has_the_number_of_intervals_that_cover_it(at_once, batches):
    some = [[(start, start + length) for start, length in batch] for batch in batches]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(depth, "LEAST_AT_ONCE", at_once)
        found = depth_of(*some)
    flat = [interval for batch in some for interval in batch]
    expected = [sum(start <= at < end for start, end in flat) for at in range(50)]
    assert found.measure(axis(0, 50, 50)).tolist() == expected
    assert all(one != other for one, other in zip([0, *found.depths], found.depths, strict=False))
