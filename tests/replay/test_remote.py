"""Reads and writes of other PEs' HBM: their hops, worked out by hand.

Everything moves 1 byte a ns but the links: between PEs 1/2 (3 ns a hop), between CUBEs 1/4 (7 ns),
between SIPs 1/8 (11 ns). A dispatch takes 10 ns, HBM has a latency of 100 ns. Tensors move 8 f16
elements: 16 bytes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from kerntape.replay.durations import durations
from kerntape.replay.lower import lower, lower_streams
from kerntape.replay.sanity import check_physics
from kerntape.replay.simpy_runner import run
from kerntape.replay.stage_graph import StageGraph
from kerntape.replay.times import Times
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import KerntapeError
from kerntape.schemas.handles import Space
from kerntape.schemas.stages import Block, StageKind
from kerntape.schemas.topology import Topology
from towns import placed, slow_links, town

ROW_OF_3 = town(pes=(3, 1))
Owners = list[list[int]]


@dataclass(frozen=True)
class Timed:
    """A replayed trace; times in ns."""

    graph: StageGraph
    times: Times

    def rows(self, pe: int, *kinds: StageKind) -> list[tuple[str, float, float]]:
        """(engine, start, end) of a PE's stages on engines, in stage order; of some kinds, if named."""
        stages = self.graph.stages
        return [
            (self.engine(stage), self.times.start_ps[stage] / 1000, self.times.end_ps[stage] / 1000)
            for stage in range(len(stages))
            if stages.pe[stage] == pe and (not kinds or stages.kind[stage] in kinds)
        ]

    def engine(self, stage: int) -> str:
        """`hbm@1`, `pe.0>1`, `pe_dma.read`."""
        engine = self.graph.engines[self.graph.stages.engine[stage]]
        if engine.block is Block.HBM:
            return f"hbm@{engine.rank}"
        return engine.channel if engine.block is Block.NOC else engine.title


Replay = Callable[..., Timed]


@pytest.fixture
def replayed(nothing_held: Any) -> Replay:
    """Lowers, times and physics-checks built PEs whose tensors lie with `owners[PE][tensor]`."""

    def replayed(
        machine: Topology, owners: Owners, *builds: Any, ranks: Any = None, **noc: str
    ) -> Timed:
        trace = placed(builds[0].trace(machine, *builds[1:]), owners, ranks)
        graph = lower(trace, machine, nothing_held)
        lasting = durations(graph, slow_links(**noc))
        times = run(graph, lasting)
        check_physics(graph, lasting, times)
        return Timed(graph, times)

    return replayed


def add_load(build: Any, elements: int = 8, tensor: int = 0) -> Any:
    """A load of a tensor's first elements."""
    source = build.handle((elements,), space=Space.HBM, at=0, tensor=tensor)
    build.load(source, build.handle((elements,)))
    return build


def add_store(build: Any) -> Any:
    """A store of 8 elements to tensor 0."""
    build.store(build.handle((8,)), build.handle((8,), space=Space.HBM, at=0))
    return build


# -- one read


def test_a_read_one_hop_away(build, replayed):
    idle = type(build)()
    # the request takes a hop of 3 ns; the link starts a latency after HBM and takes 16 / 0.5 ns; the
    # DMA starts a hop after the link and lasts as long: the link is the narrowest
    assert replayed(ROW_OF_3, [[0], [0]], idle, add_load(build)).rows(1) == [
        ("pe_cpu", 0, 10),
        ("hbm@0", 13, 29),
        ("pe.0>1", 113, 145),
        ("pe_dma.read", 116, 148),
    ]


def test_a_read_two_hops_away_crosses_columns_then_rows(build, replayed):
    mesh = town(pes=(2, 2))
    alone = replayed(mesh, [[0]], add_load(build), ranks={0: 3})
    # the request takes 2 · 3 ns, and every hop lasts 32 ns from the first link on
    assert alone.rows(0) == [
        ("pe_cpu", 0, 10),
        ("hbm@0", 16, 32),
        ("pe.0>1", 116, 148),
        ("pe.1>3", 119, 151),
        ("pe_dma.read", 122, 154),
    ]


