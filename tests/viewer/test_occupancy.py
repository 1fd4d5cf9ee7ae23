"""How busy each column was: exact sums by two binary searches a column."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.viewer.model import occupancy as occupancy_module
from kerntape.viewer.model.occupancy import PrefixSums, axis, density, occupancy, shares


def columns(*values):
    return np.array(values, dtype=np.int64)


def test_an_axis_shares_the_time_out_in_whole_picoseconds():
    # 10 ps over 4 columns: edges at 0, 2.5, 5, 7.5, 10, each rounded down
    shown = axis(0, 10, 4)
    assert shown.edges.tolist() == [0, 2, 5, 7, 10]
    assert shown.column_ps.tolist() == [2, 3, 2, 3]


def test_a_time_is_in_the_column_that_begins_at_or_before_it():
    shown = axis(100, 200, 10)
    assert [shown.column_of(t) for t in (99, 100, 109, 110, 199, 200)] == [-1, 0, 0, 1, 9, 10]


def test_a_stage_of_no_length_has_one_column():
    shown = axis(0, 100, 10)
    assert shown.columns_of(30, 30) == range(3, 4)
    assert shown.columns_of(25, 30) == range(2, 3)  # ends before column 3 begins
    assert shown.columns_of(25, 31) == range(2, 4)


def test_a_column_holds_the_part_of_every_stage_that_lies_in_it():
    # columns of 10: [0,10) holds 5 of the first; [10,20) 5 + 2; [20,30) nothing
    stages = occupancy(columns(5, 18), columns(15, 20))
    assert stages.measure(axis(0, 30, 3))[0].tolist() == [5, 7, 0]


def test_stages_that_overlap_count_each():
    stages = occupancy(columns(0, 0, 5), columns(10, 10, 10))
    assert stages.measure(axis(0, 10, 2))[0].tolist() == [10, 15]


def test_a_stage_of_no_length_is_counted_though_it_is_never_busy():
    stages = occupancy(columns(7), columns(7))
    busy, begun = stages.measure(axis(0, 10, 2))
    assert (busy.tolist(), begun.tolist()) == ([0, 0], [0, 1])


def test_sums_beyond_64_bits_on_the_way_still_give_the_exact_difference():
    # three million stages near 2^61 ps: their starts add up to 3·10^6 · 2^61, far beyond int64
    starts = np.arange(3_000_000, dtype=np.int64) * 10 + 2**61
    stages = occupancy(starts, starts + 7)
    assert stages.measure(axis(2**61, 2**61 + 30_000_000, 3))[0].tolist() == [7_000_000] * 3


interval = st.tuples(st.integers(0, 300), st.integers(0, 40)).map(lambda p: (p[0], p[0] + p[1]))


@given(
    st.lists(interval, max_size=30), st.integers(0, 200), st.integers(1, 200), st.integers(1, 20)
)
def test_every_column_equals_the_sum_over_all_stages(stages, from_ps, span_ps, width):
    shown = axis(from_ps, from_ps + span_ps, width)
    measured = occupancy(columns(*[s for s, _ in stages]), columns(*[e for _, e in stages]))
    edges = shown.edges.tolist()
    expected = [
        sum(max(0, min(end, right) - max(start, left)) for start, end in stages)
        for left, right in pairwise(edges)
    ]
    assert measured.measure(shown)[0].tolist() == expected


def test_a_column_is_painted_as_what_was_busy_longest_in_it():
    parts = {3: occupancy(columns(0), columns(4)), 5: occupancy(columns(4), columns(10))}
    measured = density(parts, 1, axis(0, 20, 2))
    assert measured.share.tolist() == [1.0, 0.0]
    assert measured.paint.tolist()[0] == 5


def test_a_row_of_several_engines_is_full_only_when_all_are_busy():
    parts = {3: occupancy(columns(0, 0), columns(10, 5))}
    assert density(parts, 2, axis(0, 10, 2)).share.tolist() == [1.0, 0.5]


@pytest.mark.parametrize("servers", [1, 3, 4608])
def test_a_column_is_whole_only_where_not_one_picosecond_is_missing(servers):
    # as floats 2^61 and 2^61 − 1 are one number; a lane's level is ▇ for the second, █ for the first
    shown = axis(0, 2**61 // servers, 1)
    whole = int(shown.column_ps[0]) * servers
    assert shares(columns(whole), shown, servers).tolist() == [1.0]
    (almost,) = shares(columns(whole - 1), shown, servers).tolist()
    assert 7 <= almost * 8 < 8


def test_a_row_without_stages_is_empty():
    measured = density({}, 0, axis(0, 10, 5))
    assert measured.share.tolist() == [0.0] * 5
    assert measured.begun.tolist() == [0] * 5


@given(st.lists(st.integers(0, 2**62), max_size=40), st.data())
def test_sums_of_long_columns_are_those_of_short_ones(values, data):
    counts = columns(*data.draw(st.lists(st.integers(0, len(values)), max_size=10)))
    column = columns(*values)
    short = PrefixSums(column).before(counts)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(occupancy_module, "LONG", 0)
        assert PrefixSums(column).before(counts).tolist() == short.tolist()
    assert short.tolist() == [_wrapped(sum(values[:count])) for count in counts.tolist()]


def _wrapped(total):
    return (total + 2**63) % 2**64 - 2**63
