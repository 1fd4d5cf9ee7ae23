"""What every column shows of a lane: one search a column gives what adding up every stage does."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.viewer.model.lane import Lane
from kerntape.viewer.model.occupancy import axis

PAINTS = (3, 5, 9)

stage = st.tuples(st.integers(0, 60), st.integers(0, 20), st.sampled_from(PAINTS))


def lane(stages):
    """A lane of (start, length, paint), in the order of starts."""
    ordered = sorted(stages, key=lambda one: one[0])
    starts = np.array([start for start, _, _ in ordered], dtype=np.int64)
    lengths = np.array([length for _, length, _ in ordered], dtype=np.int64)
    paints = np.array([paint for _, _, paint in ordered], dtype=np.int16)
    return Lane(np.arange(len(ordered), dtype=np.int32), starts, starts + lengths, paints)


def covered(lane):
    """(from, to, paint) of the time that each stage covers first."""
    return list(
        zip(lane.covered.tolist(), lane.covered_ends.tolist(), lane.paints.tolist(), strict=True)
    )


def overlap(left, right, start, end):
    return max(0, min(end, right) - max(start, left))


@given(st.lists(stage, min_size=1, max_size=25), st.integers(0, 40), st.integers(10, 80))
def test_a_column_s_share_is_the_time_covered_in_it(stages, from_ps, span_ps):
    shown, one = axis(from_ps, from_ps + span_ps, 10), lane(stages)
    seen = one.seen(shown)
    for column, (left, right) in enumerate(pairwise(shown.edges.tolist())):
        busy = dict.fromkeys(PAINTS, 0)
        for start, end, paint in covered(one):
            busy[paint] += overlap(left, right, start, end)
        total = sum(busy.values())
        assert seen.density.share[column] == total / max(right - left, 1)
        if total:
            assert busy[int(seen.density.paint[column])] == max(busy.values())
        begun = sum(left <= start < right for start in one.starts.tolist())
        assert seen.density.begun[column] == begun


@given(st.lists(stage, min_size=1, max_size=25), st.integers(0, 40), st.integers(10, 80))
def test_the_first_and_the_last_stage_of_a_column_are_those_that_are_shown_in_it(
    stages, from_ps, span_ps
):
    shown, one = axis(from_ps, from_ps + span_ps, 10), lane(stages)
    seen = one.seen(shown)
    for column, (left, right) in enumerate(pairwise(shown.edges.tolist())):
        inside = [
            place
            for place, (start, end, _) in enumerate(covered(one))
            if start < right and (end > left or start >= left)
        ]
        found = range(int(seen.first[column]), int(seen.last[column]) + 1)
        assert list(found) == inside
        assert bool(seen.is_single[column]) == (len(inside) == 1)


def test_stages_that_do_not_overlap_cover_their_own_time_and_cost_no_more_memory():
    one = lane([(0, 5, 3), (5, 5, 3), (20, 0, 3)])
    assert one.covered is one.starts
    assert one.covered_ends is one.ends


def test_a_column_in_which_nothing_lasts_has_the_paint_of_the_last_that_began():
    seen = lane([(2, 0, 3), (4, 0, 9), (7, 0, 5)]).seen(axis(0, 10, 2))
    assert seen.density.paint.tolist() == [9, 5]
    assert seen.density.begun.tolist() == [2, 1]


def test_what_begins_and_ends_while_another_runs_begins_where_it_does_and_not_at_that_one_s_end():
    # 0–10 holds an instant at 4; nothing begins at 10, where a column begins that shows nothing
    seen = lane([(0, 10, 3), (4, 0, 9)]).seen(axis(0, 20, 2))
    assert seen.density.begun.tolist() == [2, 0]
    assert seen.density.share.tolist() == [1, 0]


def test_the_main_paint_is_that_of_most_of_the_time():
    assert lane([(0, 5, 9), (5, 3, 3), (8, 3, 3)]).main_paint == 3
    assert lane([(0, 5, 9), (5, 3, 3), (8, 3, 3)]).busy_ps == 11


@pytest.mark.parametrize("at", [0, 2**62 - 10])
def test_times_up_to_the_largest_are_exact(at):
    seen = lane([(at, 4, 3), (at + 6, 4, 5)]).seen(axis(at, at + 10, 5))
    assert seen.density.share.tolist() == [1, 1, 0, 1, 1]


def test_a_lane_that_is_idle_for_a_picosecond_of_2_to_the_61_is_not_busy_throughout():
    whole, almost = 2**61, 2**61 - 1
    shares = lane([(0, almost, 3), (whole, whole, 3)]).seen(axis(0, 2 * whole, 2)).density.share
    assert (shares[0] < 1, shares[1]) == (True, 1)