def test_a_read_from_another_cube(build, replayed):
    cubes = town(cubes=(2, 1), pes=(2, 1))
    # rank 3 is PE 1 of CUBE 1. Request 7 + 3 ns; the link between CUBEs takes 16 / 0.25 ns, and so do
    # all hops after it, though PEs' links are wider
    assert replayed(cubes, [[0]], add_load(build), ranks={0: 3}).rows(0) == [
        ("pe_cpu", 0, 10),
        ("hbm@0", 20, 36),
        ("cube.0>1", 120, 184),
        ("pe.2>3", 127, 191),
        ("pe_dma.read", 130, 194),
    ]


def test_a_read_from_another_sip(build, replayed):
    sips = town(sips=2, cubes=(2, 1), pes=(2, 1))
    # rank 7 is PE 1 of CUBE 1 of SIP 1. Request 11 + 7 + 3 ns; 16 / 0.125 ns from the SIPs' link on
    assert replayed(sips, [[0]], add_load(build), ranks={0: 7}).rows(0) == [
        ("pe_cpu", 0, 10),
        ("hbm@0", 31, 47),
        ("sip.0>1", 131, 259),
        ("cube.2>3", 142, 270),
        ("pe.6>7", 149, 277),
        ("pe_dma.read", 152, 280),
    ]


def test_a_wider_link_behind_a_narrow_one_carries_what_comes(build, replayed):
    # as across CUBEs, where HBM's 1 byte a ns is the narrowest by far
    cubes = town(cubes=(2, 1), pes=(2, 1))
    wide = replayed(
        *(cubes, [[0]], add_load(build)),
        ranks={0: 3},
        pe_link_bytes_per_ns="8",
        cube_link_bytes_per_ns="2",
    )
    assert wide.rows(0, StageKind.LINK) == [("cube.0>1", 120, 136), ("pe.2>3", 127, 143)]


def test_a_link_before_a_narrow_one_is_not_held_up_by_it(build, replayed):
    # 16 / 1 ns of HBM's on the link between CUBEs, 16 / 0.5 on the PEs' link behind it, in both directions
    cubes = town(cubes=(2, 1), pes=(2, 1))
    wide = {"cube_link_bytes_per_ns": "2"}
    read = replayed(cubes, [[0]], add_load(build), ranks={0: 3}, **wide)
    assert read.rows(0, StageKind.LINK) == [("cube.0>1", 120, 136), ("pe.2>3", 127, 159)]
    written = replayed(cubes, [[0]], add_store(type(build)()), ranks={0: 3}, **wide)
    assert written.rows(0, StageKind.LINK) == [
        ("cube.1>0", 10.001, 26.001),
        ("pe.1>0", 17.001, 49.001),
    ]


def test_the_pes_own_tensors_are_as_near_as_ever(build, replayed):
    add_load(add_load(build, tensor=0), tensor=1)
    # the second load, dispatched at 20, is local: no request, no link
    rows = replayed(ROW_OF_3, [[1, 0]], build).rows(0)
    assert rows[:4] == [
        ("pe_cpu", 0, 10),
        ("hbm@1", 13, 29),
        ("pe.1>0", 113, 145),
        ("pe_dma.read", 116, 148),
    ]
    assert rows[4:] == [("pe_cpu", 10, 20), ("hbm@0", 20, 36), ("pe_dma.read", 148, 164)]


# -- contention


def test_two_readers_of_one_owners_channel_take_turns(build, replayed):
    # both requests are there at 13; PE 0's id is the lesser. Their links are two
    both = replayed(ROW_OF_3, [[1], [1], [1]], add_load(build), *_idle(build), _loading(build))
    assert both.rows(0)[1:] == [
        ("hbm@1", 13, 29),
        ("pe.1>0", 113, 145),
        ("pe_dma.read", 116, 148),
    ]
    assert both.rows(2)[1:] == [
        ("hbm@1", 29, 45),
        ("pe.1>2", 129, 161),
        ("pe_dma.read", 132, 164),
    ]


