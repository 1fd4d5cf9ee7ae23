"""NOC: the links between PEs of a CUBE, between CUBEs and between SIPs. One server a directed link.

    link:     bytes / min(copy, link) bandwidth: cut-through, the narrowest hop so far
    hop:      hop_latency_ns, a lag: from the end of a message's link to the arrival, from the start
              of a remote access's link to the start of the next hop
    read:L    bytes / min(hbm, every level of L): a link of a remote read that has crossed links of
              the levels L, its own included
    write:L   bytes / min(dma write, every level of L): the same of a remote write
    request:L           Σ hop_latency_ns over the links of the way, a lag: a read's request goes to
                        the owner before its HBM channel can serve it, and takes no bandwidth
    acknowledgement:L   the HBM's latency and then the same, a lag: from the end of a write in the
                        owner's HBM channel until its PE knows that it has arrived

Routers buffer without limit: back-pressure exists at the queues only. Every link of a CUBE's mesh
belongs to two neighbouring PEs; the link between two CUBEs is shared by all their PEs, the link
between two SIPs by all of theirs. Messages and remote accesses queue at the same servers.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from ...schemas.calibration import Calibration
from ...schemas.stages import Block, StageKind, Why
from ...schemas.timeline import DurationClass
from ...schemas.topology import Level, Topology
from ..command_plan import CommandPlan, EngineSlot
from ..ways import LEVEL_SETS, Hop, levels_of, over, unpacked_hops

LINK = EngineSlot(Block.NOC, "", arbitrates=True)
"""Stands for the link that a command's direction crosses; lowering puts the PE's own in its place."""

Link = tuple[Level, int, int]
"""A directed link: between two ranks, two CUBEs (counted over the machine) or two SIPs."""


def link_between(topology: Topology, sender: int, receiver: int, level: Level) -> Link:
    """The link that a message from one rank to its neighbour of that level crosses."""
    if level is Level.PE:
        return level, sender, receiver
    here, there = topology.place(sender), topology.place(receiver)
    if level is Level.SIP:
        return level, here.sip, there.sip
    cubes = topology.cubes.size
    return level, here.sip * cubes + here.cube, there.sip * cubes + there.cube


def link_title(link: Link) -> str:
    """The link's name as an engine's channel."""
    level, sender, receiver = link
    return f"{level}.{sender}>{receiver}"


def narrowest_link(calibration: Calibration, levels: Iterable[Level]) -> Fraction:
    """Bytes per ns of the narrowest of the levels' links."""
    return min(_link_rate(calibration, level) for level in levels)


def _link_rate(calibration: Calibration, level: Level) -> Fraction:
    return Fraction(getattr(calibration.noc, f"{level}_link_bytes_per_ns"))


def _hop_latency(calibration: Calibration, level: Level) -> Fraction:
    return Fraction(getattr(calibration.noc, f"{level}_hop_latency_ns"))


Equation = Callable[[Calibration, int], Fraction]


def _link_ns(level: Level) -> Equation:
    """A message's fragment on its link."""

    def link_ns(calibration: Calibration, size_bytes: int) -> Fraction:
        copy_rate = Fraction(calibration.ipcq.copy_bytes_per_ns)
        return size_bytes / min(_link_rate(calibration, level), copy_rate)

    return link_ns


def _hop_ns(level: Level) -> Equation:
    def hop_ns(calibration: Calibration, _: int) -> Fraction:
        return _hop_latency(calibration, level)

    return hop_ns


def _read_ns(levels: tuple[Level, ...]) -> Equation:
    """A remote read's link, HBM and links of these levels before it and its own."""

    def read_ns(calibration: Calibration, size_bytes: int) -> Fraction:
        hbm_rate = Fraction(calibration.hbm.bytes_per_ns)
        return size_bytes / min(hbm_rate, narrowest_link(calibration, levels))

    return read_ns


def _write_ns(levels: tuple[Level, ...]) -> Equation:
    """A remote write's link, the DMA and links of these levels before it and its own."""

    def write_ns(calibration: Calibration, size_bytes: int) -> Fraction:
        dma_rate = Fraction(calibration.pe_dma.write_bytes_per_ns)
        return size_bytes / min(dma_rate, narrowest_link(calibration, levels))

    return write_ns


def _request_ns(levels: tuple[Level, ...]) -> Equation:
    """One way over the links that `packed_hops` counts."""

    def request_ns(calibration: Calibration, packed: int) -> Fraction:
        hops = unpacked_hops(packed, levels)
        return sum(
            (count * _hop_latency(calibration, level) for level, count in hops.items()), Fraction(0)
        )

    return request_ns


def _acknowledgement_ns(levels: tuple[Level, ...]) -> Equation:
    """Into the HBM, and the way back."""
    back_ns = _request_ns(levels)

    def acknowledgement_ns(calibration: Calibration, packed: int) -> Fraction:
        return Fraction(calibration.hbm.latency_ns) + back_ns(calibration, packed)

    return acknowledgement_ns


EQUATIONS = {
    **{f"noc.{level}_link": _link_ns(level) for level in Level},
    **{f"noc.{level}_hop": _hop_ns(level) for level in Level},
    **{over("noc.read", levels): _read_ns(levels) for levels in LEVEL_SETS},
    **{over("noc.write", levels): _write_ns(levels) for levels in LEVEL_SETS},
    **{over("noc.request", levels): _request_ns(levels) for levels in LEVEL_SETS},
    **{over("noc.acknowledgement", levels): _acknowledgement_ns(levels) for levels in LEVEL_SETS},
}


def add_links(
    plan: CommandPlan,
    first: int,
    lag: DurationClass,
    hops: Sequence[Hop],
    equation: str,
    size_bytes: int,
    *,
    op: int,
    tile: int,
) -> tuple[int, DurationClass]:
    """Adds a route's links, cut-through, behind the stage `first` and its latency `lag`.

    Returns the last hop and its latency: `first` and `lag` where the route has no links.
    """
    before = first
    for place, (level, link) in enumerate(hops):
        cost = DurationClass(over(equation, levels_of(hops[: place + 1])), size_bytes)
        hop = plan.add(StageKind.LINK, link, cost, op=op, tile=tile)
        plan.release(hop, before, Why.DATA, from_start=True, lag=lag)
        before, lag = hop, DurationClass(f"noc.{level}_hop", 0)
    return before, lag
