"""PE_DMA: a read and a write channel between HBM, the PE's own or another's, and its TCM.

    read:   HBM channel, then the DMA read channel, cut-through: the DMA starts when the HBM channel
            has started and its latency has passed, and lasts bytes / min(hbm, read) bandwidth
    write:  the DMA write channel (bytes / write bandwidth), then, from the first bytes on, the HBM
            channel for bytes / min(write, hbm); arrived a latency after that

A remote read (or write) has the links between the two channels as further hops, and the narrowest
of them counts too: read:L and write_behind:L are those behind links of the levels L. It begins with
the request's way to the owner, a lag; a write is known to have arrived after the way back.

A load is one read, a store one write. Load returns at once; store blocks until it has arrived.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction

from ...schemas.calibration import Calibration
from ...schemas.stages import Block, StageKind, Why
from ...schemas.timeline import DurationClass
from ...schemas.topology import Level
from ..command_plan import NO_TIME, NONE, CommandPlan, CommandShape, EngineSlot
from ..ways import LEVEL_SETS, Way, levels_of, over, packed_hops
from .hbm import CHANNEL
from .noc import add_links, narrowest_link
from .pe_cpu import CPU

READ = EngineSlot(Block.PE_DMA, "read", arbitrates=True)
WRITE = EngineSlot(Block.PE_DMA, "write", arbitrates=True)

HBM_LATENCY = DurationClass("hbm.latency", 0)
HBM_ARRIVAL = DurationClass("hbm.arrival", 0)
HANDOVER = DurationClass("pe_dma.handover", 0)

End = tuple[int, DurationClass]
"""A stage and the lag after its end until the PE knows that its work has arrived."""


def read_ns(calibration: Calibration, size_bytes: int) -> Fraction:
    """The second hop of a read: the narrower of the two bandwidths."""
    narrowest = min(calibration.hbm.bytes_per_ns, calibration.pe_dma.read_bytes_per_ns)
    return size_bytes / Fraction(narrowest)


def write_ns(calibration: Calibration, size_bytes: int) -> Fraction:
    """The first hop of a write."""
    return size_bytes / Fraction(calibration.pe_dma.write_bytes_per_ns)


def write_behind_ns(calibration: Calibration, size_bytes: int) -> Fraction:
    """The second hop of a write, in the HBM channel: the narrower of the two bandwidths."""
    narrowest = min(calibration.hbm.bytes_per_ns, calibration.pe_dma.write_bytes_per_ns)
    return size_bytes / Fraction(narrowest)


def handover_ns(_: Calibration, __: int) -> Fraction:
    """From the DMA's first bytes to the HBM channel: the shortest lag there is (1 ps)."""
    return Fraction(1, 1000)


Equation = Callable[[Calibration, int], Fraction]


def _far_read_ns(levels: tuple[Level, ...]) -> Equation:
    """The last hop of a remote read: the narrowest of HBM, the links and the DMA channel."""

    def far_read_ns(calibration: Calibration, size_bytes: int) -> Fraction:
        links = size_bytes / narrowest_link(calibration, levels)
        return max(read_ns(calibration, size_bytes), links)

    return far_read_ns


def _far_write_behind_ns(levels: tuple[Level, ...]) -> Equation:
    """The last hop of a remote write: the narrowest of the DMA channel, the links and HBM."""

    def far_write_behind_ns(calibration: Calibration, size_bytes: int) -> Fraction:
        links = size_bytes / narrowest_link(calibration, levels)
        return max(write_behind_ns(calibration, size_bytes), links)

    return far_write_behind_ns


EQUATIONS = {
    "pe_dma.read": read_ns,
    "pe_dma.write": write_ns,
    "pe_dma.write_behind": write_behind_ns,
    "pe_dma.handover": handover_ns,
    **{over("pe_dma.read", levels): _far_read_ns(levels) for levels in LEVEL_SETS},
    **{over("pe_dma.write_behind", levels): _far_write_behind_ns(levels) for levels in LEVEL_SETS},
}


def request_lag(way: Way | None) -> DurationClass:
    """From what releases a read until the request is at the HBM channel; none to the PE's own."""
    if way is None:
        return NO_TIME
    return DurationClass(over("noc.request", way.levels), packed_hops(way.levels))


def add_read(
    plan: CommandPlan, size_bytes: int, way: Way | None, *, op: int = NONE, tile: int = NONE
) -> tuple[int, int]:
    """Adds a read; returns its first stage (to be released, `request_lag` after what releases it) and
    its last (the data is there).
    """
    slot, hops = (CHANNEL, ()) if way is None else (way.channel, way.inbound)
    channel = plan.add(
        StageKind.HBM_READ, slot, DurationClass("hbm.channel", size_bytes), op=op, tile=tile
    )
    last, lag = add_links(
        plan, channel, HBM_LATENCY, hops, "noc.read", size_bytes, op=op, tile=tile
    )
    cost = DurationClass(over("pe_dma.read", levels_of(hops)), size_bytes)
    arrival = plan.add(StageKind.DMA_READ, READ, cost, op=op, tile=tile)
    plan.release(arrival, last, Why.DATA, from_start=True, lag=lag)
    return channel, arrival


def add_write(
    plan: CommandPlan,
    size_bytes: int,
    way: Way | None,
    after: Iterable[int],
    why: Why,
    *,
    op: int = NONE,
    tile: int = NONE,
) -> End:
    """Adds a write; returns its last stage, and the lag after whose end the PE knows of the arrival.

    The bytes themselves have arrived HBM_ARRIVAL after that end.
    """
    slot, hops = (CHANNEL, ()) if way is None else (way.channel, way.outbound)
    cost = DurationClass("pe_dma.write", size_bytes)
    first = plan.add(StageKind.DMA_WRITE, WRITE, cost, after=after, why=why, op=op, tile=tile)
    before, lag = add_links(plan, first, HANDOVER, hops, "noc.write", size_bytes, op=op, tile=tile)
    behind = DurationClass(over("pe_dma.write_behind", levels_of(hops)), size_bytes)
    last = plan.add(StageKind.HBM_WRITE, slot, behind, op=op, tile=tile)
    plan.release(last, before, Why.DATA, from_start=True, lag=lag)
    return last, _known_lag(way)


def _known_lag(way: Way | None) -> DurationClass:
    if way is None:
        return HBM_ARRIVAL
    return DurationClass(over("noc.acknowledgement", way.levels), packed_hops(way.levels))


def plan_load(plan: CommandPlan, shape: CommandShape, dispatch: int) -> None:
    """HBM to TCM. PE_CPU goes on at once; the data is there at the end of the read."""
    way = shape.way_to_operand(0, "src")
    channel, arrival = add_read(plan, shape.operand(0, "src").size_bytes, way, op=0)
    plan.release(channel, dispatch, Why.DISPATCH, lag=request_lag(way))
    plan.finish = arrival


def plan_store(plan: CommandPlan, shape: CommandShape, dispatch: int) -> None:
    """TCM to HBM. PE_CPU goes on when it knows that the data has arrived."""
    written, lag = add_write(
        plan,
        shape.operand(0, "src").size_bytes,
        shape.way_to_out(0),
        (dispatch,),
        Why.DISPATCH,
        op=0,
    )
    finish = plan.add(StageKind.FINISH, CPU)
    plan.release(finish, written, Why.DATA, lag=lag)
    plan.finish = plan.resume = finish