@pytest.mark.parametrize(
    ("hop_ns", "first", "remote_start", "own_start"),
    [
        # the owner's own read is ready at 13: on a tie the PE of lesser id goes first
        ("3", "remote", 13, 29),
        ("3.001", "own", 29, 13),
    ],
)
def test_the_owners_own_read_is_served_first_if_its_request_is_a_picosecond_earlier(
    build, replayed, hop_ns, first, remote_start, own_start
):
    owner = type(build)()
    owner.overhead(3)
    found = replayed(
        ROW_OF_3, [[1], [1]], add_load(build), add_load(owner), pe_hop_latency_ns=hop_ns
    )
    remote, own = found.rows(0, StageKind.HBM_READ), found.rows(1, StageKind.HBM_READ)
    assert remote == [("hbm@1", remote_start, remote_start + 16)]
    assert own == [("hbm@1", own_start, own_start + 16)]
    assert (remote_start < own_start) is (first == "remote")


def test_an_owner_that_is_not_launched_serves_all_the_same(build, replayed):
    both = replayed(ROW_OF_3, [[1], [1]], add_load(build), _loading(build), ranks={1: 2})
    assert both.rows(0)[1] == ("hbm@1", 13, 29)
    assert both.rows(1)[1] == ("hbm@1", 29, 45)
    channels = [engine.rank for engine in both.graph.engines if engine.block is Block.HBM]
    assert channels == [0, 2, 1]


def test_two_routes_share_their_last_link(build, replayed):
    # from 0 and from 1 to 2: the link 1>2 takes what comes first. The near one is ready at 113; the far
    # one's HBM starts 3 ns later and its second link is ready at 16 + 100 + 3 = 119
    add_load(add_load(build, tensor=0), tensor=1)
    rows = replayed(ROW_OF_3, [[1, 0]], build, ranks={0: 2}).rows(0, StageKind.LINK)
    assert rows == [("pe.1>2", 113, 145), ("pe.0>1", 126, 158), ("pe.1>2", 145, 177)]


def test_a_message_and_a_read_queue_at_the_same_link(build, replayed):
    # PE 0 sends 64 bytes to PE 1: on the link from 10.001 for 128 ns. PE 1 reads 16 bytes of PE 0,
    # whose link is ready at 113 and waits until 138.001
    reader = type(build)()
    build.message(CommandKind.SEND, "E", build.handle((32,)))
    reader.message(CommandKind.RECV_ASYNC, "W", reader.handle((32,)))
    add_load(reader)
    found = replayed(ROW_OF_3, [[0], [0]], build, reader)
    assert found.rows(0, StageKind.LINK) == [("pe.0>1", 10.001, 138.001)]
    # dispatched second, the read is 10 ns later than alone: 20 + 3 + 100
    assert found.rows(1)[3:] == [
        ("hbm@0", 23, 39),
        ("pe.0>1", 138.001, 170.001),
        ("pe_dma.read", 141.001, 173.001),
    ]


def test_a_pe_that_sends_one_way_and_reads_from_the_other_uses_a_link_of_each(build, replayed):
    # PE 1 sends 16 bytes to PE 0, then reads 16 bytes of PE 2: dispatched at 20, 3 ns, 100 ns
    there = type(build)()
    there.message(CommandKind.RECV_ASYNC, "E", there.handle((8,)))
    build.message(CommandKind.SEND, "W", build.handle((8,)))
    found = replayed(ROW_OF_3, [[0], [2]], there, add_load(build))
    assert found.rows(1, StageKind.LINK) == [("pe.1>0", 10.001, 42.001), ("pe.2>1", 123, 155)]


