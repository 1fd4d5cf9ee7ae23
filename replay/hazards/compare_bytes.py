"""Comparisons that look at the bytes two commands touch."""

from collections.abc import Iterable
from functools import lru_cache

from ...schemas.hazard_policy import HazardKind
from .accesses import StreamAccesses
from .conflicts import ALL_KINDS, NO_OP, NO_SLOT, Access, Conflict, ConflictTable, first_conflict
from .nearby import Nearby
from .ordering import Unfinished
from .signatures import NO_SIGNATURE

FEW = 32
"""Up to so many signatures are compared one by one: a tile loop has hardly more in flight."""

_REMEMBERED_PAIRS = 1 << 18
_NONE = -1


class Bytes:
    """Compares footprints, in TCM and in HBM. Two reads never conflict."""

    def __init__(
        self, accesses: StreamAccesses, table: ConflictTable, kinds: frozenset[HazardKind]
    ) -> None:
        self._accesses = accesses
        self._table = table
        self._kinds = kinds
        self._nearby = Nearby(accesses)
        self._alike = lru_cache(maxsize=_REMEMBERED_PAIRS)(self._compare_signatures)

    def conflicts(self, command: int, unfinished: Unfinished, known: set[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        signature = self._accesses.signatures[command]
        if signature != NO_SIGNATURE:
            for other in self._candidates(signature, unfinished):
                number = self._alike(other, signature)
                if number != _NONE:
                    alike = unfinished.by_signature[other]
                    found.update((earlier, number) for earlier in alike if earlier not in known)
        if self._accesses.touches_hbm[command]:
            self._add_in_hbm(found, command, unfinished, known)
        return found

    def _candidates(self, signature: int, unfinished: Unfinished) -> Iterable[int]:
        """The unfinished signatures that may share a byte of TCM with this one."""
        if len(unfinished.by_signature) <= FEW:
            return unfinished.by_signature
        self._nearby.hold(unfinished.by_signature.keys())
        return self._nearby.near(signature)

    def _add_in_hbm(
        self, found: dict[int, int], command: int, unfinished: Unfinished, known: set[int]
    ) -> None:
        later = self._accesses.in_hbm(command)
        for earlier in unfinished.touching_hbm:
            if earlier in known:
                continue
            number = self._number(self._accesses.in_hbm(earlier), later)
            if number != _NONE:
                numbers = (number, found.get(earlier, number))
                found[earlier] = min(numbers, key=lambda one: self._table[one].rank)

    def _compare_signatures(self, earlier: int, later: int) -> int:
        return self._number(self._accesses.in_tcm(earlier), self._accesses.in_tcm(later))

    def _number(self, earlier: tuple[Access, ...], later: tuple[Access, ...]) -> int:
        conflict = first_conflict(earlier, later, self._kinds)
        return self._table.number(conflict) if conflict else _NONE


class Everything:
    """Every unfinished command conflicts; where no byte is shared, on no handle and no bytes."""

    def __init__(self, accesses: StreamAccesses, table: ConflictTable) -> None:
        self._bytes = Bytes(accesses, table, ALL_KINDS)
        self._order_alone = table.number(
            Conflict(HazardKind.RAW, NO_OP, NO_SLOT, NO_OP, NO_SLOT, 0, 0)
        )

    def conflicts(self, command: int, unfinished: Unfinished, known: set[int]) -> dict[int, int]:
        found = dict.fromkeys(unfinished.commands - known, self._order_alone)
        found.update(self._bytes.conflicts(command, unfinished, known))
        return found
