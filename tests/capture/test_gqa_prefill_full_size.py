"""gqa_prefill at C = P = 8: the lower triangle's steps and tiles in the trace, and 16 Ki tokens."""

from collections import Counter

import pytest
from kerntape.replay.deadlock import find_deadlock
from kerntape.replay.policy import resolve_policy
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.trace import Trace
from kerntape.topologies.loader import resolve_topology
from prefill_captures import commands, prefilled, score_composites

TWO_SIPS = resolve_topology("ahbm_2sip")
RING = {"g": 8, "c": 8, "p": 8}


def tiles_by_pe(trace: Trace) -> list[list[int]]:
    """The K tiles that each PE multiplies with, CUBE by CUBE."""
    counts = [len(score_composites(trace, place)) for place in range(len(trace.pes))]
    return [counts[cube : cube + 8] for cube in range(0, 64, 8)]


@pytest.mark.parametrize("tiles_a_slice", [1, 2])
def test_28_of_the_64_steps_of_a_cube_are_not_in_the_trace_nor_are_their_tiles(tiles_a_slice: int):
    # T_q = S = 64 keys: slices of 8; PE p has the queries of slice p and sees slices 0 … p
    trace = prefilled(TWO_SIPS, s_kv=64, tile=8 // tiles_a_slice, chunk=8, **RING).trace
    for seen in tiles_by_pe(trace):
        assert seen == [tiles_a_slice * steps for steps in range(1, 9)]
        assert 64 - sum(seen) // tiles_a_slice == 28


def test_each_pe_sends_k_and_v_seven_times_a_block_and_posts_as_many_receives():
    trace = prefilled(TWO_SIPS, s_kv=64, block=4, chunk=8, **RING).trace
    for place in range(len(trace.pes)):
        moved = Counter(
            (command.kind, command.handles[-1].label)
            for command in commands(trace, place)
            if command.kind in (CommandKind.SEND, CommandKind.RECV_ASYNC)
        )
        # slices of 8 keys turn in two blocks of 4
        assert moved == {
            (kind, label): 2 * 7
            for kind in (CommandKind.SEND, CommandKind.RECV_ASYNC)
            for label in "KV"
        }


def test_every_cube_stores_its_own_head_and_nothing_is_reduced():
    trace = prefilled(TWO_SIPS, s_kv=64, **RING).trace
    stored = [
        command.handles[1].geometry.shape
        for place in range(len(trace.pes))
        for command in commands(trace, place)
        if command.kind is CommandKind.STORE
    ]
    # 64 PEs, 8 queries of 16 wide each: 8 heads of 64 queries
    assert stored == 64 * [(8, 16)]
    kinds = {command.kind for place in range(64) for command in commands(trace, place)}
    assert CommandKind.RECV not in kinds


@pytest.mark.slow
def test_16_ki_tokens_run_on_a_ring_and_cannot_deadlock():
    sizes = {"d": 128, "tile": 64, "dtype": "bf16", "s_kv": 16384}
    trace = prefilled(TWO_SIPS, **RING, **sizes).trace
    for seen in tiles_by_pe(trace):
        # 2048 queries a PE in 4 chunks of 512, which see the tiles up to their last query
        assert seen == [sum(32 * pe + 8 * chunk for chunk in range(1, 5)) for pe in range(8)]
    assert find_deadlock(trace, TWO_SIPS, resolve_policy("strict_fifo")) is None
