"""What one command becomes: a template of stages and the releases among them.

A template depends on the command's shape only (its form and its handles' geometries), never on
addresses or on the commands around it, so a tile loop of a thousand iterations needs a handful.
Components fill a `CommandPlan`; lowering instantiates it for every command of that shape.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..schemas.commands import CommandForm
from ..schemas.handles import Geometry
from ..schemas.stages import Block, StageKind, Why
from ..schemas.timeline import DurationClass
from .ways import FarSlot, Way, Ways

NONE = -1
NO_TIME = DurationClass("none", 0)


@dataclass(frozen=True, slots=True)
class EngineSlot:
    """A server that every PE has one of."""

    block: Block
    channel: str
    arbitrates: bool


@dataclass(frozen=True)
class CommandShape:
    """A command without its addresses. `geometries` are in the order of the form's slots, and so are
    `ways`: how to reach what lies in another PE's HBM, None for what does not. No ways: nothing does.
    """

    form: CommandForm
    geometries: tuple[Geometry, ...]
    ways: Ways = ()

    def operand(self, op_index: int, name: str) -> Geometry:
        """The geometry of an op's operand. Raises ValueError where the op has no such operand."""
        return self.geometries[self._operand_slot(op_index, name)]

    def way_to_operand(self, op_index: int, name: str) -> Way | None:
        """The way to an op's operand, None where that is the PE's own."""
        return self._way(self._operand_slot(op_index, name))

    def way_to_out(self, op_index: int) -> Way | None:
        """The way to what an op writes, None where that is the PE's own."""
        return self._way(self.form.op_slots[op_index][-1])

    def _operand_slot(self, op_index: int, name: str) -> int:
        position = self.form.ops[op_index].operands.index(name)
        return self.form.op_slots[op_index][position]

    def _way(self, slot: int) -> Way | None:
        return self.ways[slot] if self.ways else None

    def out(self, op_index: int) -> Geometry | None:
        """The geometry an op writes, or None."""
        if not self.form.ops[op_index].has_out:
            return None
        return self.geometries[self.form.op_slots[op_index][-1]]

    def of_op(self, op_index: int) -> tuple[Geometry, ...]:
        """The geometries of an op's operands and output."""
        return tuple(self.geometries[slot] for slot in self.form.op_slots[op_index])


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """A stage of the template; its number is its place in the plan."""

    kind: StageKind
    slot: EngineSlot | FarSlot
    duration: DurationClass
    op: int
    tile: int


@dataclass(frozen=True, slots=True)
class PlannedRelease:
    """Stage `released` waits for the end (or the start) of stage `releaser`, plus a lag."""

    released: int
    releaser: int
    why: Why
    from_start: bool
    lag: DurationClass


@dataclass
class CommandPlan:
    """The template under construction.

    `begin` is the stage whose start begins the command's accesses, `finish` the one whose end ends
    them, `resume` the one whose end lets PE_CPU dispatch the next command. `admit`, `plan` and
    `retire` are a composite's, NONE for other commands.
    """

    stages: list[PlannedStage] = field(default_factory=list)
    releases: list[PlannedRelease] = field(default_factory=list)
    begin: int = 0
    finish: int = 0
    resume: int = 0
    admit: int = NONE
    plan: int = NONE
    retire: int = NONE

    def add(
        self,
        kind: StageKind,
        slot: EngineSlot | FarSlot,
        duration: DurationClass = NO_TIME,
        *,
        after: Iterable[int] = (),
        why: Why = Why.DATA,
        op: int = NONE,
        tile: int = NONE,
    ) -> int:
        """Adds a stage released by the ends of `after`; returns its number."""
        self.stages.append(PlannedStage(kind, slot, duration, op, tile))
        number = len(self.stages) - 1
        for releaser in after:
            self.release(number, releaser, why)
        return number

    def release(
        self,
        released: int,
        releaser: int,
        why: Why,
        *,
        from_start: bool = False,
        lag: DurationClass = NO_TIME,
    ) -> None:
        """Adds a release between two stages of this command."""
        self.releases.append(PlannedRelease(released, releaser, why, from_start, lag))

    def after_dispatch(self, stage: int) -> Why:
        """Why a stage that waits for `stage` waits: for the dispatch, or for data."""
        return Why.DISPATCH if self.stages[stage].kind is StageKind.DISPATCH else Why.DATA
