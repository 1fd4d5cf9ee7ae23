"""gqa_decode's messages: exactly those of the static tree, on links that are short enough."""

from collections import Counter

import pytest
from decode_captures import commands, decoded, directions, messages, stored_by
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.topology import Level
from kerntape.schemas.trace import Trace
from kerntape.topologies.loader import resolve_topology

MACHINE = resolve_topology("llama70b_4sip")


def test_the_messages_are_exactly_those_of_the_static_tree():
    trace = decoded(c=8, p=8, heads=2, s_kv=1024).trace
    within = {
        0: ["< S", "> E"],
        1: ["< S", "< W", "> E"],
        2: ["< S", "< E", "< W"],
        3: ["< S", "> W"],
        **{pe: ["> N"] for pe in (4, 5, 6, 7)},
    }
    between = {
        0: ["> cube_E"],
        1: ["< cube_W", "> cube_E"],
        2: ["< cube_E", "< cube_W", "< cube_S"],
        3: ["> cube_W"],
        4: ["> cube_E"],
        5: ["< cube_W", "> cube_E"],
        6: ["< cube_E", "< cube_W", "> cube_N"],
        7: ["> cube_W"],
    }
    for group in range(2):
        for cube in range(8):
            for pe in range(8):
                expected = within[pe] + (between[cube] if pe == 2 else [])
                assert directions(trace, (group * 8 + cube) * 8 + pe) == expected


def test_a_state_is_three_messages_in_f32():
    trace = decoded(p=2, s_kv=64, dtype="bf16").trace
    assert messages(trace, 0) == ["> E m", "> E l", "> E O"]
    sends = [command for command in commands(trace, 0) if command.kind is CommandKind.SEND]
    assert [send.handles[0].geometry.shape for send in sends] == [(2,), (2,), (2, 16)]
    assert {send.handles[0].geometry.dtype for send in sends} == {"f32"}


def critical_rounds(trace: Trace) -> int:
    """The round in which the last merge is done, at one state a round and rank."""
    said = {entry.rank: directions(trace, pe) for pe, entry in enumerate(trace.pes)}

    def sent_at(rank: int) -> int:
        done = 0
        for way, direction in (each.split() for each in said[rank]):
            if way == "<":
                done = max(done, sent_at(MACHINE.peer(rank, direction))) + 1
        return done

    return max(sent_at(rank) for rank in said)


@pytest.mark.parametrize(
    ("ways", "rounds"),
    [
        ({"c": 1, "p": 8}, 3),  # ⌈log₂ 8⌉
        ({"c": 8, "p": 1}, 3),  # ⌊4/2⌋ + ⌊2/2⌋
        ({"c": 8, "p": 8}, 6),
        ({"c": 4, "p": 4}, 4),
        ({"c": 16, "p": 8}, 7),
        ({"c": 8, "p": 8, "reduce_pe": "chain", "reduce_cube": "chain"}, 14),
        ({"c": 8, "p": 8, "reduce_pe": "ring", "reduce_cube": "ring"}, 8),
    ],
)
def test_the_reduction_takes_log2_of_p_and_the_depth_of_c_rounds(ways: dict, rounds: int):
    assert critical_rounds(decoded(s_kv=2048, **ways).trace) == rounds


@pytest.mark.parametrize("reduce_pe", ["tree", "chain", "ring"])
@pytest.mark.parametrize("reduce_cube", ["centre", "chain", "ring"])
def test_every_way_moves_each_ranks_state_once_and_one_rank_stores(
    reduce_pe: str, reduce_cube: str
):
    trace = decoded(c=8, p=8, s_kv=512, reduce_pe=reduce_pe, reduce_cube=reduce_cube).trace
    said = Counter(each.split()[0] for pe in range(64) for each in directions(trace, pe))
    assert said == {">": 63, "<": 63}
    assert len(stored_by(trace)) == 1


def test_cube_roots_alone_cross_cubes_and_nobody_leaves_the_sip():
    trace = decoded(c=8, p=8, heads=4, s_kv=64).trace
    levels = {
        (pe % 8, MACHINE.directions[direction].level)
        for pe in range(256)
        for direction in (each.split()[1] for each in directions(trace, pe))
    }
    assert {level for _, level in levels} == {Level.PE, Level.CUBE}
    assert {pe for pe, level in levels if level is Level.CUBE} == {2}


def test_ranks_without_tokens_send_only_what_others_had():
    # one token, on PE 0 of CUBE 0: along 0 → 1 → 2, then CUBES 0 → 1 → 2
    trace = decoded(c=8, p=8, s_kv=1).trace
    said = {pe: directions(trace, pe) for pe in range(64)}
    assert {pe: found for pe, found in said.items() if found} == {
        0: ["> E"],
        1: ["< W", "> E"],
        2: ["< W", "> cube_E"],
        8 + 2: ["< cube_W", "> cube_E"],
        16 + 2: ["< cube_W"],
    }
    assert stored_by(trace) == [16 + 2]
    merging = [
        pe for pe in range(64) for each in commands(trace, pe) if "exp_diff" in each.op_kinds[:1]
    ]
    assert merging == []


def test_a_send_comes_right_after_the_sweep_and_the_last_merge():
    # no barrier: after its last math command a rank issues nothing but its three sends
    trace = decoded(c=8, p=8, s_kv=1024, variant="opt1").trace
    for pe in range(64):
        kinds = [command.kind for command in commands(trace, pe)]
        if CommandKind.SEND in kinds:
            assert kinds[-3:] == [CommandKind.SEND] * 3
            assert CommandKind.SEND not in kinds[:-3]
            assert CommandKind.WAIT not in kinds