@pytest.mark.parametrize(("elements", "starts"), [(28, 123), (29, 126.001)])
def test_a_link_that_falls_free_in_time_delays_nothing(build, replayed, elements, starts):
    # 4 ns an element: the message leaves the link at 10.001 + 4 · 28 = 122.001, or at 126.001; the read
    # is ready at 123
    reader = type(build)()
    build.message(CommandKind.SEND, "E", build.handle((elements,)))
    reader.message(CommandKind.RECV_ASYNC, "W", reader.handle((elements,)))
    found = replayed(ROW_OF_3, [[0], [0]], build, add_load(reader))
    assert found.rows(1, StageKind.LINK) == [("pe.0>1", starts, starts + 32)]


# -- writes


def test_a_store_one_hop_away_blocks_until_it_knows_of_the_arrival(build, replayed):
    add_store(build).overhead(1)
    # DMA 10–26; the link starts behind its first bytes, 1 ps later, and takes 32 ns; the HBM channel a
    # hop behind. Arrived 100 ns after that, known 3 ns later
    assert replayed(ROW_OF_3, [[1]], build).rows(0) == [
        ("pe_cpu", 0, 10),
        ("pe_dma.write", 10, 26),
        ("pe.0>1", 10.001, 42.001),
        ("hbm@1", 13.001, 45.001),
        ("pe_cpu", 148.001, 148.001),
        ("pe_cpu", 148.001, 149.001),
    ]


def test_a_store_across_sips_and_back(build, replayed):
    sips = town(sips=2, cubes=(2, 1), pes=(2, 1))
    # the way out is SIP, CUBE, PE too: the links of CUBE 1 and PE 1 are those of SIP 1
    rows = replayed(sips, [[7]], add_store(build)).rows(0)
    assert rows[2:] == [
        ("sip.0>1", 10.001, 138.001),
        ("cube.2>3", 21.001, 149.001),
        ("pe.6>7", 28.001, 156.001),
        ("hbm@7", 31.001, 159.001),
        # 100 ns of HBM, 11 + 7 + 3 of the way back
        ("pe_cpu", 280.001, 280.001),
    ]


def test_a_read_and_a_write_cross_different_links(build, replayed):
    add_store(add_load(build))
    found = replayed(ROW_OF_3, [[1]], build)
    assert {row[0] for row in found.rows(0, StageKind.LINK)} == {"pe.1>0", "pe.0>1"}


# -- tile loops


def test_a_composite_streams_its_remote_operand_tile_by_tile(build, replayed):
    # a [4, 8] here, b [8, 4] in PE 1's HBM: two tiles of 16 elements, 32 bytes each
    b = build.handle((8, 4), space=Space.HBM, at=0)
    build.gemm(4, 8, 4, build.handle((4, 8)), b, build.handle((4, 4)))
    found = replayed(ROW_OF_3, [[1]], build)
    kinds = (StageKind.HBM_READ, StageKind.LINK, StageKind.DMA_READ)
    # both have a buffer at once: requests are there at 13, links take 64 ns each
    assert found.rows(0, *kinds) == [
        ("hbm@1", 13, 45),
        ("pe.1>0", 113, 177),
        ("pe_dma.read", 116, 180),
        ("hbm@1", 45, 77),
        ("pe.1>0", 177, 241),
        ("pe_dma.read", 180, 244),
    ]


def test_a_tile_without_a_buffer_asks_when_it_has_one(build, replayed):
    # three tiles of b and two buffers: the third is asked for at the end of the first step. That is
    # FETCH 180–244 (a's 32 and b's 32 bytes), GEMM 244–308 (64 MACs)
    b = build.handle((12, 4), space=Space.HBM, at=0)
    build.gemm(4, 12, 4, build.handle((4, 12)), b, build.handle((4, 4)))
    found = replayed(ROW_OF_3, [[1]], build)
    assert found.rows(0, StageKind.GEMM)[0] == ("pe_gemm", 244, 308)
    assert found.rows(0, StageKind.HBM_READ)[2] == ("hbm@1", 311, 343)


