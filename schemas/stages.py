"""What a timeline is made of: stages on engines, and why a stage could not start earlier."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

import numpy as np

from .columns import Bools, Int16s, Int32s


class StageKind(IntEnum):
    """One piece of work. The numbers are written to timeline files and never reused."""

    DISPATCH = 0
    ADMIT = 1
    PLAN = 2
    HBM_READ = 3
    DMA_READ = 4
    FETCH = 5
    GEMM = 6
    MATH = 7
    DMA_WRITE = 8
    HBM_WRITE = 9
    FINISH = 10
    RETIRE = 11
    ACCEPT = 12
    SEND = 13
    LINK = 14
    RECV = 16

    @property
    def title(self) -> str:
        """The name in op_log and on the screen."""
        return self.name.lower()


class Block(StrEnum):
    """A kind of hardware block. One file of replay/components/ each."""

    PE_CPU = "pe_cpu"
    PE_SCHEDULER = "pe_scheduler"
    PE_DMA = "pe_dma"
    PE_TCM = "pe_tcm"
    PE_GEMM = "pe_gemm"
    PE_MATH = "pe_math"
    PE_IPCQ = "pe_ipcq"
    HBM = "hbm"
    NOC = "noc"


class Why(IntEnum):
    """What the last thing was that a stage waited for: the meaning of its cause edge."""

    NOTHING = 0
    ENGINE = 1
    PROGRAM_ORDER = 2
    BLOCKED = 3
    WAITED = 4
    DATA = 5
    BUFFER = 6
    IN_FLIGHT = 7
    SCHEDULER_QUEUE = 8
    HAZARD = 9
    CREDIT = 10
    SEND_DEPTH = 11
    MESSAGE = 12
    DISPATCH = 13
    ADMISSION = 14
    RETIREMENT = 15

    @property
    def phrase(self) -> str:
        """For a sentence that begins "waited for …"."""
        return _PHRASES[self]


_PHRASES = {
    Why.NOTHING: "nothing",
    Why.ENGINE: "the engine, busy with the stage before",
    Why.PROGRAM_ORDER: "the command before it to be dispatched",
    Why.BLOCKED: "the command before it to finish",
    Why.WAITED: "the command whose result it uses",
    Why.DATA: "the stage before it",
    Why.BUFFER: "a free tile buffer",
    Why.IN_FLIGHT: "a place among the composites in flight",
    Why.SCHEDULER_QUEUE: "a place in the scheduler's queue",
    Why.HAZARD: "a hazard to clear",
    Why.CREDIT: "a credit of the queue",
    Why.SEND_DEPTH: "a place among the accepted sends",
    Why.MESSAGE: "a message to arrive",
    Why.DISPATCH: "PE_CPU to dispatch its command",
    Why.ADMISSION: "the composite before it to be admitted",
    Why.RETIREMENT: "the composite before it to retire",
}


@dataclass(frozen=True, slots=True)
class Engine:
    """One server of the machine. `rank` is its PE's, or −1 for a shared one (then `channel` names it).

    An engine that does not `arbitrate` orders its stages by their releases alone (PE_CPU's dispatches,
    PE_SCHEDULER's admissions): it is a lane to draw, not a queue.
    """

    block: Block
    rank: int
    channel: str
    arbitrates: bool

    @property
    def title(self) -> str:
        return f"{self.block}.{self.channel}" if self.channel else str(self.block)


@dataclass(frozen=True)
class Stages:
    """The stages as columns, in stage-id order: (PE, command, stage in the command).

    kind: StageKind · engine: index into the engine table · pe: index into Trace.pes · command:
    index in the PE's stream · op: index in the command's ops, −1 for none · tile: the GEMM step
    (counted n, then k, then m) or the transfer's tile, −1 for none · duration_class: index into
    the graph's duration classes.
    """

    kind: Int16s
    engine: Int32s
    pe: Int32s
    command: Int32s
    op: Int16s
    tile: Int32s
    duration_class: Int32s

    def __len__(self) -> int:
        return len(self.kind)


STAGE_COLUMNS: dict[str, type[np.integer]] = {
    "kind": np.int16,
    "engine": np.int32,
    "pe": np.int32,
    "command": np.int32,
    "op": np.int16,
    "tile": np.int32,
    "duration_class": np.int32,
}


def arbitrated(engines: tuple[Engine, ...]) -> Bools:
    """Per engine, whether it serves one stage at a time."""
    return np.array([engine.arbitrates for engine in engines], dtype=np.bool_)
