"""Rows that stand for several lanes."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.viewer.model import last_shown
from kerntape.viewer.model.groups import Groups
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.last_shown import LastShown
from kerntape.viewer.model.occupancy import axis
from timeline_builder import GEMM, MATH, decode_like, timeline_of_intervals, topology


@pytest.fixture(scope="module")
def index():
    machine = topology(cubes=(2, 1), pes=(2, 1))
    return TimelineIndex(decode_like(3, launched=4, machine=machine), "x")


def test_a_group_s_columns_are_the_mean_of_its_lanes(index):
    shown = axis(0, index.span_ps, 50)
    for row in index.tree.rows:
        if not row.is_group:
            continue
        lanes = [index.lane(lane) for lane in row.lanes]
        seen = [lane.seen(shown).density for lane in lanes]
        working = sum(lane.busy_ps > 0 for lane in lanes)
        found = index.group(row).density(shown)
        assert index.group(row).busy_lanes == working
        mean = sum(one.share for one in seen) / working
        assert np.allclose(found.share, mean)
        assert found.begun.tolist() == sum(one.begun for one in seen).tolist()


def test_a_stage_that_others_of_its_lane_cover_whole_begins_nowhere_in_a_group():
    # stage 1 lies within stage 0 of its lane: the second column shows nothing, not an instant at 10
    timeline = timeline_of_intervals([0, 4, 0], [10, 4, 5])
    engines = np.array([GEMM, GEMM, MATH], dtype=np.int32)
    timeline = replace(timeline, stages=replace(timeline.stages, engine=engines))
    index = TimelineIndex(timeline, "x")
    row = next(row for row in index.tree.rows if row.is_group)
    found = index.group(row).density(axis(0, 20, 2))
    assert found.begun.tolist() == [2, 0]
    assert found.share.tolist() == [0.75, 0]  # 10 of 10 and 5 of 10


def test_a_group_is_added_up_once_while_it_is_among_those_shown_last(index, monkeypatch):
    groups = Groups(index.lanes, index.timeline.stages.kind)
    row = index.tree.rows[0]
    first = groups.of(row)
    assert groups.of(row) is first
    monkeypatch.setattr(groups, "_kept", LastShown(0))
    assert groups.of(row) is not first


def test_what_was_not_shown_the_longest_goes_first_and_the_newest_never(monkeypatch):
    monkeypatch.setattr(last_shown, "LEAST", 0)
    kept = LastShown(10)
    kept.put("a", 1, 4)
    kept.put("b", 2, 4)
    assert kept.get("a") == 1  # now b is the oldest
    kept.put("c", 3, 4)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (1, None, 3)
    kept.put("d", 4, 100)
    assert (kept.get("a"), kept.get("c"), kept.get("d")) == (None, None, 4)


def test_little_is_kept_in_any_case():
    kept = LastShown(0)
    kept.put("a", 1, 4)
    kept.put("b", 2, 4)
    assert kept.get("a") == 1
