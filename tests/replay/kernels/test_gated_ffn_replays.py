"""gated_ffn replayed: safe with two scratch slots, right under every sound policy, weights read when due."""

from functools import cache

import numpy as np
import pytest
from kerntape.capture.capture import capture
from kerntape.replay.check_data.check import check_data
from kerntape.replay.hazards.potential import potential_hazards
from kerntape.replay.policy import resolve_policy
from kerntape.replay.replay import replay
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import KINDS
from kerntape.schemas.stages import StageKind
from kerntape.schemas.timeline import Timeline
from kerntape.schemas.trace import Trace
from kerntape.topologies.loader import resolve_topology

MACHINE = resolve_topology("single_pe")
SOUND = ("strict_fifo", "byte_range", "rw_aware", "serial")


@cache
def trace_of(slots: int = 2) -> Trace:
    """Four tiles, the last of them 8 columns."""
    arguments = {"rows": "5", "d": "96", "hidden": "200", "slots": str(slots)}
    return capture("gated_ffn", MACHINE, arguments, keep_inputs=True).trace


def kinds_possible(slots: int, policy: str) -> set[HazardKind]:
    found = potential_hazards(trace_of(slots), MACHINE, resolve_policy(policy))
    return {KINDS[kind] for kind in found.kind.tolist()}


@pytest.mark.parametrize("policy", SOUND)
def test_no_hazard_is_possible_and_the_result_is_right(policy: str):
    assert kinds_possible(2, policy) == set()
    assert check_data(replay(trace_of(), policy=policy)).right


def test_one_slot_lets_the_next_projections_overwrite_what_is_still_read():
    assert kinds_possible(1, "strict_fifo") == {HazardKind.WAR}
    for policy in ("byte_range", "rw_aware", "serial"):
        assert kinds_possible(1, policy) == set()


def test_under_none_the_result_is_wrong():
    assert not check_data(replay(trace_of(), policy="none")).right


def test_both_runners_agree_on_it():
    by_runner = [replay(trace_of(), runner=runner).end_ps for runner in ("simpy", "compiled")]
    assert np.array_equal(*by_runner)


def read_starts(timeline: Timeline, command: int) -> np.ndarray:
    stages = timeline.stages
    return timeline.start_ps[(stages.command == command) & (stages.kind == StageKind.HBM_READ)]


def test_the_down_projections_weights_are_read_when_the_tile_is_activated():
    timeline = replay(trace_of())
    stages = timeline.stages
    # load, fill, then three composites a tile; the third's first three ops are the activation
    for command in range(4, 14, 3):
        activated = (stages.command == command) & (stages.kind == StageKind.MATH) & (stages.op == 2)
        assert read_starts(timeline, command).min() >= timeline.end_ps[activated].max()
