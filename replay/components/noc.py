"""NOC: the links between PEs of a CUBE, between CUBEs and between SIPs. One server a directed link.

    link:     bytes / min(copy, link) bandwidth: cut-through, the narrowest hop so far
    hop:      hop_latency_ns, a lag from the end of the last hop to the arrival

Routers buffer without limit: back-pressure exists at the queues only. Every link of a CUBE's mesh
belongs to two neighbouring PEs; the link between two CUBEs is shared by all their PEs, the link
between two SIPs by all of theirs.
"""

from collections.abc import Callable
from fractions import Fraction

from ...schemas.calibration import Calibration
from ...schemas.stages import Block
from ...schemas.topology import Level, Topology
from ..command_plan import EngineSlot

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


def _link_ns(rate: str) -> Callable[[Calibration, int], Fraction]:
    def link_ns(calibration: Calibration, size_bytes: int) -> Fraction:
        link_rate = Fraction(getattr(calibration.noc, rate))
        return size_bytes / min(link_rate, Fraction(calibration.ipcq.copy_bytes_per_ns))

    return link_ns


def _hop_ns(latency: str) -> Callable[[Calibration, int], Fraction]:
    def hop_ns(calibration: Calibration, _: int) -> Fraction:
        return Fraction(getattr(calibration.noc, latency))

    return hop_ns


EQUATIONS = {
    **{f"noc.{level}_link": _link_ns(f"{level}_link_bytes_per_ns") for level in Level},
    **{f"noc.{level}_hop": _hop_ns(f"{level}_hop_latency_ns") for level in Level},
}
