"""A lane's stages in the order of their starts."""

import numpy as np
import pytest
from kerntape.schemas.stages import Block, Engine
from kerntape.viewer.model.lanes import Lane, Lanes, engine_title, lane_rank
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
    assert sum(part.total_ps for part in overlapping.parts.values()) == 20


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
