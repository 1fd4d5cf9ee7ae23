"""Comparisons that look at handle ids. A view has an id of its own, so two names of one buffer do
not meet, whatever bytes they share; a handle meets itself, even if it covers no byte.
"""

from collections.abc import Callable, Set
from functools import lru_cache
from operator import attrgetter

from ...schemas.hazard_policy import HazardKind, HazardPolicy, Holds
from .accesses import REMEMBERED, StreamAccesses
from .conflicts import ALL_KINDS, Conflict, ConflictTable, first_conflict
from .ordering import Unfinished

_Slots = frozenset[tuple[int, int]]
"""Of every handle that two commands share, its slot in the earlier and in the later one."""

_NONE = -1

_CANDIDATES: dict[Holds, Callable[[Unfinished], set[int]]] = {
    Holds.COMPOSITES: attrgetter("composites"),
    Holds.COMMANDS: attrgetter("commands"),
}
"""Among whom a policy looks for conflicts: composites are few, loads nobody reads can be many."""


class Handles:
    """Compares what the ops read and write, and what is declared read-write as both."""

    def __init__(
        self, accesses: StreamAccesses, table: ConflictTable, policy: HazardPolicy
    ) -> None:
        self._accesses = accesses
        self._table = table
        self._kinds = frozenset(policy.kinds)
        self._candidates = _CANDIDATES[policy.holds]
        self._number = _OnceForAlike(accesses, self._compare)

    def conflicts(self, command: int, unfinished: Unfinished, known: set[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        later = self._accesses.handle_use(command)
        for earlier in self._candidates(unfinished) - known:
            before = self._accesses.handle_use(earlier)
            met = before.written & later.touched | later.written & before.touched
            if met:
                slots = frozenset((before.slots[one], later.slots[one]) for one in met)
                number = self._number(earlier, command, slots, met)
                if number != _NONE:
                    found[earlier] = number
        return found

    def _compare(self, earlier: int, later: int, met: Set[int]) -> int:
        conflict = _first_by_handle(self._accesses, earlier, later, met, self._kinds)
        return self._table.number(conflict) if conflict else _NONE


class RwHandles:
    """Compares the read-write handles, whatever the ops do with them (DDD-0065 §8)."""

    def __init__(
        self, accesses: StreamAccesses, table: ConflictTable, policy: HazardPolicy
    ) -> None:
        self._accesses = accesses
        self._table = table
        self._candidates = _CANDIDATES[policy.holds]
        self._declared = lru_cache(maxsize=REMEMBERED)(accesses.rw_handles)
        self._number = _OnceForAlike(accesses, self._compare)

    def conflicts(self, command: int, unfinished: Unfinished, known: set[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        declared = self._declared(command)
        for earlier in self._candidates(unfinished) - known if declared else ():
            before = self._declared(earlier)
            met = declared.keys() & before.keys()
            if met:
                slots = frozenset((before[one], declared[one]) for one in met)
                found[earlier] = self._number(earlier, command, slots, met)
        return found

    def _compare(self, earlier: int, later: int, met: Set[int]) -> int:
        conflict = _first_by_handle(self._accesses, earlier, later, met, ALL_KINDS)
        assert conflict is not None  # what both declare read-write always conflicts
        return self._table.number(conflict)


class _OnceForAlike:
    """The number of two commands' conflict: compared once for all commands of equal shapes that
    meet in the same slots."""

    def __init__(
        self, accesses: StreamAccesses, compare: Callable[[int, int, Set[int]], int]
    ) -> None:
        self._shapes = accesses.shapes
        self._compare = compare
        self._numbers: dict[tuple[int, int, _Slots], int] = {}

    def __call__(self, earlier: int, later: int, slots: _Slots, met: Set[int]) -> int:
        alike = self._shapes[earlier], self._shapes[later], slots
        number = self._numbers.get(alike)
        if number is None:
            number = self._numbers[alike] = self._compare(earlier, later, met)
        return number


def _first_by_handle(
    accesses: StreamAccesses,
    earlier: int,
    later: int,
    handles: Set[int],
    kinds: frozenset[HazardKind],
) -> Conflict | None:
    """The conflict of least rank over those handles: between the ops or, where they have none, of what
    is declared read-write, taken at its word. Its bytes are the handle's first dense ones.
    """
    before, after = ([*accesses.by_handle(one, handles)] for one in (earlier, later))
    conflict = first_conflict(before, after, kinds)
    if conflict is None:
        before = [*accesses.declared(earlier, handles), *before]
        after = [*accesses.declared(later, handles), *after]
        conflict = first_conflict(before, after, kinds)
    if conflict is None:
        return None
    run_bytes = accesses.covered_by(later, conflict.later_slot).run_bytes
    return conflict._replace(byte_from=0, byte_to=run_bytes)
