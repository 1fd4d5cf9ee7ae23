"""Goes back through a finished run: how much later each stage could end without moving the makespan.

A stage may be late by what remains when all that it lets happen has taken its part:

    slack of s = min over what s lets start:  slack of t + room    (t waits for s, or is next on s's engine)
                                              makespan − end of s

where the room of a release is how long before t's start it happened. A stage is looked at when all
that wait for it are done, so every release is read twice and nothing is sorted. One source, compiled
as engine.py is; slack_pass.pxd holds the C types and nothing else.
"""

from collections.abc import Callable, MutableSequence, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .shared_releases import SharedReleases

NONE = -1

Ints = MutableSequence[int]
NewColumn = Callable[[int], Ints]

_BUILT_FROM: bytes


def built_from() -> str:
    """The hash of the sources that this module was compiled from; '' where it runs uncompiled."""
    try:
        return _BUILT_FROM.decode()
    except NameError:
        return ""


class SlackPass:
    """A run that ended, to go back through: first `link`, then `count`, then `begin` all of its stages,
    each in ranges as long as the caller likes; then `follow` until it followed them all.

    `pe`, `start_ps` and `end_ps` per stage; `lag_ps` per lag class; `releases` as shared_releases has
    them. `new32` gives columns filled with NONE, `new64` any.

    Result: `slack_ps` per stage. Columns at work, per stage: `before`, the one that its engine served
    before it; `waiting`, how many are yet to be followed that it let start, and from 0 on the stage
    below it on the stack of those that may be followed. `top` is that stack's, or NONE.
    """

    def __init__(
        self,
        releases: "SharedReleases",
        pe: Sequence[int],
        start_ps: Sequence[int],
        end_ps: Sequence[int],
        lag_ps: Sequence[int],
        new32: NewColumn,
        new64: NewColumn,
    ) -> None:
        self.first = releases.first
        self.base = releases.base
        self.offsets = releases.offsets
        self.releaser = releases.releaser
        self.from_start = releases.from_start
        self.lag = releases.lag_class
        self.crossing_first = releases.crossing_first
        self.crossing_released = releases.crossing_released
        self.crossing_releaser = releases.crossing_releaser
        self.crossing_lag = releases.crossing_lag_class
        self.pe = pe
        self.start_ps = start_ps
        self.end_ps = end_ps
        self.lag_ps = lag_ps
        self.before = new32(len(start_ps))
        self.waiting = new32(len(start_ps))
        self.slack_ps = new64(len(start_ps))
        self.top = NONE
        self.followed = 0

    def link(
        self,
        served: Sequence[int],
        engine: Sequence[int],
        serves: Sequence[int],
        place: int,
        until: int,
    ) -> None:
        """Who was served before whom, at some places of `served`: all stages, engine after engine,
        each engine's in the order of their starts. `engine` per stage; `serves` per engine, 1 or 0.
        """
        for at in range(max(place, 1), until):
            stage, earlier = served[at], served[at - 1]
            if engine[stage] == engine[earlier] and serves[engine[stage]] == 1:
                self.before[stage] = earlier

    def count(self, stage: int, until: int) -> None:
        """Counts what waits for others, for some stages. `waiting` is one too low until `begin`."""
        for waits in range(stage, until):
            first = self.first[self.pe[waits]]
            at = self.base[self.pe[waits]] + waits - first
            for row in range(self.offsets[at], self.offsets[at + 1]):
                self.waiting[first + self.releaser[row]] += 1
            row = self.crossing(waits)
            while row != NONE:
                self.waiting[self.crossing_releaser[row]] += 1
                row = self.next_crossing(row)
            if self.before[waits] != NONE:
                self.waiting[self.before[waits]] += 1

    def begin(self, stage: int, until: int, makespan_ps: int) -> None:
        """What no other stage waits for may end with the makespan."""
        for begun in range(stage, until):
            self.slack_ps[begun] = makespan_ps - self.end_ps[begun]
            self.waiting[begun] += 1
            if self.waiting[begun] == 0:
                self.push(begun)

    def follow(self, most: int) -> None:
        """So many stages more, or all that are left."""
        while most > 0 and self.top != NONE:
            most -= 1
            self.followed += 1
            stage = self.top
            self.top = self.waiting[stage]
            self.pass_on(stage)

    def pass_on(self, stage: int) -> None:
        """Whatever let this stage start may be as late as it leaves room for."""
        first = self.first[self.pe[stage]]
        at = self.base[self.pe[stage]] + stage - first
        latest = self.start_ps[stage] + self.slack_ps[stage]
        for row in range(self.offsets[at], self.offsets[at + 1]):
            by = first + self.releaser[row]
            happened = self.start_ps[by] if self.from_start[row] == 1 else self.end_ps[by]
            self.allow(by, latest - self.lag_ps[self.lag[row]] - happened)
        row = self.crossing(stage)
        while row != NONE:
            by = self.crossing_releaser[row]
            self.allow(by, latest - self.lag_ps[self.crossing_lag[row]] - self.end_ps[by])
            row = self.next_crossing(row)
        if self.before[stage] != NONE:
            by = self.before[stage]
            self.allow(by, latest - self.end_ps[by])

    def allow(self, stage: int, slack_ps: int) -> None:
        """One of those that the stage let start leaves it so much."""
        if slack_ps < self.slack_ps[stage]:
            self.slack_ps[stage] = slack_ps
        self.waiting[stage] -= 1
        if self.waiting[stage] == 0:
            self.push(stage)

    def push(self, stage: int) -> None:
        """The stage may be followed."""
        self.waiting[stage] = self.top
        self.top = stage

    def crossing(self, stage: int) -> int:
        """The first release of the stage by another PE; NONE for none."""
        low = self.crossing_first[self.pe[stage]]
        end = self.crossing_first[self.pe[stage] + 1]
        high = end
        while low < high:
            middle = (low + high) >> 1
            if self.crossing_released[middle] < stage:
                low = middle + 1
            else:
                high = middle
        return low if low < end and self.crossing_released[low] == stage else NONE

    def next_crossing(self, row: int) -> int:
        """The next release of the same stage by another PE; NONE for none."""
        later = row + 1
        if later == len(self.crossing_released):
            return NONE
        return later if self.crossing_released[later] == self.crossing_released[row] else NONE
