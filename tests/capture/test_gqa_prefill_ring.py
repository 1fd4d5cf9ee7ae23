"""gqa_prefill with sequence parallelism: blocks rotate, heads stay, and nobody waits for ever."""

from collections import Counter

import pytest
from kerntape.capture.kernels.groups import head_groups
from kerntape.capture.kernels.prefill_room import Cut
from kerntape.capture.kernels.prefill_shares import PrefillShares
from kerntape.capture.kernels.prefill_steps import steps_of
from kerntape.capture.kernels.ring import ring_seats
from kerntape.replay.hazards.potential import potential_hazards
from kerntape.replay.policy import resolve_policy
from kerntape.replay.replay import replay
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.timeline import Status
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_file import trace_bytes
from kerntape.topologies.loader import resolve_topology
from prefill_captures import (
    RING_OF_EIGHT,
    VARIANTS,
    commands,
    messages,
    prefilled,
    score_composites,
)

# -- results

# every ring; queries, slices and blocks that divide nothing; PEs without queries, CUBEs without keys
SHAPES = [
    {"g": 2, "c": 2, "s_kv": 32},
    {"g": 2, "c": 2, "s_kv": 33, "p": 2, "heads": 2, "dtype": "bf16"},
    {"g": 4, "c": 4, "s_kv": 45, "p": 3, "dtype": "f16"},
    {"g": 8, "c": 8, "s_kv": 64, "p": 2},
    {"g": 8, "c": 8, "s_kv": 61, "block": 5, "chunk": 40, "tile": 4},
    {"g": 2, "c": 2, "s_kv": 50, "block": 10, "dtype": "bf16"},
    {"g": 2, "c": 2, "s_kv": 50, "chunk": 7, "block": 9, "p": 2},
    {"g": 2, "c": 2, "s_kv": 50, "chunk": 16, "slots": 3, "overlap": 0},
    # a part of a prompt against a longer past, and with keys that nobody sees
    {"g": 4, "c": 4, "s_kv": 70, "t_q": 13, "p": 2, "dtype": "f16"},
    {"g": 4, "c": 4, "s_kv": 70, "t_q": 20, "q_start": 11, "p": 2},
    {"g": 4, "c": 4, "s_kv": 70, "t_q": 9, "q_start": 0, "p": 4},
    {"g": 2, "c": 2, "s_kv": 40, "t_q": 1},
    # fewer keys than CUBEs, one token
    {"g": 4, "c": 4, "s_kv": 3},
    {"g": 8, "c": 8, "s_kv": 1, "p": 4},
    # fewer queries than PEs: the keys of a CUBE are split, its PEs reduce
    {"g": 2, "c": 2, "s_kv": 40, "t_q": 1, "p": 4},
    {"g": 4, "c": 4, "s_kv": 43, "t_q": 3, "p": 4, "dtype": "bf16", "heads": 2},
    {"g": 2, "c": 2, "s_kv": 43, "t_q": 2, "q_start": 2, "p": 3, "block": 2, "chunk": 1},
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: " ".join(map(str, shape.values())))
def test_every_variant_is_right_ends_and_cannot_go_wrong(variant: str, shape: dict[str, object]):
    result = prefilled(variant=variant, with_data=True, **shape)
    assert result.outputs["o"].is_right, result.outputs["o"]
    assert replay(result.trace).status is Status.OK
    assert len(potential_hazards(result.trace, RING_OF_EIGHT, resolve_policy("strict_fifo"))) == 0


def test_llamas_own_dimensions_on_a_ring():
    sizes = {"g": 8, "c": 8, "p": 1, "d": 128, "tile": 64, "dtype": "bf16", "s_kv": 200, "t_q": 70}
    assert prefilled(resolve_topology("ahbm_2sip"), with_data=True, **sizes).outputs["o"].is_right


def test_queries_that_see_nothing_of_their_own_slice_are_right():
    # CUBE 1 begins with keys 8 … 15, of which queries 0 … 7 of the chunk see none
    output = prefilled(with_data=True, c=2, s_kv=16, chunk=16).outputs["o"]
    assert output.max_abs_err is not None
    assert output.max_abs_err < 1e-6


def test_without_data_the_trace_is_the_same_bytes():
    with_data, without = (
        prefilled(with_data=with_data, c=2, p=2, s_kv=45, block=8).trace
        for with_data in (True, False)
    )
    assert trace_bytes(with_data) == trace_bytes(without)


# -- what moves


