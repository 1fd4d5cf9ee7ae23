"""What a check of a replay's values finds: each output right or wrong, and the first wrong value."""

from dataclasses import dataclass
from enum import StrEnum

from ...schemas.hazard_policy import HazardKind


@dataclass(frozen=True, slots=True)
class CommandName:
    """A command for people: `verb` is its kind with its direction or ops, `line` its kernel line."""

    rank: int
    command: int
    verb: str
    line: str

    def __str__(self) -> str:
        return f"PE {self.rank} command {self.command} {self.verb} ({self.line})"


class Fault(StrEnum):
    """How bytes came to hold another value than in program order."""

    NOT_YET_WRITTEN = "not yet written"
    OVERWRITTEN_TOO_EARLY = "overwritten too early"
    OVERWRITTEN_TOO_LATE = "overwritten too late"


@dataclass(frozen=True, slots=True)
class WrongBytes:
    """Bytes that did not hold what they hold in program order when they were read.

    `reader` read them at `at_ps` as its `operand`, a handle called `label`; it is None, and the time
    the end of the replay, for an output whose last two writes came in the wrong order. `memory` is
    'tcm' or an HBM tensor's name, `byte_from` to `byte_to` (exclusive) the first wrong run in it.
    `expected` is the command that writes them last in program order, `found` the one that had done
    so: None for the bytes that the kernel starts with. `hazard` is the pair's kind where the
    timeline lists it as violated.
    """

    fault: Fault
    at_ps: int
    reader: CommandName | None
    operand: str
    label: str
    memory: str
    byte_from: int
    byte_to: int
    expected: CommandName | None
    found: CommandName | None
    hazard: HazardKind | None


@dataclass(frozen=True, slots=True)
class FirstWrong:
    """The earliest stage whose result differs from what the same stage computes in program order.

    Its result appeared at `time_ps` in the handle called `label`. Where every result is right and
    an output is wrong all the same, it is the stage that overwrote the output last.
    """

    time_ps: int
    stage: int
    writer: CommandName
    op: int
    op_kind: str
    label: str
    because: WrongBytes


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """One output tensor over all PEs that hold it (`ranks`), against program order, bit for bit.

    `tensor` is its number in the trace's header. `max_abs_difference` is NaN where one of two
    values is and the other is not. With another tile than capture's, `tile_difference` is how far
    program order under this tile is from capture's values, and `tolerance` how far it may be; None
    with capture's tile, when they are equal.
    """

    name: str
    tensor: int
    dtype: str
    ranks: tuple[int, ...]
    wrong_ranks: tuple[int, ...]
    elements: int
    wrong_elements: int
    max_abs_difference: float
    tile_difference: float | None = None
    tolerance: float | None = None

    @property
    def in_order(self) -> bool:
        """Whether every element is as in program order."""
        return self.wrong_elements == 0

    @property
    def within_tolerance(self) -> bool:
        """Whether the tile changes no more than the dtype allows."""
        if self.tile_difference is None or self.tolerance is None:
            return True
        return self.tile_difference <= self.tolerance

    @property
    def right(self) -> bool:
        return self.in_order and self.within_tolerance


@dataclass(frozen=True, slots=True)
class DataCheck:
    """All outputs, and the first wrong value if any stage had one: it need not reach an output."""

    policy: str
    outputs: tuple[OutputCheck, ...]
    first_wrong: FirstWrong | None

    @property
    def right(self) -> bool:
        return all(output.right for output in self.outputs)
