"""When two commands conflict, and which of their accesses stands for the pair.

Two accesses conflict when they share a byte and one of them writes. Of several conflicts of one
pair of commands the first is told: by the later command's op, then by the earlier command's op,
then RAW before WAW before WAR. So a command that overwrites a buffer before it reads it back is
told as a WAW or WAR, not as a RAW on what it has just written itself.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ...schemas.columns import Int64s
from ...schemas.footprints import Footprint, shared_bytes
from ...schemas.hazard_policy import HazardKind
from ...schemas.hazards import KIND_NUMBERS

ALL_KINDS = frozenset(HazardKind)
NO_OP = -1
NO_SLOT = -1

_KINDS_BY_WRITES = {
    (True, False): HazardKind.RAW,
    (True, True): HazardKind.WAW,
    (False, True): HazardKind.WAR,
}
_PRECEDENCE = {HazardKind.RAW: 0, HazardKind.WAW: 1, HazardKind.WAR: 2}


class Access(NamedTuple):
    """One op's use of a handle: `slot` is the handle's place in the command's form.

    `memory` is an HBM tensor's number, or −1 for TCM; bytes of different memories never meet.
    """

    op: int
    slot: int
    writes: bool
    memory: int
    covered: Footprint


class Conflict(NamedTuple):
    """Why a pair of commands conflicts, without the commands: alike pairs have equal conflicts.

    An op of −1 means the whole command, a slot of −1 no handle (then no byte is shared). The bytes
    count from the later handle's address; equal ends mean no byte.
    """

    kind: HazardKind
    earlier_op: int
    earlier_slot: int
    later_op: int
    later_slot: int
    byte_from: int
    byte_to: int

    @property
    def rank(self) -> tuple[int, int, int]:
        """Of several conflicts of a pair, the one of the least rank is told."""
        return self.later_op, self.earlier_op, _PRECEDENCE[self.kind]


def kind_of(earlier_writes: bool, later_writes: bool) -> HazardKind | None:
    """The hazard that two accesses to the same bytes are, None for two reads."""
    return _KINDS_BY_WRITES.get((earlier_writes, later_writes))


def first_conflict(
    earlier: Iterable[Access], later: Iterable[Access], kinds: frozenset[HazardKind]
) -> Conflict | None:
    """The conflict of least rank among those of the given kinds, by bytes; None without one.

    `later` is in the order of its ops.
    """
    by_memory: dict[int, list[Access]] = {}
    for before in earlier:
        by_memory.setdefault(before.memory, []).append(before)
    first: Conflict | None = None
    for after in later:
        if first and after.op > first.later_op:
            break
        for before in by_memory.get(after.memory, ()):
            conflict = _conflict(before, after, kinds)
            if conflict and (first is None or conflict.rank < first.rank):
                first = conflict
    return first


def _conflict(before: Access, after: Access, kinds: frozenset[HazardKind]) -> Conflict | None:
    kind = kind_of(before.writes, after.writes)
    if kind is None or kind not in kinds:
        return None
    shared = shared_bytes(before.covered, after.covered)
    if shared is None:
        return None
    first, past = shared[0] - after.covered.start, shared[1] - after.covered.start
    return Conflict(kind, before.op, before.slot, after.op, after.slot, first, past)


class ConflictTable:
    """Conflicts numbered as they appear, so that a pair of commands is three numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Conflict, int] = {}
        self._conflicts: list[Conflict] = []

    def number(self, conflict: Conflict) -> int:
        """The conflict's number; a new one where it has not been seen."""
        number = self._numbers.setdefault(conflict, len(self._conflicts))
        if number == len(self._conflicts):
            self._conflicts.append(conflict)
        return number

    def __getitem__(self, number: int) -> Conflict:
        return self._conflicts[number]

    def columns(self) -> dict[str, Int64s]:
        """The fields of all conflicts by name, kinds as KIND_NUMBERS: int64 [conflicts]."""
        rows = [(KIND_NUMBERS[one.kind], *one[1:]) for one in self._conflicts]
        table = np.array(rows, dtype=np.int64).reshape(len(rows), len(Conflict._fields))
        return {name: table[:, place] for place, name in enumerate(Conflict._fields)}
