"""How busy a set of stages was in each column of a picture, whatever their number.

With the sorted starts s and ends e of all intervals and their prefix sums, the busy time before t is

    busy(t) = Σ over s < t of (t − s) − Σ over e < t of (t − e)
            = (n_s · t − S_s) − (n_e · t − S_e)

The products may wrap around in int64; the difference is exact all the same, because the true value
is below 2⁶² (schemas.timeline: the sum of all durations is). A column costs two binary searches.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Int64s, offsets_of

Floats = npt.NDArray[np.float64]

ALMOST_1 = float(np.nextafter(1.0, 0.0))

SUM_EVERY, LONG = 8, 1 << 16
"""Of a column of more values than the second, the sums of as many as the first together are kept."""


@dataclass(frozen=True)
class Axis:
    """The columns of a picture: column i shows the times from `edges[i]` to before `edges[i + 1]`.

    int64 ps [width + 1]; no column is narrower than 1 ps as long as the span has that many.
    """

    edges: Int64s

    @property
    def width(self) -> int:
        return len(self.edges) - 1

    @cached_property
    def column_ps(self) -> Int64s:
        """Each column's share of the time."""
        return np.diff(self.edges)

    def column_of(self, time_ps: int) -> int:
        """The column that shows a time; −1 before the first, `width` after the last."""
        return int(np.searchsorted(self.edges, time_ps, side="right")) - 1

    def columns_of(self, start_ps: int, end_ps: int) -> range:
        """The columns that show any part of [start, end); at least the start's, where it is shown."""
        first = max(self.column_of(start_ps), 0)
        last = self.column_of(max(end_ps - 1, start_ps))
        return range(first, min(last, self.width - 1) + 1)


def axis(from_ps: int, to_ps: int, width: int) -> Axis:
    """`width` columns of nearly equal time over [from_ps, to_ps)."""
    span = to_ps - from_ps
    edges = [from_ps + span * i // width for i in range(width + 1)]
    return Axis(np.array(edges, dtype=np.int64))


@dataclass(frozen=True)
class Occupancy:
    """Intervals ready to be measured: both columns sorted, int64 ps, of equal length."""

    starts: Int64s
    ends: Int64s

    @cached_property
    def _sum_starts(self) -> "PrefixSums":
        return PrefixSums(self.starts)

    @cached_property
    def _sum_ends(self) -> "PrefixSums":
        return PrefixSums(self.ends)

    def measure(self, shown: Axis) -> tuple[Int64s, Int64s]:
        """Per column, the busy time summed over the intervals, and how many of them begin there."""
        edges = shown.edges
        begun, ended = self.starts.searchsorted(edges), self.ends.searchsorted(edges)
        since_starts = begun * edges - self._sum_starts.before(begun)
        before: Int64s = since_starts - (ended * edges - self._sum_ends.before(ended))
        return before[1:] - before[:-1], begun[1:] - begun[:-1]


class PrefixSums:
    """The sums of a column's first values. Of a long column every eighth is kept, in a ninth of the
    memory; what is between them is added up when it is asked for.
    """

    def __init__(self, values: Int64s) -> None:
        self._values = values
        self._every = SUM_EVERY if len(values) > LONG else 1
        blocks = np.arange(0, len(values), self._every)
        self._sums = offsets_of(np.add.reduceat(values, blocks) if len(values) else values)

    def before(self, counts: Int64s) -> Int64s:
        """For each count n, the sum of the first n values, modulo 2⁶⁴."""
        block = counts // self._every
        sums: Int64s = self._sums[block]
        if self._every == 1:
            return sums
        places = block[:, np.newaxis] * self._every + np.arange(self._every)
        rest = self._values[np.minimum(places, len(self._values) - 1)]
        rest[places >= counts[:, np.newaxis]] = 0
        sums += rest.sum(axis=1)
        return sums


def occupancy(starts: Int64s, ends: Int64s) -> Occupancy:
    """The intervals in any order; quickest where they are a few sorted runs, as lanes are."""
    return Occupancy(np.sort(starts, kind="stable"), np.sort(ends, kind="stable"))


@dataclass(frozen=True)
class Density:
    """A row's columns. `share`: busy part of each column, 0 to 1 · `paint`: the paint (tones.Paint)
    that was busy longest, or began there where none was · `begun`: stages that start in the column.
    """

    share: Floats
    paint: Int64s
    begun: Int64s


def shares(busy: Int64s, shown: Axis, servers: int = 1) -> Floats:
    """The busy part of each column, of that many servers together: 1 only where all of it is, though a
    float has no number so close to 1 as 1 ps in 2⁶¹ needs.
    """
    whole = np.maximum(shown.column_ps, 1)
    share: Floats = busy / (whole * float(servers))
    is_part = busy // servers < whole
    share[is_part] = np.minimum(share[is_part], ALMOST_1)
    return share


def density(parts: dict[int, Occupancy], servers: int, shown: Axis) -> Density:
    """Measures a row: its intervals by paint, and how many servers a whole column would take."""
    width = shown.width
    if not parts:
        empty = np.zeros(width, dtype=np.int64)
        return Density(np.zeros(width), empty, empty)
    paints = np.array(list(parts), dtype=np.int64)
    measures = [part.measure(shown) for part in parts.values()]
    busy, begun = (np.stack(columns) for columns in zip(*measures, strict=True))
    total = busy.sum(axis=0)
    dominant = np.where(total > 0, busy.argmax(axis=0), begun.argmax(axis=0))
    return Density(shares(total, shown, max(servers, 1)), paints[dominant], begun.sum(axis=0))
