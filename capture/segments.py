"""Cuts a composite that is over the descriptor cap into the fewest that fit, by op index.

A GEMM and the ops of its tile loop stay together. A handle that one segment writes and another
uses joins the rw_handles of both, which is what orders them; so a cut costs bytes, and the cheapest
set of cuts is searched for, not taken greedily.
"""

from collections.abc import Mapping, Sequence
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


def cut(
    ops: Sequence[PlannedOp],
    rw: tuple[int, ...],
    cap_bytes: int,
    viewed: Mapping[int, int] | None = None,
) -> tuple[Segment, ...]:
    """The fewest segments of at most `cap_bytes` each; of several such cuts, the longest first.

    `viewed` maps a binding on another's allocation to that one, which stands for it in rw_handles.
    Raises KernelError where one unit alone does not fit.
    """
    whole = Segment(tuple(ops), rw)
    if whole.form.logical_bytes <= cap_bytes:
        return (whole,)
    cutter = _Cutter(units(ops), rw, viewed or {})
    fewest: list[tuple[Segment, ...] | None] = [None] * len(cutter.parts) + [()]
    for first in reversed(range(len(cutter.parts))):
        for stop in range(len(cutter.parts), first, -1):
            rest, known = fewest[stop], fewest[first]
            if rest is None or (known is not None and len(known) <= len(rest) + 1):
                continue
            segment = cutter.segment(first, stop)
            if segment.form.logical_bytes <= cap_bytes:
                fewest[first] = (segment, *rest)
    found = fewest[0]
    if found is None:
        raise KernelError(cutter.too_large(cap_bytes))
    return found


class _Cutter:
    """Makes segments of consecutive units, and knows which handles cross their ends."""

    def __init__(
        self, parts: Sequence[Unit], rw: tuple[int, ...], viewed: Mapping[int, int]
    ) -> None:
        self.parts = parts
        self._rw = rw
        self._first_use: dict[int, int] = {}
        self._last_use: dict[int, int] = {}
        self._used = [
            dict.fromkeys(viewed.get(slot, slot) for op in unit for slot in op.slots)
            for unit in parts
        ]
        self._written = {viewed.get(op.writes, op.writes) for unit in parts for op in unit}
        for place, used in enumerate(self._used):
            for slot in used:
                self._first_use.setdefault(slot, place)
                self._last_use[slot] = place

    def segment(self, first: int, stop: int) -> Segment:
        """Units [first, stop) as a composite."""
        ops = tuple(op for unit in self.parts[first:stop] for op in unit)
        used = dict.fromkeys(slot for used in self._used[first:stop] for slot in used)
        named = {slot for op in ops for slot in op.slots}
        own = [slot for slot in self._rw if slot in named]
        crossing = [slot for slot in used if self._crosses(slot, first, stop)]
        return Segment(ops, tuple(dict.fromkeys((*own, *crossing))))

    def _crosses(self, slot: int, first: int, stop: int) -> bool:
        """Used outside, too, and written somewhere."""
        outside = self._first_use[slot] < first or self._last_use[slot] >= stop
        return outside and slot in self._written

    def too_large(self, cap_bytes: int) -> str:
        """Names the largest unit, which does not fit by itself."""
        alone = [self.segment(place, place + 1) for place in range(len(self.parts))]
        largest = max(alone, key=lambda segment: segment.form.logical_bytes)
        kind = largest.ops[0].form.kind
        what = "the gemm with its tile ops" if kind == GEMM else f"the op {kind}"
        return (
            f"composite: {what} needs a descriptor of {largest.form.logical_bytes} bytes, over the"
            f" topology's cap of {cap_bytes} (pe.composite_cap_bytes), and cannot be cut"
        )
