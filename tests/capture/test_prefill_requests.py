"""gqa_prefill for several requests: each right, rotated over the ranks, in the memory of one."""

import pytest
from kernel_values import computed, prefill_oracle
from kerntape.capture.capture import capture
from kerntape.capture.kernels.prefill_launch import prefill_groups
from kerntape.capture.kernels.prefill_room import Cut
from kerntape.capture.kernels.prefill_shares import PrefillShares
from kerntape.capture.kernels.prefill_steps import steps_of
from kerntape.capture.kernels.ring import ring_seats
from kerntape.replay.check_data.check import check_data
from kerntape.replay.policy import resolve_policy
from kerntape.replay.replay import prepare, replay
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.handles import Space
from kerntape.schemas.timeline import Status
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_file import trace_bytes
from kerntape.topologies.loader import resolve_topology
from prefill_captures import (
    RING_OF_EIGHT,
    SMALL,
    VARIANTS,
    commands,
    messages,
    prefilled,
    score_composites,
)

# -- results

SHAPES = [
    {"requests": 3, "s_kv": 20},
    {"requests": 3, "p": 4, "s_kv": 37, "heads": 2, "dtype": "bf16"},
    {"requests": 5, "p": 4, "s_kv": 30, "start_pe": 3},
    # a ring: requests 0 and 1 begin at CUBES 0 and 1, request 2 a PE further on
    {"requests": 3, "c": 2, "p": 4, "s_kv": 33, "dtype": "f16"},
    {"requests": 2, "g": 4, "c": 4, "p": 2, "s_kv": 50, "start_cube": 3},
    {"requests": 2, "g": 8, "c": 8, "s_kv": 40, "chunk": 16, "block": 3},
    # slices of which the last are short or empty
    {"requests": 4, "g": 4, "c": 4, "p": 2, "s_kv": 5},
    # fewer queries than PEs: keys are split over the PEs, which reduce
    {"requests": 3, "c": 2, "p": 4, "s_kv": 40, "t_q": 3},
    {"requests": 5, "p": 4, "s_kv": 9, "t_q": 2, "q_start": 4, "dtype": "bf16"},
    {"requests": 3, "p": 4, "s_kv": 6, "t_q": 1, "q_start": 0},
    {"requests": 2, "p": 4, "s_kv": 33, "t_q": 10, "overlap": False, "c": 2},
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: " ".join(map(str, shape.values())))
def test_every_request_agrees_with_attention_row_by_row(variant: str, shape: dict[str, object]):
    sizes = SMALL | {"variant": variant} | shape
    run = computed("gqa_prefill", RING_OF_EIGHT, **sizes)
    s_kv = int(sizes["s_kv"])
    start = int(sizes.get("q_start", s_kv - int(sizes.get("t_q", s_kv))))
    heads, requests = int(sizes.get("heads", 1)), int(sizes["requests"])
    assert len(run.copies) == requests
    for number in range(requests):
        q, k, v = (run.inputs[f"{name}{number}"] for name in "qkv")
        run.check(f"o{number}", prefill_oracle(q, k, v, heads, 16**-0.5, start))


def test_one_request_is_the_same_trace_as_before_there_were_several():
    sizes = {"g": 4, "c": 4, "p": 2, "s_kv": 50}
    one, plain = (prefilled(**sizes, **more).trace for more in ({"requests": 1}, {}))
    assert trace_bytes(one) == trace_bytes(plain)
    assert [tensor.name for tensor in one.header.tensors] == ["q", "k", "v", "o"]


# -- who has what


def shares(start_cube: int, start_pe: int, **more: int) -> PrefillShares:
    groups = prefill_groups(RING_OF_EIGHT, heads=1, cubes=4, pes=4, group=4, sips=1)
    sizes = {"group": 4, "queries": range(16), "s_kv": 16} | more
    return PrefillShares(groups, **sizes, start_cube=start_cube, start_pe=start_pe)


def test_queries_are_counted_from_the_start_pe():
    parts = [shares(0, 3).queries_of(pe) for pe in range(4)]
    assert parts == [range(4, 8), range(8, 12), range(12, 16), range(4)]


def test_slices_are_counted_from_the_start_cube_whatever_the_pe():
    parts = [shares(1, 3).keys_of(member, 2) for member in range(4)]
    assert parts == [range(12, 16), range(4), range(4, 8), range(8, 12)]


def test_split_keys_are_counted_from_both():
    # 2 queries on 4 PEs; 16 keys over 16 ranks from CUBE 1, PE 2: one each, as 16 are seen
    split = shares(1, 2, queries=range(14, 16))
    assert split.keys_are_split
    assert [[len(split.keys_of(cube, pe)) for pe in range(4)] for cube in range(4)] == [[1] * 4] * 4
    assert split.keys_of(1, 2) == range(1)
    assert split.keys_of(1, 3) == range(1, 2)
    assert split.keys_of(2, 0) == range(6, 7)
    assert split.keys_of(0, 1) == range(15, 16)


