"""Rows that belong to groups: listing a column group by group, and differencing it within groups.

A loop's columns interleave slowly growing values: the handle ids of a command's form, the addresses
of handles that look alike. Listed group by group and differenced within each, a loop becomes a
repetition, which compresses to almost nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .columns import Int64s, offsets_of
from .loops import Keys, LoopedRows, lanes, loop_of, looped_rows, place

Column = npt.NDArray[np.integer]
Values = TypeVar("Values", bound=Column)


class Grouped:
    """The rows of a column of group numbers, group by group. Numbers are not negative.

    `once`: the column with one turn of the `loop` alone; `order`: its rows, group by group. `numbers`:
    each number that occurs, ascending.
    """

    def __init__(self, numbers: Column) -> None:
        greatest = int(numbers.max(initial=0))
        narrowest = (
            np.uint8 if greatest < 1 << 8 else np.uint16 if greatest < 1 << 16 else np.uint64
        )
        keys: Keys = numbers.astype(narrowest)
        self.loop = loop_of(keys)
        self.once = self.loop.once(keys)
        # a stable sort goes through narrow items digit by digit
        self.order = np.argsort(self.once, kind="stable")
        ordered = self.once.take(self.order)
        starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        self._bounds = [0, *starts.tolist(), len(ordered)] if len(ordered) else []
        self.numbers: list[int] = ordered[self._bounds[:-1]].tolist()

    def runs(self) -> Iterator[tuple[int, int]]:
        """Per group, where its rows begin in `order`, and where they end."""
        return pairwise(self._bounds)

    @cached_property
    def groups(self) -> list[tuple[int, LoopedRows]]:
        """Each number that occurs, ascending, and its rows as those of the column's loop."""
        once = [self.order[first:past] for first, past in self.runs()]
        looped = [looped_rows(self.loop, rows) for rows in once]
        return list(zip(self.numbers, looped, strict=True))

    def rows(self) -> Iterator[Int64s]:
        """Per group, its rows in order."""
        steps = self.loop.steps(self.loop.period)
        return (looped.unrolled(looped.once, steps) for _, looped in self.groups)


def rows_by_group(numbers: Column) -> Iterator[tuple[int, Int64s]]:
    """Each group that occurs, ascending, with its rows in order. Group numbers are not negative."""
    grouped = Grouped(numbers)
    return zip(grouped.numbers, grouped.rows(), strict=True)


def differenced(values: Values, groups: Column, widths: Column) -> Values:
    """The rows listed group by group: a group's first row as it is, each other minus the one before.

    Row r is the next `widths[groups[r]]` entries of the flat column `values`.
    """
    listed = np.empty_like(values)
    done = 0
    for places in _blocks(groups, widths):
        block = values[places]
        block[1:] -= values[places[:-1]]
        listed[done : done + block.size] = block.reshape(-1)
        done += block.size
    return listed


def summed(
    listed: Column, sizes: Iterable[tuple[int, int]], item: type[np.signedinteger]
) -> Iterator[npt.NDArray[Any]]:
    """What `differenced` listed, group after group: [entry of a row, row], so that one entry of all
    a group's rows is one run of memory. Sums wrap at the item's width.

    `sizes` has each group's number of rows and their width; the column must be as long as they say.
    """
    done = 0
    for rows, width in sizes:
        by_row = listed[done : done + rows * width].reshape(rows, width)
        block = lanes(width, rows, item)
        block[...] = by_row.T
        yield block.cumsum(axis=1, dtype=item, out=block)
        done += block.size


def summed_at_once(
    listed: Column, sizes: Iterable[tuple[int, int]], item: type[np.signedinteger]
) -> npt.NDArray[Any]:
    """As `summed`, row after row as they were listed: for groups of few rows."""
    sums: npt.NDArray[Any] = listed.astype(item)
    done = 0
    for rows, width in sizes:
        block = sums[done : done + rows * width].reshape(rows, width)
        np.add.accumulate(block, axis=0, out=block)
        done += rows * width
    return sums


def undifferenced(
    listed: Column, groups: Sequence[tuple[Int64s, int]], item: type[np.signedinteger]
) -> npt.NDArray[Any]:
    """The inverse of `differenced`: per group, where each of its rows begins, and their width."""
    values = np.empty(len(listed), item)
    sizes = ((len(begins), width) for begins, width in groups)
    for (begins, _), block in zip(groups, summed(listed, sizes, item), strict=True):
        place(values, begins, block)
    return values


def _blocks(groups: Column, widths: Column) -> Iterator[Int64s]:
    """Per group, the places of its rows in the flat column: [rows, width]."""
    offsets = offsets_of(widths[groups])
    for group, rows in rows_by_group(groups):
        yield offsets[rows][:, None] + np.arange(widths[group])