@pytest.mark.parametrize(("g", "sends"), [(2, 1), (4, 3), (8, 7)])
def test_each_of_k_and_v_is_sent_one_time_less_than_there_are_cubes(g: int, sends: int):
    trace = prefilled(g=g, c=g, p=2, s_kv=64).trace
    in_a_group = [pe for pe in range(len(trace.pes)) if commands(trace, pe)]
    assert len(in_a_group) == 2 * g
    for pe in in_a_group:
        moved = Counter(line.rpartition(" ")[2] for line in messages(trace, pe) if line[0] == ">")
        assert moved == {"K": sends, "V": sends}


def test_a_block_turns_fully_before_the_next_and_all_turn_for_each_chunk():
    # slices of 16 keys in blocks of 8, 32 queries in chunks of 16: 2 · 2 turns of one hop
    trace = prefilled(c=2, s_kv=32, block=8, chunk=16).trace
    turn = ["< cube_E K", "< cube_E V", "> cube_E K", "> cube_E V"]
    assert messages(trace, pe=0) == 4 * turn
    # what a PE loads from its own HBM: q, then K and V once a turn
    loads = [
        command.handles[1].label
        for command in commands(trace, pe=0)
        if command.kind is CommandKind.LOAD
    ]
    assert Counter(loads) == {"K": 4, "V": 4, "loaded": 2}


def test_blocks_without_keys_are_not_sent():
    # 9 of 70 keys are seen by any query, slices are of 18: only CUBE 0 has keys, and it is passed on
    # along the ring 0 → 1 → 3 → 2
    trace = prefilled(g=4, c=4, s_kv=70, t_q=9, q_start=0).trace
    moved = [Counter(line[0] for line in messages(trace, pe)) for pe in range(len(trace.pes))]
    by_member = [moved[cube] for cube in (0, 1, 4, 5)]
    assert by_member == [{">": 2}, {"<": 2, ">": 2}, {"<": 2}, {"<": 2, ">": 2}]


def test_pe_p_only_talks_to_pe_p_of_the_next_cubes_and_nothing_is_reduced():
    trace = prefilled(g=8, c=8, p=4, s_kv=64).trace
    directions = {line.split()[1] for pe in range(32) for line in messages(trace, pe)}
    assert directions == {"cube_E", "cube_W", "cube_N", "cube_S"}


def test_receives_are_posted_and_the_block_sent_before_it_is_computed_on():
    trace = prefilled(c=2, s_kv=16, variant="opt2").trace
    recorded = [
        command.kind.name.lower()
        for command in commands(trace, pe=1)
        if command.kind not in (CommandKind.MATH, CommandKind.LOAD, CommandKind.STORE)
    ]
    # step 0: keys 8 … 15 · step 1: keys 0 … 7; a tile each
    assert recorded == [
        *("wait", "recv_async", "recv_async", "send", "send", "composite", "composite"),
        *("wait", "wait", "composite", "composite", "wait"),
    ]


def test_without_overlap_the_next_block_is_fetched_when_this_one_is_done():
    trace = prefilled(c=2, s_kv=16, variant="opt2", overlap=0).trace
    recorded = [
        command.kind.name.lower()
        for command in commands(trace, pe=1)
        if command.kind not in (CommandKind.MATH, CommandKind.LOAD, CommandKind.STORE)
    ]
    assert recorded == [
        *("wait", "composite", "composite"),
        *("wait", "recv_async", "recv_async", "send", "send"),
        *("wait", "wait", "composite", "composite", "wait"),
    ]


def test_two_parts_of_the_scratch_take_turns():
    trace = prefilled(g=4, c=4, s_kv=32).trace
    arrived = [
        command.handles[-1].address
        for command in commands(trace)
        if command.kind is CommandKind.RECV_ASYNC and command.handles[-1].label == "K"
    ]
    loaded = next(
        command.handles[1].address
        for command in commands(trace)
        if command.kind is CommandKind.LOAD and command.handles[1].label == "K"
    )
    assert [loaded, *arrived] == 2 * [loaded, arrived[0]]
    assert loaded != arrived[0]


# -- what is computed where


def test_a_cube_skips_28_of_its_64_steps():
    groups = head_groups(resolve_topology("ahbm_2sip"), heads=1, cubes=8, pes=8)
    shares = PrefillShares(groups, group=8, queries=range(512), s_kv=512)
    seats = ring_seats(groups.topology, groups.shape)
    cut = Cut(chunk=64, tile=8, block=64)
    for member in range(8):
        steps = [steps_of(shares, (member, pe), seats[member].sources, cut) for pe in range(8)]
        # PE p has the queries of slice p, and sees nothing of the slices after it
        skipped = [sum(not step.tiles(cut.tile) for step in each) for each in steps]
        assert skipped == [7, 6, 5, 4, 3, 2, 1, 0]
        assert [len(each) for each in steps] == 8 * [8]


