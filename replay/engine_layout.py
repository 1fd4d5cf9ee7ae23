"""What a run begins with: every stage's record, and the releases grouped by who releases.

One source, compiled as engine.py is; engine_layout.pxd holds the C types and nothing else. A graph
outgrows the processor's caches long before it fills memory, so the counting goes over two narrow
columns, and the records are written once, in order.
"""

from collections.abc import MutableSequence

from .engine_records import ReleaseRecord, StageRecord

NONE = -1

Ints = MutableSequence[int]

_BUILT_FROM: bytes


def built_from() -> str:
    """The hash of the sources that this module was compiled from; '' where it runs uncompiled."""
    try:
        return _BUILT_FROM.decode()
    except NameError:
        return ""


class Layout:
    """Lays a graph out in `stage` (one record more than there are stages) and `row`.

    In three steps, `count`, `lay_stages` and `lay_releases`, each for all stages, in order, some at a
    time: so other threads have their turns.

    Per engine: `serves`, 1 where stages queue for it, else 0. Per stage: `engine` and `queue` (its
    duration class). Releases as stage_graph has them, grouped by the stage released
    (`offsets[stage]` to `offsets[stage + 1]`): `releaser`, `from_start` (0 or 1), `lag_class`. None
    of these is written to. `first_lag`: the queue of lag class 0.

    Result, beside the records: `events`, per queue how many stages or releases belong to it.
    `by_end` and `by_start`, a number per stage, are used up.
    """

    def __init__(
        self,
        serves: Ints,
        engine: Ints,
        queue: Ints,
        first_lag: int,
        offsets: Ints,
        releaser: Ints,
        from_start: Ints,
        lag_class: Ints,
        stage: MutableSequence[StageRecord],
        row: MutableSequence[ReleaseRecord],
        events: Ints,
        by_end: Ints,
        by_start: Ints,
    ) -> None:
        self.stages = len(engine)
        self.serves = serves
        self.engine = engine
        self.queue = queue
        self.first_lag = first_lag
        self.offsets = offsets
        self.releaser = releaser
        self.from_start = from_start
        self.lag_class = lag_class
        self.stage = stage
        self.row = row
        self.events = events
        self.by_end = by_end
        self.by_start = by_start
        self.rows_laid = 0
        self.clear()

    def clear(self) -> None:
        """Nothing is counted yet."""
        for stage in range(self.stages):
            self.by_end[stage] = 0
            self.by_start[stage] = 0
        for queue in range(len(self.events)):
            self.events[queue] = 0

    def count(self, first: int, past: int) -> None:
        """How many releases each stage makes by its end and by its start, and each queue's events: what
        the stages from `first` to before `past` have a part in.
        """
        for stage in range(first, past):
            self.events[self.queue[stage]] += 1
        for release in range(self.offsets[first], self.offsets[past]):
            if self.from_start[release] == 0:
                self.by_end[self.releaser[release]] += 1
            else:
                self.by_start[self.releaser[release]] += 1
            self.events[self.first_lag + self.lag_class[release]] += 1

    def lay_stages(self, first: int, past: int) -> None:
        """The stages' records. The counts become the rows where a stage's releases begin."""
        row = self.rows_laid
        for stage in range(first, past):
            engine = self.engine[stage]
            self.stage[stage].engine = engine if self.serves[engine] == 1 else NONE
            self.stage[stage].queue = self.queue[stage]
            self.stage[stage].missing = self.offsets[stage + 1] - self.offsets[stage]
            self.stage[stage].cause = NONE
            self.stage[stage].ready_ps = NONE
            self.stage[stage].end_ps = NONE
            self.stage[stage].by_end = row
            row += self.by_end[stage]
            self.by_end[stage] = self.stage[stage].by_end
            self.stage[stage].by_start = row
            row += self.by_start[stage]
            self.by_start[stage] = self.stage[stage].by_start
        self.rows_laid = row
        self.stage[past].by_end = row

    def lay_releases(self, first: int, past: int) -> None:
        """Puts the stages' releases behind those of their releasers' that stand already."""
        for stage in range(first, past):
            for release in range(self.offsets[stage], self.offsets[stage + 1]):
                releaser = self.releaser[release]
                if self.from_start[release] == 0:
                    row = self.by_end[releaser]
                    self.by_end[releaser] += 1
                else:
                    row = self.by_start[releaser]
                    self.by_start[releaser] += 1
                self.row[row].released = stage
                self.row[row].queue = self.first_lag + self.lag_class[release]
                self.row[row].releaser = releaser