def test_the_longest_slice_decides_how_often_a_ring_turns():
    # 9 keys over 4 CUBES: 3, 3, 3, 0; from CUBE 1 the empty one is CUBE 0's
    short = shares(1, 0, s_kv=9, queries=range(9))
    assert len(short.keys_of(0, 0)) == 0
    assert short.most_keys(0) == 3
    seats = ring_seats(RING_OF_EIGHT, short.groups.shape)
    for member in range(4):
        steps = steps_of(short, (member, 0), seats[member].sources, Cut(chunk=3, tile=8, block=2))
        assert len(steps) == 2 * 4  # two turns of four steps


def test_requests_begin_a_cube_further_each_and_then_a_pe():
    trace = prefilled(c=2, p=4, s_kv=64, requests=3).trace
    placements = {tensor.name: tensor.placement for tensor in trace.header.tensors}
    assert [placements[f"v{number}"] for number in range(3)] == [
        "axis 0 over CUBEs of a group, axis 1 over KV heads",
        "axis 0 over CUBEs from cube 1 of a group, axis 1 over KV heads",
        "axis 0 over CUBEs of a group, axis 1 over KV heads",
    ]
    assert [placements[f"q{number}"] for number in range(3)] == [
        "axis 1 over query heads, axis 0 over pe",
        "axis 1 over query heads, axis 0 over pe",
        "axis 1 over query heads, axis 0 over pe from 1",
    ]


# -- what it costs


def test_rotation_evens_out_what_causality_leaves_to_the_last_pe():
    def tiles(**more: int) -> list[int]:
        trace = prefilled(p=4, s_kv=32, **more).trace
        return [len(score_composites(trace, pe)) for pe in range(4)]

    assert tiles() == [1, 2, 3, 4]
    # request r of 4 has its first queries on PE r: everybody has each part once
    assert tiles(requests=4) == [10, 10, 10, 10]


def test_four_rotated_requests_take_less_than_four_times_one():
    machine = resolve_topology("one_cube")
    sizes = {"g": 4, "d": 64, "tile": 32, "p": 4, "s_kv": 256}
    one, four = (
        int(replay(prefilled(machine, requests=requests, **sizes).trace).end_ps.max())
        for requests in (1, 4)
    )
    # 10/4 of the last PE's 4 tiles a chunk: 62.5 % of four times one, and no two wait for each other
    assert four < 0.7 * 4 * one


def persistent(trace: Trace) -> int:
    """Bytes of the TCM's persistent part that PE 0 uses."""
    boundary = RING_OF_EIGHT.pe.tcm_bytes - RING_OF_EIGHT.pe.scratch_bytes
    return max(
        handle.address + handle.geometry.size_bytes
        for command in commands(trace)
        for handle in command.handles
        if handle.geometry.space is Space.TCM and handle.address < boundary
    )


@pytest.mark.parametrize("sizes", [{"p": 4, "s_kv": 64}, {"c": 2, "p": 2, "s_kv": 64}])
def test_requests_take_turns_in_the_memory_of_one(sizes: dict[str, int]):
    assert persistent(prefilled(requests=6, **sizes).trace) == persistent(prefilled(**sizes).trace)


def test_the_messages_of_the_requests_follow_each_other():
    # two CUBEs, one PE: K and V to the other one, and from it, for each request
    once = messages(prefilled(c=2, s_kv=16).trace)
    assert messages(prefilled(c=2, s_kv=16, requests=3).trace) == once * 3
    assert once == ["< cube_E K", "< cube_E V", "> cube_E K", "> cube_E V"]


def test_a_mask_is_made_once_for_all():
    trace = prefilled(p=4, s_kv=64, requests=4).trace
    made = [command for command in commands(trace) if "where" in command.op_kinds]
    assert len(made) == 1


@pytest.mark.parametrize("policy", ["none", "rw_handles", "strict_fifo", "byte_range", "rw_aware"])
def test_rings_one_after_the_other_end_on_the_shortest_queues(policy: str):
    trace = prefilled(g=4, c=4, p=4, s_kv=64, requests=5).trace
    assert replay(trace, policy=policy).status is Status.OK


SPLIT_KEYS = {"c": 2, "p": 4, "t_q": 2, "s_kv": 40, "requests": 3}
"""Fewer queries than PEs: most PEs send their state on, and begin the next request in its place."""


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("more", [{}, {"c": 1}, {"s_kv": 3}], ids=str)
def test_a_request_does_not_begin_in_a_state_that_is_still_being_sent(
    variant: str, more: dict[str, int]
):
    trace = prefilled(variant=variant, **(SPLIT_KEYS | more)).trace
    assert len(prepare(trace, RING_OF_EIGHT, resolve_policy("strict_fifo")).potential) == 0