def test_skipped_steps_and_tiles_are_not_in_the_trace():
    # PE p of 4 sees slices 0 … p of 8 keys, one chunk of 8 queries: p + 1 tiles, wherever it is
    trace = prefilled(g=4, c=4, p=4, s_kv=32).trace
    tiles = [len(score_composites(trace, pe)) for pe in range(len(trace.pes))]
    in_a_group = [0, 1, 4, 5]
    assert [tiles[4 * cube : 4 * cube + 4] for cube in in_a_group] == 4 * [[1, 2, 3, 4]]


def stores(trace: Trace) -> dict[int, list[tuple[int, int]]]:
    """By PE that stores: the shape of its part of o."""
    found: dict[int, list[tuple[int, int]]] = {}
    for pe in range(len(trace.pes)):
        for command in commands(trace, pe):
            if command.kind is CommandKind.STORE:
                found.setdefault(pe, []).append(command.handles[1].geometry.shape)
    return found


def test_every_cube_stores_its_own_head_and_its_pes_their_own_queries():
    # 2 CUBEs of 4 PEs, 30 queries of one head each: 8 + 8 + 8 + 6
    shapes = [[(8, 16)], [(8, 16)], [(8, 16)], [(6, 16)]]
    assert stores(prefilled(c=2, p=4, s_kv=30).trace) == dict(enumerate(2 * shapes))


def test_both_gemms_of_every_tile_are_composites():
    trace = prefilled(c=2, s_kv=32).trace
    gemms = [command.kind for command in commands(trace) if "gemm" in command.op_kinds]
    assert gemms == 2 * len(score_composites(trace)) * [CommandKind.COMPOSITE]


def test_the_pes_of_a_cube_reduce_only_where_there_are_fewer_queries_than_pes():
    split = prefilled(c=2, p=4, s_kv=40, t_q=3).trace
    ways = [line.rpartition(" ")[0] for pe in range(8) for line in messages(split, pe)]
    # 2×2 PEs, the root is PE 1: 2 → 0, 3 → 1, then 0 → 1; m, l and O each, in both CUBEs
    assert Counter(way for way in ways if "cube" not in way) == {
        "> N": 12,
        "< S": 12,
        "> E": 6,
        "< W": 6,
    }
    assert stores(split) == {1: [(3, 16)], 5: [(3, 16)]}


def test_alike_pes_share_a_stream():
    # 4 CUBEs of 2 PEs, and with one head the idle PEs between them
    one, two = (prefilled(g=4, c=4, p=2, s_kv=40, heads=heads).trace for heads in (1, 2))
    assert len(one.streams) == 8 + 1
    assert len(two.streams) == 8


# -- replay


@pytest.mark.parametrize("variant", VARIANTS)
def test_fetching_the_next_block_while_this_one_is_computed_on_gains(variant: str):
    def makespan(overlap: int) -> int:
        sizes = {"g": 4, "c": 4, "p": 2, "s_kv": 64, "d": 64}
        return int(replay(prefilled(variant=variant, overlap=overlap, **sizes).trace).end_ps.max())

    assert makespan(1) < makespan(0)


@pytest.mark.parametrize("overlap", [0, 1])
@pytest.mark.parametrize("name", ["ahbm_2sip", "llama70b_4sip"])
def test_blocks_far_longer_than_a_queue_rotate_on_the_shipped_machines(name: str, overlap: int):
    # K and V of 512 keys are 128 KiB each, 32 fragments; a queue has 8 slots
    sizes = {"g": 8, "c": 8, "d": 128, "tile": 64, "dtype": "bf16", "s_kv": 4096, "t_q": 32}
    trace = prefilled(resolve_topology(name), overlap=overlap, **sizes).trace
    sent = [
        command.handles[0].geometry.size_bytes
        for command in commands(trace)
        if command.kind is CommandKind.SEND
    ]
    assert sent == 14 * [131072]
    assert replay(trace).status is Status.OK


def test_a_scheduler_that_ends_each_command_before_the_next_deadlocks():
    # a receive that was posted must have ended before the send after it begins, on every PE
    timeline = replay(prefilled(c=2, s_kv=16).trace, policy="serial")
    assert timeline.status is Status.DEADLOCK


# -- refusals


def test_a_group_without_a_ring_is_refused():
    with pytest.raises(ConfigError) as error:
        prefilled(g=3, c=3, s_kv=30)
    assert str(error.value) == (
        "gqa_prefill: c must be the size of a rectangle that tiles the SIP's 4×2 CUBEs and has a"
        " ring of one-hop steps, not 3"
    )
