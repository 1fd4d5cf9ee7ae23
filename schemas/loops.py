"""Where a long column repeats itself, so that one turn of the loop stands for all of them.

A kernel's tile loop issues the same forms, and makes handles that look the same, turn after turn:
to sort one turn and count on is several times as fast as to sort all, and what belongs to the turns
can be written turn by turn.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .columns import Int64s, Integers

Keys = npt.NDArray[np.unsignedinteger]

LONG = 1 << 14
"""Columns that are shorter are not searched."""

LINE_ITEMS = 16
LONG_LANE = 1 << 10

WINDOWS_BYTES = (1 << 6, 1 << 12)
"""How much of the column's middle must come again; the second tells a loop from one inside it."""


@dataclass(frozen=True, slots=True)
class Loop:
    """From row `start` on, the same `period` rows `turns` times."""

    start: int
    period: int
    turns: int

    def steps(self, in_turn: int) -> Int64s:
        """How much more than in the first turn each turn has, of what each turn adds so much to."""
        return np.arange(self.turns) * in_turn

    def once(self, column: Keys) -> Keys:
        """The column with one turn alone."""
        if not self.turns:
            return column
        end = self.start + self.turns * self.period
        return np.concatenate([column[: self.start + self.period], column[end:]])


def loop_of(column: Keys) -> Loop:
    """The loop that the middle of the column is in, if at least half of the column is; else none."""
    none = Loop(len(column), 0, 0)
    if len(column) < LONG or column.itemsize > 1:
        return none
    text, middle = column.tobytes(), len(column) // 2
    for window_bytes in WINDOWS_BYTES:
        again = text.find(text[middle : middle + window_bytes], middle + 1)
        if again < 0:
            return none
        loop = _around(column, middle, again - middle)
        if 2 * loop.turns * loop.period >= len(column):
            return loop
    return none


def _around(column: Keys, middle: int, period: int) -> Loop:
    """As many turns of that period as there are around the middle."""
    breaks = np.flatnonzero(column[period:] != column[:-period])
    after = int(np.searchsorted(breaks, middle))
    start = int(breaks[after - 1]) + 1 if after else 0
    past = (int(breaks[after]) if after < len(breaks) else len(column) - period) + period
    return Loop(start, period, (past - start) // period)


def lanes(count: int, length: int, item: type[np.signedinteger]) -> npt.NDArray[Any]:
    """Empty lanes, [lane, place], to be filled or read across: long ones lie no power of two apart,
    as lines of memory that do share one set of the cache."""
    gap = LINE_ITEMS if length >= LONG_LANE else 0
    return np.empty((count, length + gap), item)[:, :length]


@dataclass(frozen=True, slots=True)
class LoopedRows:
    """The rows of a column that belong together, in order: `before` of them come before the column's
    loop, then `in_turn` in each of its turns. `once`: the same of the column with one turn alone."""

    loop: Loop
    once: Int64s
    before: int
    in_turn: int

    @property
    def behind(self) -> int:
        """How many of the column's rows come before those behind its loop."""
        return self.before + self.in_turn * self.loop.turns

    @property
    def count(self) -> int:
        """How many of the column's rows these are."""
        return self.behind + len(self.once) - self.before - self.in_turn

    def unrolled(self, values: Int64s, steps: Int64s) -> Int64s:
        """Per row of `once` a value; per row of the column the same, and in each turn what `steps`
        has for it more."""
        if not self.loop.turns:
            return values
        past = self.before + self.in_turn
        unrolled = np.empty(self.count, dtype=np.int64)
        unrolled[: self.before] = values[: self.before]
        for row in range(self.before, past):
            np.add(steps, values[row], out=unrolled[row : self.behind : self.in_turn])
        np.add(values[past:], steps[-1], out=unrolled[self.behind :])
        return unrolled


def looped_rows(loop: Loop, once: Int64s) -> LoopedRows:
    """The rows that those of the column with one turn stand for."""
    if not loop.turns:
        return LoopedRows(loop, once, len(once), 0)
    before, past = np.searchsorted(once, [loop.start, loop.start + loop.period]).tolist()
    return LoopedRows(loop, once, before, past - before)


class Unrolling:
    """A flat column of a loop's rows, each of some entries, to be filled group by group."""

    def __init__(
        self, length: int, item: type[np.signedinteger], loop: Loop, start: int, in_turn: int
    ) -> None:
        """The loop's first entry, and how many are in a turn."""
        self._values: npt.NDArray[Any] = np.empty(length, item)
        self._start = start
        self._other_turns = in_turn * (loop.turns - 1)
        self._turns = lanes(in_turn, loop.turns, item)

    def place(self, rows: LoopedRows, begins: Int64s, block: Integers) -> None:
        """A group's rows: where they begin in the column with one turn alone, and the entries of all of
        them, [entry, row]."""
        past = rows.before + rows.in_turn
        for row, begin in enumerate(begins[rows.before : past].tolist(), rows.before):
            first = begin - self._start
            turns = block[:, row : rows.behind : rows.in_turn]
            self._turns[first : first + len(block)] = turns
        place(self._values, begins[: rows.before], block[:, : rows.before])
        place(self._values, begins[past:] + self._other_turns, block[:, rows.behind :])

    def filled(self) -> npt.NDArray[Any]:
        """The column, once every row has been placed."""
        end = self._start + self._turns.size
        by_turn = self._values[self._start : end].reshape(self._turns.shape[::-1])
        by_turn[...] = self._turns.T
        return self._values


def place(values: npt.NDArray[Any], begins: Int64s, block: Integers) -> None:
    """Writes rows to a flat column: where they begin there, and their entries, [entry, row]."""
    for entry, column in enumerate(block if len(begins) else ()):
        values[entry:][begins] = column
