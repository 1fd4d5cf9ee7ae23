"""Rows that belong to groups: listing a column group by group, and differencing it within groups.

A loop's columns interleave slowly growing values: the handle ids of a command's form, the addresses
of handles that look alike. Listed group by group and differenced within each, a loop becomes a
repetition, which compresses to almost nothing.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .columns import Int64s, offsets_of

Column = npt.NDArray[np.integer]
Values = TypeVar("Values", bound=Column)


def rows_by_group(groups: Column) -> Iterator[tuple[int, Int64s]]:
    """Each group that occurs, ascending, with its rows in order. Group numbers are not negative."""
    few = len(groups) == 0 or int(groups.max()) < 1 << 16
    order = np.argsort(groups.astype(np.uint16) if few else groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1)).tolist()
    for first, past in pairwise([*starts, len(groups)]):
        yield int(ordered[first]), order[first:past]


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


def undifferenced(listed: Values, groups: Column, widths: Column) -> Values:
    """The inverse of `differenced`. The column must be as long as its rows' widths say."""
    values = np.empty_like(listed)
    done = 0
    for places in _blocks(groups, widths):
        block = listed[done : done + places.size].reshape(places.shape)
        values[places] = np.cumsum(block, axis=0, dtype=listed.dtype)
        done += places.size
    return values


def _blocks(groups: Column, widths: Column) -> Iterator[Int64s]:
    """Per group, the places of its rows in the flat column: [rows, width]."""
    offsets = offsets_of(widths[groups])
    for group, rows in rows_by_group(groups):
        yield offsets[rows][:, None] + np.arange(widths[group])
