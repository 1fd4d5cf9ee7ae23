"""PE_DMA: a read and a write channel between a PE's HBM and its TCM.

    read:   HBM channel, then the DMA read channel, cut-through: the DMA starts when the HBM channel
            has started and its latency has passed, and lasts bytes / min(hbm, read) bandwidth
    write:  the DMA write channel (bytes / write bandwidth), then, from the first bytes on, the HBM
            channel for bytes / min(write, hbm); arrived a latency after that

A load is one read, a store one write. Load returns at once; store blocks until it has arrived.
"""

from collections.abc import Iterable
from fractions import Fraction

from ...schemas.calibration import Calibration
from ...schemas.stages import Block, StageKind, Why
from ...schemas.timeline import DurationClass
from ..command_plan import NONE, CommandPlan, CommandShape, EngineSlot
from .hbm import CHANNEL
from .pe_cpu import CPU

READ = EngineSlot(Block.PE_DMA, "read", arbitrates=True)
WRITE = EngineSlot(Block.PE_DMA, "write", arbitrates=True)

HBM_LATENCY = DurationClass("hbm.latency", 0)
HBM_ARRIVAL = DurationClass("hbm.arrival", 0)
HANDOVER = DurationClass("pe_dma.handover", 0)


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


EQUATIONS = {
    "pe_dma.read": read_ns,
    "pe_dma.write": write_ns,
    "pe_dma.write_behind": write_behind_ns,
    "pe_dma.handover": handover_ns,
}


def add_read(
    plan: CommandPlan, size_bytes: int, *, op: int = NONE, tile: int = NONE
) -> tuple[int, int]:
    """Adds a local read; returns its first stage (to be released) and its last (the data is there)."""
    channel = plan.add(
        StageKind.HBM_READ, CHANNEL, DurationClass("hbm.channel", size_bytes), op=op, tile=tile
    )
    arrival = plan.add(
        StageKind.DMA_READ, READ, DurationClass("pe_dma.read", size_bytes), op=op, tile=tile
    )
    plan.release(arrival, channel, Why.DATA, from_start=True, lag=HBM_LATENCY)
    return channel, arrival


def add_write(
    plan: CommandPlan,
    size_bytes: int,
    after: Iterable[int],
    why: Why,
    *,
    op: int = NONE,
    tile: int = NONE,
) -> int:
    """Adds a local write; returns its last stage, whose end plus HBM_ARRIVAL is the arrival."""
    first = plan.add(
        StageKind.DMA_WRITE,
        WRITE,
        DurationClass("pe_dma.write", size_bytes),
        after=after,
        why=why,
        op=op,
        tile=tile,
    )
    last = plan.add(
        StageKind.HBM_WRITE,
        CHANNEL,
        DurationClass("pe_dma.write_behind", size_bytes),
        op=op,
        tile=tile,
    )
    plan.release(last, first, Why.DATA, from_start=True, lag=HANDOVER)
    return last


def plan_load(plan: CommandPlan, shape: CommandShape, dispatch: int) -> None:
    """HBM to TCM. PE_CPU goes on at once; the data is there at the end of the read."""
    channel, arrival = add_read(plan, shape.operand(0, "src").size_bytes, op=0)
    plan.release(channel, dispatch, Why.DISPATCH)
    plan.finish = arrival


def plan_store(plan: CommandPlan, shape: CommandShape, dispatch: int) -> None:
    """TCM to HBM. PE_CPU goes on when the data has arrived."""
    written = add_write(plan, shape.operand(0, "src").size_bytes, (dispatch,), Why.DISPATCH, op=0)
    finish = plan.add(StageKind.FINISH, CPU)
    plan.release(finish, written, Why.DATA, lag=HBM_ARRIVAL)
    plan.finish = plan.resume = finish
