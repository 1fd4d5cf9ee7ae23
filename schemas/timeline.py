"""A timeline: when every stage of a replayed trace was ready, started and ended, and why not earlier."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from .calibration import Calibration
from .columns import Int8s, Int32s, Int64s
from .deadlock import Deadlock
from .hazard_policy import HazardPolicy
from .hazards import Hazards
from .stages import Engine, Stages
from .topology import Topology
from .trace import Command, SourceLine, Trace


class Status(StrEnum):
    """How a replay ended."""

    OK = "ok"
    DEADLOCK = "deadlock"


@dataclass(frozen=True, slots=True)
class DurationClass:
    """Stages that last equally long under every calibration: one equation, one quantity.

    `equation` is `block.name` as docs/model.md lists it; `quantity` is in the equation's unit
    (bytes, MACs, elements, ops).
    """

    equation: str
    quantity: int


@dataclass(frozen=True)
class Timeline:
    """The result of a replay. All times in picoseconds from the launch, int64, per stage.

    `cause` is the stage whose end (or start) let this one start when it did: the one its engine
    served before if it had to queue, else the releaser that came last; −1 for none. `why` (a Why
    number) says what that edge means. A deadlocked replay holds the stages that ended before it
    stopped, and `deadlock` says why it did.
    """

    trace: Trace
    topology: Topology
    calibration: Calibration
    policy: HazardPolicy
    status: Status
    engines: tuple[Engine, ...]
    stages: Stages
    duration_classes: tuple[DurationClass, ...]
    ready_ps: Int64s
    start_ps: Int64s
    end_ps: Int64s
    cause: Int32s
    why: Int8s
    hazards: Hazards
    deadlock: Deadlock | None = None

    @cached_property
    def makespan_ps(self) -> int:
        """The end of the last stage; 0 for an empty timeline."""
        return int(self.end_ps.max()) if len(self.end_ps) else 0

    def command_of(self, stage: int) -> Command:
        """The command a stage belongs to, its handles resolved."""
        stream = self.trace.streams[self.trace.pes[self.stages.pe[stage]].stream]
        return self.trace.command(stream, int(self.stages.command[stage]))

    def line_of(self, stage: int) -> SourceLine:
        """The kernel's source line that issued the stage's command."""
        stream = self.trace.streams[self.trace.pes[self.stages.pe[stage]].stream]
        return self.trace.lines[int(stream.lines[self.stages.command[stage]])]
