"""A lane's stages in the order of their starts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.schemas.stages import Block, Engine
from kerntape.viewer.model import lanes as lanes_module
from kerntape.viewer.model.lane import Lane
from kerntape.viewer.model.lanes import Lanes, engine_title, lane_rank, use_title
from kerntape.viewer.model.tones import Paint
from timeline_builder import GEMM, TCM, timeline_of_intervals


def lane(*intervals, ids=None):
    starts = np.array([start for start, _ in intervals], dtype=np.int64)
    ends = np.array([end for _, end in intervals], dtype=np.int64)
    numbers = np.arange(len(intervals)) if ids is None else ids
    return Lane(
        np.array(numbers, np.int32), starts, ends, np.full(len(intervals), Paint.GEMM, np.int16)
    )


def test_a_lane_is_in_the_order_of_starts_then_stage_ids():
    timeline = timeline_of_intervals([30, 10, 10, 0], [40, 20, 10, 10])
    lanes = Lanes(timeline)
    assert lanes.lane(GEMM).ids.tolist() == [3, 1, 2, 0]
    assert lanes.count(GEMM) == 4
    assert lanes.count(TCM) == 0
    assert len(lanes.lane(TCM)) == 0


def test_stages_that_run_at_once_cover_their_time_once():
    # 0–10 and 5–20 and 12–15: covered are 0–10, 10–20 and nothing more
    overlapping = lane((0, 10), (5, 20), (12, 15))
    assert overlapping.covered.tolist() == [0, 10, 20]
    assert overlapping.covered_ends.tolist() == [10, 20, 20]
    assert overlapping.busy_ps == 20


def test_a_stage_is_found_among_many_that_start_at_once():
    crowded = lane(*[(5, 5)] * 100_000, ids=range(0, 200_000, 2))
    assert crowded.position(123_456, 5) == 61_728
    assert crowded.position(0, 4) == 0
    assert crowded.position(0, 6) == 100_000


@pytest.mark.parametrize(
    ("time_ps", "position"),
    [
        (0, 0),  # before the first
        (10, 0),  # as it starts
        (19, 0),
        (22, 0),  # 2 after the first, 8 before the second
        (25, 0),  # as far from both: the earlier one
        (26, 1),
        (35, 1),
        (99, 1),
    ],
)
def test_the_nearest_stage_is_the_one_that_runs_or_else_the_closest(time_ps, position):
    assert lane((10, 20), (30, 40)).nearest(time_ps) == position


def test_lanes_follow_the_way_of_the_data_and_strangers_come_last():
    engines = [
        Engine(Block.PE_IPCQ, 0, "send", True),
        Engine(Block.PE_GEMM, 0, "", True),
        Engine(Block.PE_DMA, 0, "write", True),
        Engine(Block.HBM, 0, "", True),
        Engine(Block.PE_CPU, 0, "", False),
        Engine(Block.PE_DMA, 0, "read", True),
    ]
    titles = [engine_title(engine) for engine in sorted(engines, key=lane_rank)]
    assert titles == ["CPU", "HBM", "DMA read", "GEMM", "DMA write", "IPCQ send"]


@st.composite
def timelines(draw):
    """Stages of some engines, in any order and overlapping as they like."""
    engine = draw(st.lists(st.integers(0, 7), max_size=40))
    starts = draw(st.lists(st.integers(0, 30), min_size=len(engine), max_size=len(engine)))
    lengths = draw(st.lists(st.integers(0, 10), min_size=len(engine), max_size=len(engine)))
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    timeline = timeline_of_intervals(starts, ends)
    stages = replace(timeline.stages, engine=np.array(engine, dtype=np.int32))
    return replace(timeline, stages=stages)


def naive(timeline, lane):
    """(id, start, end) of a lane's stages, by brute force."""
    ids = [i for i, engine in enumerate(timeline.stages.engine.tolist()) if engine == lane]
    ids.sort(key=lambda i: (int(timeline.start_ps[i]), i))
    return [(i, int(timeline.start_ps[i]), int(timeline.end_ps[i])) for i in ids]


@given(timelines())
def test_every_lane_is_in_the_order_of_starts_then_stage_ids(timeline):
    lanes = Lanes(timeline)
    for number in range(len(lanes)):
        one = lanes.lane(number)
        columns = (one.ids.tolist(), one.starts.tolist(), one.ends.tolist())
        assert list(zip(*columns, strict=True)) == naive(timeline, number)
        assert lanes.count(number) == len(one)


@given(timelines(), st.integers(1, 50), st.permutations(range(8)))
def test_lanes_gone_through_a_few_at_a_time_are_what_is_seen_of_each(timeline, at_a_time, wanted):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lanes_module, "STAGES_A_RUN", at_a_time)
        lanes = Lanes(timeline)
        seen = []
        for run in lanes.runs(wanted):
            bounds = zip(run.offsets[:-1].tolist(), run.offsets[1:].tolist(), strict=True)
            busy = run.busy_ps.tolist()
            for number, (first, past), busy_ps in zip(
                run.lanes.tolist(), bounds, busy, strict=True
            ):
                one = lanes.lane(number)
                seen_there = (one.covered == one.starts) | (one.covered < one.covered_ends)
                assert run.ids[first:past].tolist() == one.ids[seen_there].tolist()
                assert run.covered[first:past].tolist() == one.covered[seen_there].tolist()
                ends = one.covered_ends[seen_there]
                assert run.covered_ends[first:past].tolist() == ends.tolist()
                assert busy_ps == one.busy_ps
                seen.append(number)
    assert seen == [number for number in wanted if lanes.count(number)]


def test_of_the_longest_timeline_one_lane_at_a_time_is_gone_through():
    timeline = timeline_of_intervals([0, 5], [2**62, 6])
    stages = replace(timeline.stages, engine=np.array([0, 1], dtype=np.int32))
    runs = list(Lanes(replace(timeline, stages=stages)).runs([0, 1]))
    assert [run.lanes.tolist() for run in runs] == [[0], [1]]
    assert [run.busy_ps.tolist() for run in runs] == [[2**62], [1]]


def test_a_link_is_named_by_its_level_where_links_are_added_up():
    assert use_title(Engine(Block.NOC, -1, "cube.0>1", True)) == "NOC cube"
    assert use_title(Engine(Block.PE_DMA, 3, "read", True)) == "DMA read"