def test_requests_are_right_however_slow_the_queues_are():
    sizes = {name: str(value) for name, value in (SMALL | SPLIT_KEYS).items()}
    trace = capture("gqa_prefill", RING_OF_EIGHT, sizes, keep_inputs=True).trace
    slow = [f"{rate}=0.01" for rate in ("noc.pe_link_bytes_per_ns", "ipcq.copy_bytes_per_ns")]
    assert check_data(replay(trace, settings=slow)).right


def test_every_pe_stores_its_part_of_every_request():
    trace = prefilled(c=2, p=2, s_kv=20, requests=3).trace
    stores = [
        sum(command.kind is CommandKind.STORE for command in commands(trace, pe))
        for pe in range(len(trace.pes))
    ]
    assert stores == [3] * 4


# -- arguments


# of the 2 heads of 16 of SMALL in f32, 20 keys each: q and o 2560 bytes, k and v 1280, all aligned
ONE_PE_BYTES = 2 * 2560 + 2 * 1280


def with_hbm(hbm_bytes: int) -> Topology:
    pe = RING_OF_EIGHT.pe.model_copy(update={"hbm_bytes": hbm_bytes})
    return RING_OF_EIGHT.model_copy(update={"pe": pe})


@pytest.mark.parametrize("spare", [0, ONE_PE_BYTES - 1])
def test_as_many_requests_as_one_pes_hbm_holds_are_taken_and_one_more_is_not(spare: int):
    machine = with_hbm(3 * ONE_PE_BYTES + spare // 64 * 64)
    assert len(prefilled(machine, s_kv=20, requests=3).trace.header.tensors) == 12
    with pytest.raises(ConfigError) as error:
        prefilled(machine, s_kv=20, requests=4)
    assert str(error.value) == (
        "gqa_prefill: requests must be from 1 to 3 (what the HBM of 1 PE has room for), not 4"
    )


def test_the_pes_of_a_group_hold_as_many_requests_as_their_hbm_together():
    # a query each on 4 PEs, 2 keys on each of 2 CUBEs: q and o 64 bytes, k and v 128, on each PE
    sizes = {"c": 2, "p": 4, "s_kv": 4}
    machine = with_hbm(8 * (2 * 64 + 2 * 128))
    assert len(prefilled(machine, requests=8, **sizes).trace.header.tensors) == 32
    with pytest.raises(ConfigError) as error:
        prefilled(machine, requests=9, **sizes)
    assert str(error.value) == (
        "gqa_prefill: requests must be from 1 to 8 (what the HBM of 8 PEs has room for), not 9"
    )


def test_where_keys_are_split_the_roots_hold_o_and_the_others_none():
    # 2 queries for each PE, 128 bytes, a key on each, 64 bytes each of k and v, o on 2 of 8 PEs
    machine = with_hbm((8 * (128 + 64 + 64) + 2 * 128) // 8)
    with pytest.raises(ConfigError) as error:
        prefilled(machine, c=2, p=4, s_kv=8, t_q=2, requests=2)
    assert str(error.value) == (
        "gqa_prefill: requests must be from 1 to 1 (what the HBM of 8 PEs has room for), not 2"
    )


def test_a_request_that_does_not_fit_by_itself_is_told_by_its_tensor():
    with pytest.raises(ConfigError, match="does not fit into the HBM of PE 0"):
        prefilled(with_hbm(ONE_PE_BYTES - 64), s_kv=20)


@pytest.mark.parametrize(
    ("kernel", "request_bytes"),
    [
        ("gqa_decode", 2052 << 10),  # 2 KiB each of q and o and 1 MiB each of k and v
        ("gqa_prefill", 18 << 20),  # 4096 times q and o
    ],
)
def test_requests_without_end_are_refused_before_anything_is_laid_out(
    kernel: str, request_bytes: int
):
    with pytest.raises(ConfigError) as error:
        capture(kernel, resolve_topology("single_pe"), {"requests": str(10**12)}, with_data=False)
    most = (1 << 31) // request_bytes  # of 2 GiB
    assert str(error.value) == (
        f"{kernel}: requests must be from 1 to {most} (what the HBM of 1 PE has room for),"
        " not 1000000000000"
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"requests": 0}, "requests must be at least 1, not 0"),
        ({"start_cube": -1}, "start_cube must be from 0 to 0 (c is 1), not -1"),
        ({"start_cube": 7}, "start_cube must be from 0 to 0 (c is 1), not 7"),
        ({"start_pe": 4, "p": 4}, "start_pe must be from 0 to 3 (p is 4), not 4"),
    ],
)
def test_a_wrong_argument_says_what_it_must_be(arguments: dict[str, object], text: str):
    with pytest.raises(ConfigError) as error:
        prefilled(**arguments)
    assert str(error.value) == f"gqa_prefill: {text}"
