"""How many of some intervals cover each moment: steps up and down, whatever the number of intervals.

Where one interval ends as another begins nothing changes, and alike intervals step together. So the
idle times of hundreds of engines alike, cut up into millions of pieces, are some thousands of steps.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...schemas.columns import Int32s, Int64s, offsets_of
from .occupancy import Axis

LEAST_AT_ONCE = 1 << 16
"""Intervals are put together when so many have come, or a quarter of the steps that there are."""

_NO_TIMES, _NO_CHANGES = np.zeros(0, np.int64), np.zeros(0, np.int32)


@dataclass(frozen=True)
class Depth:
    """From `times[i]` on, up to `times[i + 1]`, `depths[i]` intervals cover every moment.

    `times` (ps) ascends; before the first and from the last on there are none.
    """

    times: Int64s
    depths: Int32s

    def __len__(self) -> int:
        return len(self.times)

    @cached_property
    def _before(self) -> Int64s:
        """The time covered before each step, modulo 2⁶⁴."""
        return offsets_of(self.depths[:-1] * np.diff(self.times))

    def measure(self, shown: Axis) -> Int64s:
        """Per column, the time covered in it, summed over the intervals."""
        if not len(self):
            return np.zeros(shown.width, dtype=np.int64)
        edges = shown.edges
        begun = self.times.searchsorted(edges)
        latest = np.maximum(begun - 1, 0)
        since = np.where(begun > 0, edges - self.times[latest], 0)
        covered: Int64s = self._before[latest] + self.depths[latest] * since
        return np.diff(covered)


class Covering:
    """Puts intervals together, in any order, without keeping them."""

    def __init__(self) -> None:
        self._coming: list[tuple[Int64s, Int64s]] = []
        self._count = 0
        self._times, self._changes = _NO_TIMES, _NO_CHANGES

    def add(self, starts: Int64s, ends: Int64s) -> None:
        """More intervals, ps."""
        self._coming.append((starts, ends))
        self._count += len(starts)
        if self._count > max(LEAST_AT_ONCE, len(self._times) // 4):
            self._put_together()

    def depth(self) -> Depth:
        """What all of them cover."""
        self._put_together()
        return Depth(self._times, np.cumsum(self._changes, dtype=np.int32))

    def _put_together(self) -> None:
        """Lets go of everything as soon as it is put together with the rest."""
        columns = [(self._times, self._changes)]
        for side, by in ((0, 1), (1, -1)):
            columns.append(
                _counted(np.concatenate([_NO_TIMES, *(c[side] for c in self._coming)]), by)
            )
        self._coming, self._count = [], 0
        self._times, self._changes = _NO_TIMES, _NO_CHANGES
        self._times, self._changes = _steps(columns)


def _counted(times: Int64s, by: int) -> tuple[Int64s, Int32s]:
    """The times that occur, ascending, and the change at each: `by` as often as it occurs."""
    in_order = np.sort(times, kind="stable")
    first = _first_of_each(in_order)
    return in_order[first], (by * np.diff(first, append=len(times))).astype(np.int32)


def _steps(columns: list[tuple[Int64s, Int32s]]) -> tuple[Int64s, Int32s]:
    """The changes at each time added up, in the order of time, without those that are none. Uses the
    columns up.
    """
    times = np.concatenate([times for times, _ in columns])
    changes = np.concatenate([changes for _, changes in columns])
    columns.clear()
    order = np.argsort(times, kind="stable")
    times, changes = times[order], changes[order]
    del order
    first = _first_of_each(times)
    total = np.add.reduceat(changes, first, dtype=np.int32) if len(first) else changes
    is_step = total != 0
    return times[first[is_step]], total[is_step]


def _first_of_each(in_order: Int64s) -> Int64s:
    """The place of the first of each value."""
    is_first = np.ones(len(in_order), dtype=np.bool_)
    np.not_equal(in_order[1:], in_order[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)
