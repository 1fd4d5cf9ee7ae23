"""Replays along a recorded order, many times the engine's speed; one source, as engine.py is.

`OrderMerge` joins the orders in which a run's engines served into one order of all stages, in which
nothing comes before what it waits for. `OrderPass` follows such an order under LANES calibrations
at once: a stage is ready at the last of its releases, and starts when the stage before it on its
engine has ended.

Why that is exact. An engine starts the least (ready, id) of what waits for it, and whatever becomes
ready at an instant is known before anything starts in it; so an engine's order of service is its
stages by (ready, id), strictly ascending. Where they ascend along the recorded order, it is the
order that the law would serve in, and the times are the law's. Where they do not, the calibration
breaks the order, and the times of its lane mean nothing.

order_pass.pxd holds the C types and nothing else.
"""

from collections.abc import Callable, MutableSequence

NONE = -1

LANES = 8
"""How many calibrations a pass takes: one column of `end_ps` fills a cache line of 64 bytes."""

Ints = MutableSequence[int]
NewColumn = Callable[[int], Ints]

_BUILT_FROM: bytes


def built_from() -> str:
    """The hash of the sources that this module was compiled from; '' where it runs uncompiled."""
    try:
        return _BUILT_FROM.decode()
    except NameError:
        return ""


class OrderMerge:
    """Puts the stages of a finished run into one order. `new32` gives columns filled with −1.

    Per stage: `served_next`, the stage that its engine served next (NONE for none); `missing`, how
    many stages must come before it, each counted as often as it releases it, the one that its
    engine served before included (used up). The stages it releases are the rows
    `offsets[stage]` to `offsets[stage + 1]` of `released`.

    Result: `order`, the stage at each place; NONE at the end where a cycle held stages up.
    """

    def __init__(
        self,
        served_next: Ints,
        missing: Ints,
        offsets: Ints,
        released: Ints,
        new32: NewColumn,
    ) -> None:
        self.stages = len(missing)
        self.served_next = served_next
        self.missing = missing
        self.offsets = offsets
        self.released = released
        self.order = new32(self.stages)
        self.stack = new32(self.stages)
        self.height = 0

    def run(self) -> None:
        """Depth first, so that the stages of a PE follow each other and stay in the cache."""
        place = 0
        for stage in range(self.stages - 1, -1, -1):
            if self.missing[stage] == 0:
                self.push(stage)
        while self.height > 0:
            self.height -= 1
            stage = self.stack[self.height]
            self.order[place] = stage
            place += 1
            if self.served_next[stage] != NONE:
                self.let_go(self.served_next[stage])
            for row in range(self.offsets[stage], self.offsets[stage + 1]):
                self.let_go(self.released[row])

    def let_go(self, stage: int) -> None:
        """One of the stages that must come before this one has come."""
        self.missing[stage] -= 1
        if self.missing[stage] == 0:
            self.push(stage)

    def push(self, stage: int) -> None:
        """The stage may come as soon as those that were pushed after it are done."""
        self.stack[self.height] = stage
        self.height += 1


class OrderPass:
    """A graph of stages to follow along recorded orders; the columns that every pass reads.

    Per stage: `engine` (NONE where it needs not queue) and `queue`, its duration class. Its
    releases are the rows `offsets[stage]` to `offsets[stage + 1]` of: `releaser`; `gap`, the class
    of the time from the releaser's end to the release (below zero where it counts from the start).

    Results of a pass, valid until the next: `end_ps`, LANES numbers a stage; `served_end_ps`, LANES
    numbers an engine, the end of the last stage it served; per lane `broken`, 1 where the lane's
    calibration breaks the order; `followed`, at how many places it looked.
    """

    def __init__(
        self,
        engines: int,
        engine: Ints,
        queue: Ints,
        offsets: Ints,
        releaser: Ints,
        gap: Ints,
        new32: NewColumn,
        new64: NewColumn,
    ) -> None:
        self.stages = len(engine)
        self.engines = engines
        self.engine = engine
        self.queue = queue
        self.offsets = offsets
        self.releaser = releaser
        self.gap = gap

        self.end_ps = new64(self.stages * LANES)
        self.broken = new32(LANES)
        self.followed = 0

        self.served = new32(engines)
        self.served_ready_ps = new64(engines * LANES)
        self.served_end_ps = new64(engines * LANES)

    def run(self, order: Ints, queue_ps: Ints, gap_ps: Ints) -> None:
        """One pass. Per duration class and lane, how long it lasts; per gap class and lane likewise.

        Stops where the last lane breaks the order.
        """
        self.begin()
        for place in range(self.stages):
            stage = order[place]
            if self.engine[stage] == NONE:
                self.go_by(stage, queue_ps, gap_ps)
            elif self.serve(stage, queue_ps, gap_ps) == 0 and self.holds_nowhere():
                self.followed = place + 1
                return
        self.followed = self.stages

    def begin(self) -> None:
        """No engine has served anything, and the order holds in every lane."""
        for engine in range(self.engines):
            self.served[engine] = NONE
        for place in range(self.engines * LANES):
            self.served_ready_ps[place] = 0
            self.served_end_ps[place] = 0
        for lane in range(LANES):
            self.broken[lane] = 0

    def go_by(self, stage: int, queue_ps: Ints, gap_ps: Ints) -> None:
        """A stage without an engine starts when it is ready."""
        for lane in range(LANES):
            lasting = queue_ps[self.queue[stage] * LANES + lane]
            self.end_ps[stage * LANES + lane] = self.ready_ps(stage, lane, gap_ps) + lasting

    def serve(self, stage: int, queue_ps: Ints, gap_ps: Ints) -> int:
        """The stage is its engine's next. 0 where it comes out of turn in some lane."""
        engine = self.engine[stage]
        later = 1 if self.served[engine] > stage else 0
        self.served[engine] = stage
        in_turn = 1
        for lane in range(LANES):
            at = engine * LANES + lane
            ready = self.ready_ps(stage, lane, gap_ps)
            if ready < self.served_ready_ps[at] + later:
                self.broken[lane] = 1
                in_turn = 0
            start = max(self.served_end_ps[at], ready)
            end = start + queue_ps[self.queue[stage] * LANES + lane]
            self.end_ps[stage * LANES + lane] = end
            self.served_ready_ps[at] = ready
            self.served_end_ps[at] = end
        return in_turn

    def ready_ps(self, stage: int, lane: int, gap_ps: Ints) -> int:
        """When the last of the stage's releases happens."""
        ready = 0
        for row in range(self.offsets[stage], self.offsets[stage + 1]):
            released = self.end_ps[self.releaser[row] * LANES + lane]
            released += gap_ps[self.gap[row] * LANES + lane]
            if released > ready:
                ready = released
        return ready

    def holds_nowhere(self) -> int:
        """Whether every lane is broken: 1 or 0."""
        for lane in range(LANES):
            if self.broken[lane] == 0:
                return 0
        return 1
