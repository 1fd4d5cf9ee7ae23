"""One engine's stages in the order of their starts, and what every column of a picture shows of them.

A lane's covered intervals follow each other without meeting, so before a time t at most the last one
that has begun still runs. With c(n) the time that the first n stages cover, by paint,

    busy(t) = c(n) − (end of stage n − 1, less t, where that is positive),   n = stages begun before t

which takes one binary search a column, whatever the number of stages.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...schemas.columns import Bools, Int16s, Int32s, Int64s, offsets_of
from .occupancy import Axis, Density, shares


@dataclass(frozen=True)
class Seen:
    """A lane's columns: how busy, and the positions of the first and the last stage in each.

    A column that shows no stage has first = last + 1; one of `is_single` shows exactly one.
    """

    density: Density
    first: Int64s
    last: Int64s

    @property
    def is_single(self) -> Bools:
        shown: Bools = self.first == self.last
        return shown


@dataclass(frozen=True)
class Lane:
    """The stages of one engine in the order (start, stage id).

    `ids`, `starts`, `ends` and `paints` are parallel. `covered[i]` is the latest end of the stages
    before i (or i's start, where that is later): an engine that does not arbitrate may run several
    stages at once, and `covered` to `covered_ends` counts their common time once.
    """

    ids: Int32s
    starts: Int64s
    ends: Int64s
    paints: Int16s

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def covered_ends(self) -> Int64s:
        """The latest end so far, per stage: sorted."""
        if (self.ends[1:] >= self.ends[:-1]).all():
            return self.ends
        return np.maximum.accumulate(self.ends)

    @cached_property
    def covered(self) -> Int64s:
        """Where each stage begins to cover time that no earlier one covers: sorted."""
        if (self.starts[1:] >= self.covered_ends[:-1]).all():
            return self.starts
        before = np.concatenate((self.starts[:1], self.covered_ends[:-1]))
        return np.maximum(self.starts, before)

    @cached_property
    def painted(self) -> Int64s:
        """The paints that occur, sorted."""
        return np.unique(self.paints).astype(np.int64)

    @cached_property
    def _covered_before(self) -> Int64s:
        """Per paint that occurs, the time covered in it by the first n stages: [paints, stages + 1]."""
        lengths = self.covered_ends - self.covered
        if len(self.painted) == 1:
            return offsets_of(lengths)[np.newaxis]
        return np.stack([offsets_of(lengths * (self.paints == one)) for one in self.painted])

    @property
    def busy_ps(self) -> int:
        """The time that the stages cover, each instant once."""
        return int(self._covered_before[:, -1].sum()) if len(self) else 0

    @property
    def main_paint(self) -> int:
        """The paint of what the lane does for most of its busy time. Not for an empty lane."""
        return int(self.painted[self._covered_before[:, -1].argmax()])

    def seen(self, shown: Axis) -> Seen:
        """What every column shows. Not for an empty lane."""
        edges = shown.edges
        begun = self.covered.searchsorted(edges)
        latest = np.maximum(begun - 1, 0)
        running = np.where(begun > 0, (self.covered_ends[latest] - edges).clip(0), 0)
        busy = self._covered_before[:, begun]
        if len(self.painted) == 1:
            busy -= running
        else:
            busy -= running * (self.paints[latest] == self.painted[:, np.newaxis])
        busy = busy[:, 1:] - busy[:, :-1]
        total = busy[0] if len(busy) == 1 else busy.sum(axis=0)
        share = shares(total, shown)
        started = begun if self.covered is self.starts else self.starts.searchsorted(edges)
        density = Density(share, self._paint(busy, total, latest[1:]), started[1:] - started[:-1])
        return Seen(density, begun[:-1] - (running[:-1] > 0), begun[1:] - 1)

    def _paint(self, busy: Int64s, total: Int64s, latest: Int64s) -> Int64s:
        """Per column the paint that was busy longest; where none was, that of the last one begun."""
        if len(busy) == 1:
            return np.full(len(total), self.painted[0])
        return np.where(total > 0, self.painted[busy.argmax(axis=0)], self.paints[latest])

    def position(self, stage: int, start_ps: int) -> int:
        """Where a stage of that id and start is, or would be inserted."""
        first = int(np.searchsorted(self.starts, start_ps))
        past = int(np.searchsorted(self.starts, start_ps, side="right"))
        return first + int(np.searchsorted(self.ids[first:past], stage))

    def nearest(self, time_ps: int) -> int:
        """The position of the stage that runs at a time, or else the closest one. Not for an empty lane."""
        after = int(np.searchsorted(self.starts, time_ps, side="right"))
        before = max(after - 1, 0)
        if after == len(self) or self.ends[before] > time_ps:
            return before
        gap_before = abs(time_ps - int(self.ends[before]))
        return before if gap_before <= int(self.starts[after]) - time_ps else after
