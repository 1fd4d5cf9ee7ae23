"""The walk costs what is in flight: a longer loop costs in proportion, whatever is never waited for."""

import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from kerntape.replay.hazards.potential import check_statically
from kerntape.schemas.trace import Trace

TILE_COMMANDS = 2
CARRIED_HANDLES = 4
"""q, m, l and O: the same in every tile."""


@pytest.fixture(scope="module")
def long_loop(opt2, machine):
    """The decode loop of two slots, so many tiles long, every tile with handles of its own."""
    topology = machine()

    def build(tiles: int) -> Trace:
        short = opt2(2, 2).trace(topology)
        return replace(short, streams=(_repeated(short.streams[0], tiles // 2),))

    return build


def _repeated(stream, times: int):
    """The stream's commands so often; handles past the carried ones are new ones each time."""
    fresh = stream.handle_count - CARRIED_HANDLES
    shifts = np.arange(times, dtype=np.int32)[:, None] * fresh
    slots = np.where(stream.slots < CARRIED_HANDLES, stream.slots, stream.slots + shifts)
    columns = {
        name: np.concatenate([column[:CARRIED_HANDLES], np.tile(column[CARRIED_HANDLES:], times)])
        for name in ("geometries", "addresses", "tensors", "labels")
        for column in [getattr(stream, name)]
    }
    commands = {
        name: np.tile(getattr(stream, name), times) for name in ("forms", "lines", "wait_counts")
    }
    return replace(stream, slots=slots.ravel().astype(np.int32), **columns, **commands)


def test_the_pairs_compared_grow_with_the_loop_and_not_with_its_square(
    long_loop, machine, policies
) -> None:
    counts = [
        check_statically(long_loop(tiles), machine(), policies["none"]).pairs_checked
        for tiles in (100, 200, 300)
    ]
    # in the steady state a composite is compared with the 7 before it that may be in flight
    assert {b - a for a, b in pairwise(counts)} == {100 * TILE_COMMANDS * 7}


@pytest.mark.slow
def test_1_3_million_commands_are_checked_within_a_minute(long_loop, machine, policies) -> None:
    trace = long_loop(650_000)
    assert trace.command_count == 1_300_000
    started = time.process_time()
    checked = check_statically(trace, machine(), policies["strict_fifo"])
    assert time.process_time() - started < 60
    assert len(checked.hazards) == 0
