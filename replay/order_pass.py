"""Follows a recorded order under LANES calibrations at once, many times the engine's speed.

`OrderPass` follows an order as `order_layout` lays it out: a stage is ready at the last of its
releases, and starts when the stage before it on its engine has ended. `HeldTimes` adds up
afterwards how long a policy held stages back. One source, compiled as engine.py is.

Why that is exact. An engine starts the least (ready, id) of what waits for it, and whatever becomes
ready at an instant is known before anything starts in it; so an engine's order of service is its
stages by (ready, id), strictly ascending. Where they ascend along the recorded order, it is the
order that the law would serve in, and the times are the law's. Where they do not, the calibration
breaks the order, and the times of its lane mean nothing.

order_pass.pxd holds the C types and nothing else. Loops over lanes and lists of lanes have LANES
written out as 8, as a C compiler unrolls only what it can count.
"""

from collections.abc import Callable, MutableSequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .order_layout import OrderLayout

NONE = -1

LANES = 8
"""How many calibrations a pass takes: the ends of a stage fill a cache line of 64 bytes."""

BLOCK = 256
"""How many places are followed between two looks at whether the order holds for anybody still."""

Ints = MutableSequence[int]
NewColumn = Callable[[int], Ints]

_BUILT_FROM: bytes


def built_from() -> str:
    """The hash of the sources that this module was compiled from; '' where it runs uncompiled."""
    try:
        return _BUILT_FROM.decode()
    except NameError:
        return ""


class OrderPass:
    """A laid out order to follow. `new64` gives columns of a length.

    Results of a pass, valid until the next: `end_ps`, LANES numbers a slot, of which those kept for
    good are the stages' ends; `served_end_ps`, LANES numbers an engine, the end of the last stage
    it served; per lane `broken`, 1 where the lane's calibration breaks the order; `followed`, how
    many places were looked at.
    """

    def __init__(self, layout: "OrderLayout", new32: NewColumn, new64: NewColumn) -> None:
        self.stages = layout.stages
        self.engines = layout.engines
        self.turn = layout.turn
        self.lasting = layout.lasting
        self.ends_in = layout.ends_in
        self.releases = layout.releases
        self.read_from = layout.read_from
        self.after = layout.after

        self.end_ps = new64(layout.slots * LANES)
        self.broken = new32(LANES)
        self.followed = 0
        self.row = 0

        self.served_ready_ps = new64(self.engines * LANES)
        self.served_end_ps = new64(self.engines * LANES)

    def run(self, lasting_ps: Ints, after_ps: Ints) -> None:
        """One pass. Per duration class and lane, how long it lasts; per gap class and lane likewise.

        Stops in the block in which the last lane breaks the order.
        """
        self.lasting_ps = lasting_ps
        self.after_ps = after_ps
        self.begin()
        while self.followed < self.stages and self.holds_somewhere():
            self.follow(min(self.followed + BLOCK, self.stages))

    def begin(self) -> None:
        """No engine has served anything, and the order holds in every lane."""
        self.followed = 0
        self.row = 0
        for place in range(self.engines * 8):
            self.served_ready_ps[place] = 0
            self.served_end_ps[place] = 0
        for lane in range(8):
            self.broken[lane] = 0

    def holds_somewhere(self) -> int:
        """Whether some lane is not broken: 1 or 0."""
        for lane in range(8):
            if self.broken[lane] == 0:
                return 1
        return 0

    def follow(self, until: int) -> None:
        """The stages of the next places."""
        early = [0, 0, 0, 0, 0, 0, 0, 0]
        for place in range(self.followed, until):
            ready = [0, 0, 0, 0, 0, 0, 0, 0]
            self.wait(place, ready)
            if self.turn[place] == NONE:
                self.go_by(place, ready)
            else:
                self.serve(place, ready, early)
        for lane in range(8):
            if early[lane] < 0:
                self.broken[lane] = 1
        self.followed = until

    def wait(self, place: int, ready: list[int]) -> None:
        """A stage is ready when the last of its releases happens."""
        for _ in range(self.releases[place]):
            read = self.read_from[self.row] * 8
            after = self.after[self.row] * 8
            for lane in range(8):
                happens = self.end_ps[read + lane] + self.after_ps[after + lane]
                ready[lane] = max(ready[lane], happens)
            self.row += 1

    def go_by(self, place: int, ready: list[int]) -> None:
        """A stage without an engine starts when it is ready."""
        lasting = self.lasting[place] * 8
        end = self.ends_in[place] * 8
        for lane in range(8):
            self.end_ps[end + lane] = ready[lane] + self.lasting_ps[lasting + lane]

    def serve(self, place: int, ready: list[int], early: list[int]) -> None:
        """The stage is its engine's next. `early` falls below 0 where it comes out of turn."""
        later = self.turn[place] & 1
        engine = (self.turn[place] >> 1) * 8
        lasting = self.lasting[place] * 8
        end = self.ends_in[place] * 8
        for lane in range(8):
            early[lane] |= ready[lane] - self.served_ready_ps[engine + lane] - later
            start = max(self.served_end_ps[engine + lane], ready[lane])
            ends = start + self.lasting_ps[lasting + lane]
            self.end_ps[end + lane] = ends
            self.served_ready_ps[engine + lane] = ready[lane]
            self.served_end_ps[engine + lane] = ends


class HeldTimes:
    """Adds up how long the holds of a policy alone delayed the stages it held, after a pass.

    Per held stage: `begin[stage]` to `hold[stage]` are the rows of its other releases, and up to
    `begin[stage + 1]` those of its holds. Per row: `read_from`, the slot of the releaser's end;
    `after`, the gap from there.

    Result: `held_ps`, LANES sums over all stages of the time from the last of the other releases
    to the last of the holds, where that is later.
    """

    def __init__(
        self, begin: Ints, hold: Ints, read_from: Ints, after: Ints, new64: NewColumn
    ) -> None:
        self.stages = len(hold)
        self.begin = begin
        self.hold = hold
        self.read_from = read_from
        self.after = after
        self.held_ps = new64(LANES)

    def run(self, end_ps: Ints, after_ps: Ints) -> None:
        """`end_ps` and `after_ps` are those of the pass."""
        self.end_ps = end_ps
        self.after_ps = after_ps
        for lane in range(8):
            self.held_ps[lane] = 0
        for stage in range(self.stages):
            self.add(stage)

    def add(self, stage: int) -> None:
        """One stage."""
        other = [0, 0, 0, 0, 0, 0, 0, 0]
        held = [0, 0, 0, 0, 0, 0, 0, 0]
        self.wait(self.begin[stage], self.hold[stage], other)
        self.wait(self.hold[stage], self.begin[stage + 1], held)
        for lane in range(8):
            if held[lane] > other[lane]:
                self.held_ps[lane] += held[lane] - other[lane]

    def wait(self, first: int, until: int, last: list[int]) -> None:
        """When the last of some releases happens."""
        for row in range(first, until):
            read = self.read_from[row] * 8
            after = self.after[row] * 8
            for lane in range(8):
                happens = self.end_ps[read + lane] + self.after_ps[after + lane]
                last[lane] = max(last[lane], happens)
