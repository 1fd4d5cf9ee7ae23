"""What PE_CPU issues. A command is a form (its structure) and the handles that fill the form's slots.

Forms are interned: a tile loop of a thousand iterations has a handful of forms and a thousand rows
of handle ids. The slots of a form are numbered through its ops in order (each op's operands, then
its output if it has one), followed by the read-write handles.

`logical_bytes` is the size of the descriptor that the hardware would be handed, by a structural
rule: nothing in it depends on how Python stores a command (DDD-0065 §4).
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

Scalar = int | float | str

COMPOSITE_FRAMING_BYTES = 4
COUNT_BYTES = 1
HANDLE_BYTES = 8
SCALAR_BYTES = 4
OPCODE_AND_SCOPE_BYTES = 2


class CommandKind(IntEnum):
    """The verbs of PE_CPU. The numbers are written to trace files and never reused."""

    LOAD = 0
    STORE = 1
    MATH = 2
    DOT = 3
    COMPOSITE = 4
    SEND = 5
    RECV = 6
    RECV_ASYNC = 7
    WAIT = 8
    OVERHEAD = 9

    @property
    def blocks(self) -> bool:
        """Whether PE_CPU issues nothing more until this command has finished (a send: is accepted)."""
        return self not in (CommandKind.LOAD, CommandKind.COMPOSITE, CommandKind.RECV_ASYNC)


class Scope(IntEnum):
    """How often an op of a composite runs in the phase that its position puts it in (DDD-0065 §4.3)."""

    KERNEL = 0
    K_TILE = 1
    OUTPUT_TILE = 2


@dataclass(frozen=True)
class OpForm:
    """One op's structure: `operands` are slot names, `extra` are scalars by name."""

    kind: str
    operands: tuple[str, ...]
    has_out: bool
    extra: tuple[tuple[str, Scalar], ...] = ()
    scope: Scope = Scope.KERNEL

    @cached_property
    def slot_count(self) -> int:
        return len(self.operands) + self.has_out

    @cached_property
    def logical_bytes(self) -> int:
        """opcode and scope, counted handles, output, counted scalars (DDD-0065 §4.2)."""
        return (
            OPCODE_AND_SCOPE_BYTES
            + COUNT_BYTES
            + HANDLE_BYTES * len(self.operands)
            + (HANDLE_BYTES if self.has_out else 0)
            + COUNT_BYTES
            + SCALAR_BYTES * len(self.extra)
        )

    def scalar(self, name: str) -> Scalar:
        """The scalar of that name. Raises KeyError where the op has none."""
        return dict(self.extra)[name]

    def integer(self, name: str) -> int:
        """The scalar of that name, which must be an int."""
        value = self.scalar(name)
        if not isinstance(value, int):
            raise TypeError(f"{self.kind}.{name} must be an int, not {value!r}")
        return value


@dataclass(frozen=True)
class CommandForm:
    """A command's structure. `direction` names a queue for send, recv and recv_async, else ''."""

    kind: CommandKind
    ops: tuple[OpForm, ...]
    rw_count: int = 0
    direction: str = ""

    @cached_property
    def op_slots(self) -> tuple[range, ...]:
        """Per op, its slots: the operands in order, then the output."""
        ranges = []
        first = 0
        for op in self.ops:
            ranges.append(range(first, first + op.slot_count))
            first += op.slot_count
        return tuple(ranges)

    @cached_property
    def rw_slots(self) -> range:
        first = sum(op.slot_count for op in self.ops)
        return range(first, first + self.rw_count)

    @cached_property
    def slot_count(self) -> int:
        return self.rw_slots.stop

    @cached_property
    def read_slots(self) -> tuple[tuple[int, int], ...]:
        """(op index, slot) of every operand: what the command reads."""
        return tuple(
            (index, slot)
            for index, (op, slots) in enumerate(zip(self.ops, self.op_slots, strict=True))
            for slot in slots[: len(op.operands)]
        )

    @cached_property
    def write_slots(self) -> tuple[tuple[int, int], ...]:
        """(op index, slot) of every output: what the command writes."""
        return tuple(
            (index, slots[-1])
            for index, (op, slots) in enumerate(zip(self.ops, self.op_slots, strict=True))
            if op.has_out
        )

    @cached_property
    def tile_loop_reads(self) -> tuple[tuple[int, int], ...]:
        """(op index, slot) of what a GEMM's tile loop reads of memory while it writes its output: a, b,
        and what its tile ops read beside the tile. Empty without a GEMM.
        """
        first = self.gemm_index
        if first is None:
            return ()
        tile_ops = [i for i, op in enumerate(self.ops) if i > first and op.scope != Scope.KERNEL]
        beside = [slot for i in tile_ops for slot in self._beside_the_tile(i)]
        return tuple((first, slot) for slot in self.op_slots[first][:2]) + tuple(beside)

    def _beside_the_tile(self, index: int) -> list[tuple[int, int]]:
        return [(index, slot) for slot in self.op_slots[index][1 : len(self.ops[index].operands)]]

    @cached_property
    def logical_bytes(self) -> int:
        """A composite: framing, counted ops, counted rw handles. Any other: the size of its one op."""
        op_bytes = sum(op.logical_bytes for op in self.ops)
        if self.kind is not CommandKind.COMPOSITE:
            return op_bytes
        rw_bytes = COUNT_BYTES + HANDLE_BYTES * self.rw_count
        return COMPOSITE_FRAMING_BYTES + COUNT_BYTES + op_bytes + rw_bytes

    @cached_property
    def gemm_index(self) -> int | None:
        """The position of the GEMM among the ops, or None. There is at most one."""
        return next((i for i, op in enumerate(self.ops) if op.kind == GEMM), None)


GEMM = "gemm"
