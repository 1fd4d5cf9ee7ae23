"""Which of many signatures touch TCM near another one's: a grid to look them up in.

A load that nobody has waited for stays in flight: of an all-to-all there are as many as there are PEs,
each with bytes of its own. To compare a command with all of them costs their number squared a
stream; in the grid it meets those alone that reach into the same cells.

The hull of an access, from its first byte to its last, is entered on the level whose cells are the
smallest that are no shorter: so it lies in two of them at most. What shares a byte shares a cell of
some level; what shares a cell need not share a byte.
"""

from collections.abc import Iterable, Iterator, Set
from typing import TypeAlias

from .accesses import StreamAccesses

Cell: TypeAlias = tuple[int, int]
"""(level, number): the bytes from number · 2^level to (number + 1) · 2^level."""


class Nearby:
    """The signatures given last to `hold`, by the cells of their TCM accesses."""

    def __init__(self, accesses: StreamAccesses) -> None:
        self._accesses = accesses
        self._levels: dict[int, dict[int, set[int]]] = {}
        self._cells: dict[int, list[Cell]] = {}

    def hold(self, signatures: Set[int]) -> None:
        """Holds these, and no others; the cost is that of those that are new or gone."""
        for gone in self._cells.keys() - signatures:
            self._remove(gone)
        for new in signatures - self._cells.keys():
            self._add(new)

    def near(self, signature: int) -> list[int]:
        """Those held that may share a byte with the signature, ascending: all that do, and few more."""
        found: set[int] = set()
        for start, stop in self._hulls(signature):
            for level, cells in self._levels.items():
                found.update(*_met(cells, start >> level, (stop - 1) >> level))
        return sorted(found)

    def _hulls(self, signature: int) -> Iterator[tuple[int, int]]:
        for access in self._accesses.in_tcm(signature):
            if access.covered.run_bytes:
                yield access.covered.start, access.covered.stop

    def _add(self, signature: int) -> None:
        cells: dict[Cell, None] = {}
        for start, stop in self._hulls(signature):
            level = (stop - start - 1).bit_length()
            cells |= dict.fromkeys([(level, start >> level), (level, (stop - 1) >> level)])
        self._cells[signature] = list(cells)
        for level, number in cells:
            self._levels.setdefault(level, {}).setdefault(number, set()).add(signature)

    def _remove(self, signature: int) -> None:
        for level, number in self._cells.pop(signature):
            held = self._levels[level][number]
            held.remove(signature)
            if not held:
                del self._levels[level][number]


def _met(cells: dict[int, set[int]], first: int, last: int) -> Iterable[set[int]]:
    """What lies in the cells from one to another, by whichever there are fewer of to go through."""
    if last - first < len(cells):
        return [cells[number] for number in range(first, last + 1) if number in cells]
    return [held for number, held in cells.items() if first <= number <= last]
