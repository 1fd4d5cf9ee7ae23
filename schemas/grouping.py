"""Rows that belong to groups: listing a column group by group, and differencing it within groups.

A loop's columns interleave slowly growing values: the handle ids of a command's form, the addresses
of handles that look alike. Listed group by group and differenced within each, a loop becomes a
repetition, which compresses to almost nothing.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .columns import Int64s, offsets_of

Column = npt.NDArray[np.integer]
Values = TypeVar("Values", bound=Column)


def rows_by_group(groups: Column) -> Iterator[tuple[int, Int64s]]:
    """Each group that occurs, ascending, with its rows in order. Group numbers are not negative."""
    if not len(groups):
        return
    keys = groups.astype(_narrowest(int(groups.max())))  # numpy sorts narrow items by their digits
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = (1 + np.flatnonzero(ordered[1:] != ordered[:-1])).tolist()
    for first, past in pairwise([0, *starts, len(groups)]):
        yield int(ordered[first]), order[first:past]


def _narrowest(greatest: int) -> type[np.unsignedinteger]:
    return np.uint8 if greatest < 1 << 8 else np.uint16 if greatest < 1 << 16 else np.uint64


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


def undifferenced(listed: Values, groups: Iterable[tuple[Int64s, int]]) -> Values:
    """The inverse of `differenced`: per group, where each of its rows begins, and their width.

    The column must be as long as the rows' widths say.
    """
    values = np.empty_like(listed)
    done = 0
    for begins, width in groups:
        block = listed[done : done + len(begins) * width].reshape(len(begins), width)
        for entry in range(width):  # a sum down a column of its own is several times as fast
            values[begins + entry] = np.cumsum(block[:, entry], dtype=listed.dtype)
        done += block.size
    return values


def undifferenced_singles(listed: Values, groups: Column) -> Values:
    """The same where every row is one entry."""
    values = np.empty_like(listed)
    done = 0
    for _, rows in rows_by_group(groups):
        values[rows] = np.cumsum(listed[done : done + len(rows)], dtype=listed.dtype)
        done += len(rows)
    return values


def _blocks(groups: Column, widths: Column) -> Iterator[Int64s]:
    """Per group, the places of its rows in the flat column: [rows, width]."""
    offsets = offsets_of(widths[groups])
    for group, rows in rows_by_group(groups):
        yield offsets[rows][:, None] + np.arange(widths[group])
