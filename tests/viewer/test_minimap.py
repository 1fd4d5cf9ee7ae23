"""The minimap's profile: how busy the machine was, however wide the strip is."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import first_look, window
from kerntape.viewer.model.minimap import BUCKETS, minimap_lines, minimap_room, profile_of
from kerntape.viewer.model.pointing import pick_on_map
from timeline_builder import decode_like, timeline_of_intervals, topology


def profile(starts, ends):
    return profile_of(TimelineIndex(timeline_of_intervals(starts, ends), "x"))


def test_a_bucket_holds_the_engines_at_work_in_it():
    # the whole is 2·BUCKETS ps, so a bucket is 2 ps: 0–4 fills two, 7–8 half of the fourth
    found = profile([0, 7, 2 * BUCKETS - 1], [4, 8, 2 * BUCKETS - 1])
    assert found.at_work[:5].tolist() == pytest.approx([1, 1, 0, 0.5, 0])
    assert found.is_lit[:5].tolist() == [True, True, False, True, False]


interval = st.tuples(st.integers(0, 5000), st.integers(0, 3000)).map(lambda p: (p[0], p[0] + p[1]))


@given(st.lists(interval, min_size=1, max_size=20))
def test_all_buckets_together_are_all_the_time_that_was_covered(intervals):
    starts, ends = [s for s, _ in intervals], [e for _, e in intervals]
    index = TimelineIndex(timeline_of_intervals(starts, ends), "x")
    covered = index.lane(next(iter(index.tree.row_of_lane))).busy_ps
    bucket_ps = index.span_ps / BUCKETS
    assert profile_of(index).at_work.sum() * bucket_ps == pytest.approx(covered, abs=1e-3)


@pytest.mark.parametrize("width", [1, 7, 49, 69, 170, 4096])
def test_the_shortest_stage_is_seen_in_a_strip_of_any_width(width):
    found = profile([0, 10**12 // 3, 10**12 - 1], [0, 10**12 // 3 + 1, 10**12])
    levels = found.levels(width)
    assert len(levels) == width
    lit = np.flatnonzero(levels)
    expected = sorted({width // 3, width - 1})
    assert lit.tolist() == expected


def test_a_strip_is_as_high_as_its_busiest_column_is_busy():
    # two engines in the first half, one in the second, of which the last ps is no one's
    machine = topology(pes=(2, 1))
    timeline = decode_like(1, launched=2, machine=machine)
    two = replace(
        timeline_of_intervals([0, 0], [1 << 20, 1 << 19]),
        engines=timeline.engines,
        stages=replace(
            timeline_of_intervals([0, 0], [1 << 20, 1 << 19]).stages,
            engine=np.array([4, 5], dtype=np.int32),
        ),
    )
    levels = profile_of(TimelineIndex(two, "x")).levels(4)
    assert levels.tolist() == [8, 8, 4, 4]


def test_a_timeline_without_length_has_an_empty_strip():
    assert not profile([5], [5]).levels(10).any()


def test_the_strip_stays_where_it_is_while_one_zooms():
    index = TimelineIndex(decode_like(4), "x")
    hazards, look = HazardIndex(index), first_look(index)
    rooms = {
        minimap_room(index, hazards, window(index, look, 0, span), 100)
        for span in (400, 5_000, 123_456, 10**6, index.span_ps)
    }
    assert len(rooms) == 1
    strip = "".join(span.text for span in minimap_lines(index, hazards, look, 100)[0])
    assert strip[1 : rooms.pop() + 1].strip()


@pytest.mark.parametrize("column", [0, 1, 30, 68, 69, 200])
def test_a_column_of_the_map_is_the_time_that_it_shows(column):
    index = TimelineIndex(decode_like(4), "x")
    look = window(index, first_look(index), 0, index.span_ps // 10)
    there = pick_on_map(index, look, column, 69)
    place = min(max(column - 1, 0), 68)
    middle = index.span_ps * (2 * place + 1) // 138
    assert there.from_ps <= middle < there.to_ps
    assert there.span_ps == look.span_ps
