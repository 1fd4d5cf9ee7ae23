"""Cuts a composite that is over the descriptor cap into the fewest that fit, by op index.

A GEMM and the ops of its tile loop stay together. A handle that one segment writes and another
uses joins the rw_handles of both, which is what orders them; so a cut costs bytes, and the cheapest
set of cuts is searched for, not taken greedily.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from ..schemas.commands import GEMM, CommandForm, CommandKind, OpForm, Scope
from ..schemas.errors import KernelError


@dataclass(frozen=True, slots=True)
class PlannedOp:
    """An op and its slots: numbers of bindings, the operands' in order, then the output's."""

    form: OpForm
    slots: tuple[int, ...]

    @property
    def reads(self) -> tuple[int, ...]:
        """What it reads of memory: a tile op's source is the tile, in no memory yet."""
        first = 0 if self.form.scope is Scope.KERNEL else 1
        return self.slots[first : len(self.form.operands)]

    @property
    def writes(self) -> int:
        return self.slots[-1]


@dataclass(frozen=True)
class Segment:
    """Consecutive ops that make one composite, and its read-write handles, all as bindings."""

    ops: tuple[PlannedOp, ...]
    rw: tuple[int, ...]

    @cached_property
    def form(self) -> CommandForm:
        """The command's form."""
        ops = tuple(op.form for op in self.ops)
        return CommandForm(CommandKind.COMPOSITE, ops, rw_count=len(self.rw))

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """What fills the form's slots."""
        return tuple(slot for op in self.ops for slot in op.slots) + self.rw

    @cached_property
    def reads(self) -> tuple[int, ...]:
        """What the composite reads of memory, each once."""
        return tuple(dict.fromkeys(slot for op in self.ops for slot in op.reads))

    @cached_property
    def writes(self) -> tuple[int, ...]:
        """What it writes, each once."""
        return tuple(dict.fromkeys(op.writes for op in self.ops))


Unit: TypeAlias = tuple[PlannedOp, ...]
"""Ops that stay together."""


def read_write(ops: Sequence[PlannedOp], tagged: Sequence[int]) -> tuple[int, ...]:
    """The handles whose old value the composite reads and whose new value it writes.

    `tagged` are those that a recipe declares so; they come first, in its order.
    """
    written: set[int] = set()
    read_before: dict[int, None] = {}
    for unit in units(ops):
        for op in unit:
            read_before.update((slot, None) for slot in op.reads if slot not in written)
        written.update(op.writes for op in unit)
    found = [slot for slot in read_before if slot in written]
    return tuple(dict.fromkeys((*tagged, *found)))


def units(ops: Sequence[PlannedOp]) -> list[Unit]:
    """The ops that cannot be parted: each alone, a GEMM with the tile ops after it."""
    grouped: list[Unit] = []
    for op in ops:
        if op.form.scope is Scope.KERNEL:
            grouped.append((op,))
        else:
            grouped[-1] = (*grouped[-1], op)
    return grouped


def cut(ops: Sequence[PlannedOp], rw: tuple[int, ...], cap_bytes: int) -> tuple[Segment, ...]:
    """The fewest segments of at most `cap_bytes` each; of several such cuts, the longest first.

    Raises KernelError where one unit alone does not fit.
    """
    whole = Segment(tuple(ops), rw)
    if whole.form.logical_bytes <= cap_bytes:
        return (whole,)
    parts = units(ops)
    fewest: list[tuple[Segment, ...] | None] = [None] * len(parts) + [()]
    for first in reversed(range(len(parts))):
        for stop in range(len(parts), first, -1):
            rest = fewest[stop]
            segment = _segment(parts, first, stop, rw)
            if rest is None or segment.form.logical_bytes > cap_bytes:
                continue
            known = fewest[first]
            if known is None or len(rest) + 1 < len(known):
                fewest[first] = (segment, *rest)
    found = fewest[0]
    if found is None:
        raise KernelError(_too_large(parts, rw, cap_bytes))
    return found


def _segment(parts: Sequence[Unit], first: int, stop: int, rw: tuple[int, ...]) -> Segment:
    inside = [op for unit in parts[first:stop] for op in unit]
    outside = [op for unit in (*parts[:first], *parts[stop:]) for op in unit]
    used = {slot: None for op in inside for slot in op.slots}
    crossing = [slot for slot in used if _crosses(slot, inside, outside)]
    own = [slot for slot in rw if slot in used]
    return Segment(tuple(inside), tuple(dict.fromkeys((*own, *crossing))))


def _crosses(slot: int, inside: Sequence[PlannedOp], outside: Sequence[PlannedOp]) -> bool:
    """Used on both sides of a cut, and written on one of them."""
    used_outside = any(slot in op.slots for op in outside)
    return used_outside and any(op.writes == slot for op in (*inside, *outside))


def _too_large(parts: Sequence[Unit], rw: tuple[int, ...], cap_bytes: int) -> str:
    alone = [_segment(parts, place, place + 1, rw) for place in range(len(parts))]
    largest = max(alone, key=lambda segment: segment.form.logical_bytes)
    named = next((op.form.kind for op in largest.ops if op.form.kind == GEMM), "")
    what = f"the {named} with its tile ops" if named else f"op {largest.ops[0].form.kind}"
    return (
        f"composite: {what} needs a descriptor of {largest.form.logical_bytes} bytes, over the"
        f" topology's cap of {cap_bytes} (pe.composite_cap_bytes), and cannot be cut"
    )
