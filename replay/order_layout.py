"""Records orders: from what a run's engines served, to columns laid out for order_pass to follow.

`OrderMerge` joins the orders in which the engines served into one order of all stages, in which
nothing comes before what it waits for. `OrderLayout` lays the graph's columns out along it, and
finds each end a slot: an end that nobody will read any more leaves its slot to the next, so that
what is at work stays in the cache. One source, compiled as engine.py is; order_layout.pxd holds the
C types and nothing else.
"""

from collections.abc import Callable, MutableSequence

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
        """Depth first, so that an end is read soon after it is written, and its slot is free again."""
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


class OrderLayout:
    """Lays a graph out along an order of all its stages.

    Per stage: `engine` (NONE where it needs not queue); `lasts`, its duration class; `slot`, where
    its end is kept for good (0 to below `kept`) or NONE, then used up. Its releases are the rows
    `offsets[stage]` to `offsets[stage + 1]` of: `releaser`; `gap`, the class of the time from the
    releaser's end to the release (below zero where it counts from the start).

    Result, per place of the order: `turn`, NONE without an engine, else the engine's number twice,
    and one more where the stage has a lesser id than the one served before it; `lasting`;
    `ends_in`, its end's slot; `releases`, how many it has. Per release, in the order of the places:
    `read_from`, the slot of the releaser's end; `after`, the gap. `slots`, how many there are.
    """

    def __init__(
        self,
        engines: int,
        engine: Ints,
        lasts: Ints,
        slot: Ints,
        kept: int,
        offsets: Ints,
        releaser: Ints,
        gap: Ints,
        new32: NewColumn,
    ) -> None:
        self.stages = len(engine)
        self.engines = engines
        self.engine = engine
        self.lasts = lasts
        self.slot = slot
        self.slots = kept
        self.kept = kept
        self.offsets = offsets
        self.releaser = releaser
        self.gap = gap

        self.turn = new32(self.stages)
        self.lasting = new32(self.stages)
        self.ends_in = new32(self.stages)
        self.releases = new32(self.stages)
        self.read_from = new32(len(releaser))
        self.after = new32(len(releaser))
        self.row = 0

        self.last_read = new32(self.stages)
        self.served = new32(engines)
        self.free = new32(self.stages)
        self.free_count = 0

    def run(self, order: Ints) -> None:
        """Lays it out, once."""
        for place in range(self.stages):
            stage = order[place]
            for row in range(self.offsets[stage], self.offsets[stage + 1]):
                self.last_read[self.releaser[row]] = place
        for place in range(self.stages):
            self.lay(place, order[place])

    def lay(self, place: int, stage: int) -> None:
        """One stage. What it is the last to read is free for its own end already."""
        begin = self.row
        for row in range(self.offsets[stage], self.offsets[stage + 1]):
            self.read_from[self.row] = self.slot[self.releaser[row]]
            self.after[self.row] = self.gap[row]
            self.row += 1
        for row in range(self.offsets[stage], self.offsets[stage + 1]):
            if self.last_read[self.releaser[row]] == place:
                self.last_read[self.releaser[row]] = NONE
                self.give_back(self.slot[self.releaser[row]])
        self.releases[place] = self.row - begin
        self.lasting[place] = self.lasts[stage]
        self.turn[place] = self.turn_of(stage)
        if self.slot[stage] == NONE:
            self.slot[stage] = self.take_slot()
        self.ends_in[place] = self.slot[stage]
        if self.last_read[stage] == NONE:
            self.give_back(self.slot[stage])

    def turn_of(self, stage: int) -> int:
        """The stage is its engine's next."""
        engine = self.engine[stage]
        if engine == NONE:
            return NONE
        before = self.served[engine]
        self.served[engine] = stage
        return 2 * engine + (1 if before > stage else 0)

    def take_slot(self) -> int:
        """The slot that became free last, or a new one."""
        if self.free_count == 0:
            self.slots += 1
            return self.slots - 1
        self.free_count -= 1
        return self.free[self.free_count]

    def give_back(self, slot: int) -> None:
        """Nobody reads there any more, unless it is kept for good."""
        if slot >= self.kept:
            self.free[self.free_count] = slot
            self.free_count += 1