def test_an_output_tile_is_written_over_the_links_and_finishes_when_that_is_known(build, replayed):
    out = build.handle((4, 4), space=Space.HBM, at=0)
    build.gemm(4, 4, 4, build.handle((4, 4)), build.handle((4, 4)), out)
    found = replayed(ROW_OF_3, [[1]], build)
    # fetch 10–74, GEMM 74–138, 32 bytes out: DMA 138–170, link 64 ns, HBM a hop behind it
    assert found.rows(0, StageKind.DMA_WRITE, StageKind.LINK, StageKind.HBM_WRITE) == [
        ("pe_dma.write", 138, 170),
        ("pe.0>1", 138.001, 202.001),
        ("hbm@1", 141.001, 205.001),
    ]
    # 100 ns to arrive, 3 ns back
    assert found.rows(0, StageKind.FINISH) == [("pe_scheduler", 308.001, 308.001)]


def test_an_epilogue_over_the_whole_output_waits_for_the_acknowledgement(build, replayed):
    out = build.handle((4, 4), space=Space.HBM, at=0)
    build.gemm(4, 4, 4, build.handle((4, 4)), build.handle((4, 4)), out)
    build.wait(0)
    found = replayed(ROW_OF_3, [[1]], build)
    assert found.rows(0, StageKind.DISPATCH)[1][1] == 308.001


# -- what is shared


def test_pes_equally_far_from_their_tensors_share_a_lowered_stream(build, nothing_held):
    # one stream for four PEs; each reads its right neighbour, and the last what lies two to the left
    machine = town(pes=(4, 1))
    trace = placed(
        add_load(build).trace(machine, *(_loading(build) for _ in range(3))), [[1], [2], [3], [1]]
    )
    shared = replace(trace, pes=tuple(pe._replace(stream=0) for pe in trace.pes))
    lowered = lower_streams(shared, machine, nothing_held)
    assert len(lowered.graphs) == 2
    assert lowered.reaches.of_pes == (0, 0, 0, 1)
    graph = lower(shared, machine, nothing_held)
    links = np.flatnonzero(graph.stages.kind == StageKind.LINK)
    used = [
        (pe, graph.engines[engine].title)
        for pe, engine in zip(
            graph.stages.pe[links].tolist(), graph.stages.engine[links].tolist(), strict=True
        )
    ]
    assert used == [
        (0, "noc.pe.1>0"),
        (1, "noc.pe.2>1"),
        (2, "noc.pe.3>2"),
        (3, "noc.pe.1>2"),
        (3, "noc.pe.2>3"),
    ]


def test_a_tensor_that_lies_elsewhere_and_is_not_touched_makes_nothing_remote(build, nothing_held):
    trace = placed(add_load(build, tensor=1).trace(ROW_OF_3), [[2, 0]])
    lowered = lower_streams(trace, ROW_OF_3, nothing_held)
    assert lowered.reaches.servers == ((),)
    assert lower(trace, ROW_OF_3, nothing_held).engines[-1].block is Block.HBM


def test_a_tensor_that_no_links_lead_to_is_refused_with_its_first_command(build, nothing_held):
    apart = ROW_OF_3.model_copy(update={"directions": {}})
    build.overhead(1)
    trace = placed(add_load(build).trace(apart), [[2]])
    with pytest.raises(KerntapeError) as refused:
        lower(trace, apart, nothing_held)
    assert str(refused.value) == (
        "PE 0, command 1 (tiny.py:1): no way leads from PE 2 to PE 0: topology 'town' has no"
        " direction of level pe and step [-1, 0]; give it one, or place the tensor on the PEs that use"
        " it"
    )


def test_an_empty_remote_read_takes_a_picosecond_a_hop(build, replayed):
    rows = replayed(ROW_OF_3, [[1]], add_load(build, elements=0)).rows(0)
    assert rows[1:] == [
        ("hbm@1", 13, 13.001),
        ("pe.1>0", 113, 113.001),
        ("pe_dma.read", 116, 116.001),
    ]


def _idle(build: Any) -> list[Any]:
    return [type(build)()]


def _loading(build: Any) -> Any:
    return add_load(type(build)())
