"""Sums by place, to the picosecond."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kerntape.viewer.model.exact_sums import sums_by_place


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**57)), max_size=30))
def test_every_place_has_the_exact_sum_of_its_amounts(pairs):
    places = np.array([place for place, _ in pairs], dtype=np.int64)
    amounts = np.array([amount for _, amount in pairs], dtype=np.int64)
    expected = [sum(amount for at, amount in pairs if at == place) for place in range(5)]
    assert sums_by_place(places, amounts, 5).tolist() == expected


def test_what_floats_alone_would_round_is_exact():
    # 2^53 + 1 is no float
    assert sums_by_place(np.array([0, 0]), np.array([2**53, 1]), 1).tolist() == [2**53 + 1]
