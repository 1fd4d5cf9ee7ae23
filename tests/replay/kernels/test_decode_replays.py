"""gqa_decode over CUBE groups, replayed: no deadlock, no link that it should not cross, and a gain."""

from functools import cache

import numpy as np
import pytest
from decode_captures import VARIANTS, decoded
from kerntape.replay.replay import replay
from kerntape.replay.summary import dma_reads
from kerntape.schemas.hazards import Outcome
from kerntape.schemas.stages import Block, StageKind
from kerntape.schemas.timeline import Status, Timeline
from kerntape.topologies.loader import resolve_topology

MACHINE = resolve_topology("llama70b_4sip")
LLAMA = {"g": 8, "d": 128, "tile": 64, "dtype": "bf16"}


def replayed(policy: str = "strict_fifo", **arguments: object) -> Timeline:
    return replay(decoded(**arguments).trace, policy=policy)


@cache
def llama_on_ranks(c: int, p: int, s_kv: int, **arguments: object) -> Timeline:
    return replayed(c=c, p=p, s_kv=s_kv, **LLAMA, **arguments)


ONE_CUBE = {"p": 8, "s_kv": 256}
GROUP = {"c": 8, "p": 8}
CASES = [
    ("one_cube", {"variant": "opt1", **ONE_CUBE}),
    ("one_cube", {"variant": "opt2", **ONE_CUBE}),
    ("one_cube", {"variant": "opt3", **ONE_CUBE}),
    ("one_cube", {"variant": "opt1", "p": 8, "s_kv": 3}),
    ("ahbm_2sip", {"variant": "opt1", **GROUP, "heads": 4, "s_kv": 512}),
    ("ahbm_2sip", {"c": 2, "p": 8, "heads": 9, "s_kv": 100, "placement": "round_robin"}),
    ("llama70b_4sip", {"variant": "opt2", **GROUP, "heads": 8, "s_kv": 512}),
    ("llama70b_4sip", {"variant": "opt3", **GROUP, "heads": 2, "s_kv": 128, "g": 8, "d": 128}),
    ("llama70b_4sip", {"c": 4, "p": 8, "requests": 4, "s_kv": 300, "reduce_pe": "chain"}),
    ("llama70b_4sip", {"c": 16, "p": 8, "s_kv": 900, "reduce_pe": "ring", "reduce_cube": "ring"}),
    ("llama70b_4sip", {"c": 8, "p": 2, "requests": 40, "s_kv": 1, "reduce_cube": "chain"}),
]


@pytest.mark.parametrize(("topology", "arguments"), CASES, ids=str)
def test_it_replays_without_deadlock_and_without_hazards(
    topology: str, arguments: dict[str, object]
):
    timeline = replayed(topology=topology, **arguments)
    assert timeline.status is Status.OK
    assert timeline.hazards.count(Outcome.VIOLATED) == 0


def test_both_runners_agree_on_it():
    trace = decoded(c=2, p=8, s_kv=100).trace
    by_runner = [replay(trace, runner=runner).end_ps for runner in ("simpy", "compiled")]
    assert np.array_equal(*by_runner)


def test_many_ranks_are_faster_than_one_at_long_context():
    alone, one_cube, group = (llama_on_ranks(c, p, 16384) for c, p in ((1, 1), (1, 8), (8, 8)))
    # 8 and 64 times the ranks, less what the reduction costs
    assert alone.makespan_ps > 6 * one_cube.makespan_ps
    assert alone.makespan_ps > 15 * group.makespan_ps


def test_at_short_context_the_reduction_costs_more_than_more_ranks_gain():
    one_cube, group = (llama_on_ranks(c, 8, 512) for c in (1, 8))
    assert one_cube.makespan_ps < group.makespan_ps


def test_the_tree_is_faster_than_the_chain():
    tree = llama_on_ranks(8, 8, 4096)
    chain = llama_on_ranks(8, 8, 4096, reduce_pe="chain", reduce_cube="chain")
    assert tree.makespan_ps < chain.makespan_ps


def links_crossed(timeline: Timeline) -> set[str]:
    """The levels of the links that carried something."""
    carrying = set(timeline.stages.engine[timeline.stages.kind == StageKind.LINK].tolist())
    return {timeline.engines[number].channel.partition(".")[0] for number in carrying}


def test_no_message_crosses_a_link_between_sips():
    timeline = replayed(c=8, p=8, heads=3, s_kv=64)
    assert {engine.block for engine in timeline.engines} >= {Block.NOC, Block.PE_IPCQ}
    assert links_crossed(timeline) == {"pe", "cube"}
    assert links_crossed(replayed(c=1, p=8, heads=20, s_kv=64)) == {"pe"}
    assert links_crossed(replayed(c=8, p=1, s_kv=64)) == {"cube"}


@pytest.mark.parametrize("variant", VARIANTS)
def test_reads_from_hbm_do_not_grow_with_the_heads_that_share_them(variant: str):
    # 71 rows are three tiles of 32 in M; q's own load is one read whatever its size
    counts = [dma_reads(replayed(c=2, p=2, g=g, s_kv=128, variant=variant))[0] for g in (1, 8, 71)]
    assert len(set(counts)) == 1


def first_start(timeline: Timeline, pe: int, direction: str) -> int:
    """When the PE's first copy into the queue of that direction starts."""
    sends = (timeline.stages.kind == StageKind.SEND) & (timeline.stages.pe == pe)
    return min(
        int(timeline.start_ps[stage])
        for stage in np.flatnonzero(sends)
        if timeline.command_of(int(stage)).form.direction == direction
    )


def test_a_cube_that_is_done_sends_while_another_still_sweeps():
    # 2 CUBEs of 4 PEs, B = 512/8 = 64 tokens a rank, from CUBE 1 on: its four PEs are full, and of
    # CUBE 0 only PE 0 has 32. CUBE 0's root, PE 2, sends before CUBE 1's first leaf does
    timeline = replayed(c=2, p=4, start_cube=1, max_context=512, s_kv=288)
    leaf_of_cube_1 = 4 + 0
    assert first_start(timeline, 2, "cube_E") < first_start(timeline, leaf_of_cube_1, "E")
