"""The law at native speed: one source, compiled when the package is built, plain Python elsewhere.

`Law` runs a stage graph given as flat columns (compiled_runner prepares them: memory views of C
integers when compiled, lists otherwise). engine.pxd holds the C types and nothing else. What an event
needs lies together, in the records of engine_records.

Three facts make it quick. Every duration class and lag class lasts one time, so the events of a
class come due in the order in which they were made: a class is a queue, and only the queues' heads
need a heap. Stages become ready in order of time, so an engine's waiting line is a queue as well,
once the stages of one instant are sorted by id. And nothing that starts in an instant ends or
releases in it, so an instant is settled before anything starts.

A large graph's records lie in memory, not in the processor's caches, and the stages of one instant
are strewn all over it. What comes next is known a little ahead, so it is fetched while the engine is
at something else.
"""

from collections.abc import Callable, MutableSequence

from .engine_records import ReleaseRecord, ServerRecord, StageRecord

NONE = -1

Ints = MutableSequence[int]
NewColumn = Callable[[int], Ints]

# How many ends of one instant are looked ahead: to their records, then to the rows that these name.
ENDS_AHEAD = 8
ROWS_AHEAD = 4

# How many records are fetched along the ids in all, some 50 bytes each: a part of a level 2 cache.
# Every engine goes its own way through them, so each gets its share, between these.
RECORDS_AHEAD = 8192
LEAST_AHEAD = 12
MOST_AHEAD = 256

# The processor's prefetch, where compiled (engine.pxd); there is none in Python.
_fetch_stage: Callable[[StageRecord], None]
_fetch_row: Callable[[ReleaseRecord], None]

_BUILT_FROM: bytes


def built_from() -> str:
    """The hash of the sources that this module was compiled from; '' where it runs uncompiled."""
    try:
        return _BUILT_FROM.decode()
    except NameError:
        return ""


class Law:
    """One run of a graph as engine_layout lays it out: `stage` and `row`.

    Per queue: `queue_ps`, how long its events take, and `events`, how many there are at most: the
    duration classes, then, from `first_lag` on, the lag classes. `server`: a record per engine.
    `newly_ready` and `put_aside`: room for a number per stage. `new32` and `new64` give rooms of so
    many numbers, whatever is in them. Of all these `row`, `queue_ps` and `events` are not written to.

    A stage on an engine and a lag from a start must last at least 1 ps (TimedClasses sees to it):
    a queue of no time has no room.
    """

    def __init__(
        self,
        stage: MutableSequence[StageRecord],
        row: MutableSequence[ReleaseRecord],
        server: MutableSequence[ServerRecord],
        queue_ps: Ints,
        events: Ints,
        first_lag: int,
        newly_ready: Ints,
        put_aside: Ints,
        new32: NewColumn,
        new64: NewColumn,
    ) -> None:
        self.stages = len(stage) - 1
        self.stage = stage
        self.row = row
        self.server = server
        self.queue_ps = queue_ps
        self.first_lag = first_lag
        self.next_due = new32(len(queue_ps))
        self.past_due = new32(len(queue_ps))
        self.ending = new32(self.lay_queues(events, 0, first_lag))
        lagging = self.lay_queues(events, first_lag, len(queue_ps))
        self.lagging = new32(lagging)
        self.due_ps = new64(lagging)
        self.heap_queue = new32(len(queue_ps))
        self.heap_ps = new64(len(queue_ps))
        self.heap_size = 0

        for each in range(len(server)):
            self.server[each].first_waiting = NONE
            self.server[each].serving = NONE
            self.server[each].touched = NONE
        self.touched = new32(len(server))
        self.touched_count = 0
        self.now = 0
        self.wanted = 0
        self.lane = NONE
        self.newly_ready = newly_ready
        self.put_aside = put_aside
        self.newly_ready_count = 0
        self.fetches = built_from() != ""
        self.ahead = max(LEAST_AHEAD, min(MOST_AHEAD, RECORDS_AHEAD // max(1, len(server))))

    def lay_queues(self, events: Ints, begin: int, end: int) -> int:
        """Gives each of the queues `begin` to `end` its room, one behind another; returns how much.

        What takes no time happens at once and never queues.
        """
        room = 0
        for queue in range(begin, end):
            self.next_due[queue] = room
            self.past_due[queue] = room
            if self.queue_ps[queue] > 0:
                room += events[queue]
        return room

    def begin(self) -> None:
        """What starts at time 0."""
        for stage in range(self.stages):
            if self.stage[stage].missing == 0:
                self.become_ready(stage)
        self.settle()
        self.arbitrate()

    def go_on(self, events: int) -> bool:
        """Runs up to the instant in which so many more have come due; whether anything is left to."""
        self.wanted = events
        while self.wanted > 0 and self.heap_size > 0:
            self.now = self.heap_ps[0]
            while self.heap_size > 0 and self.heap_ps[0] == self.now:
                self.take_due_events(self.heap_queue[0])
            self.settle()
            self.arbitrate()
        return self.heap_size > 0

    def take_times(
        self, first: int, past: int, ready_ps: Ints, start_ps: Ints, end_ps: Ints, cause: Ints
    ) -> None:
        """The results of the stages from `first` to before `past`, into columns of their own; −1 where
        it never came to it.
        """
        for stage in range(first, past):
            ready_ps[stage] = self.stage[stage].ready_ps
            end = self.stage[stage].end_ps
            end_ps[stage] = end
            start_ps[stage] = NONE if end == NONE else end - self.queue_ps[self.stage[stage].queue]
            cause[stage] = self.stage[stage].cause

    # One instant: ends and releases, then stages without an engine, until nothing changes.

    def take_due_events(self, queue: int) -> None:
        """The events, due now, of the queue at the heap's top, which stays there meanwhile."""
        if queue < self.first_lag:
            self.take_due_ends(queue)
        else:
            self.take_due_releases(queue)

    def take_due_ends(self, queue: int) -> None:
        """The stages of the duration class that end now."""
        place = self.next_due[queue]
        past = self.past_due[queue]
        while place < past and self.stage[self.ending[place]].end_ps == self.now:
            if self.fetches:
                self.fetch_ends(place, past)
            self.end(self.ending[place])
            place += 1
        self.wanted -= place - self.next_due[queue]
        self.next_due[queue] = place
        if place == past:
            self.heap_pop()
        else:
            self.heap_sink(0, queue, self.stage[self.ending[place]].end_ps)

    def take_due_releases(self, queue: int) -> None:
        """The releases of the lag class that happen now."""
        place = self.next_due[queue]
        while place < self.past_due[queue] and self.due_ps[place] == self.now:
            row = self.lagging[place]
            self.release(self.row[row].released, self.row[row].releaser)
            place += 1
        self.wanted -= place - self.next_due[queue]
        self.next_due[queue] = place
        if place == self.past_due[queue]:
            self.heap_pop()
        else:
            self.heap_sink(0, queue, self.due_ps[place])

    def end(self, stage: int) -> None:
        """The stage ends now; its engine is free, and what it releases is released or lags behind."""
        if self.fetches:
            self.fetch_along(stage)
        engine = self.stage[stage].engine
        if engine != NONE:
            self.server[engine].serving = NONE
            self.server[engine].served = stage
            self.touch(engine)
        for row in range(self.stage[stage].by_end, self.stage[stage].by_start):
            queue = self.row[row].queue
            if self.queue_ps[queue] == 0:
                self.release(self.row[row].released, stage)
            else:
                self.lag_behind(row)

    def release(self, released: int, releaser: int) -> None:
        """One release happened; of those that came last, the least releaser is the cause."""
        if self.now > self.stage[released].ready_ps or releaser < self.stage[released].cause:
            self.stage[released].cause = releaser
        self.stage[released].ready_ps = self.now
        self.stage[released].missing -= 1
        if self.stage[released].missing == 0:
            self.become_ready(released)

    def become_ready(self, stage: int) -> None:
        """Everything that releases the stage has happened."""
        self.stage[stage].ready_ps = self.now
        if self.stage[stage].engine == NONE:
            self.stage[stage].next_waiting = self.lane
            self.lane = stage
        else:
            self.newly_ready[self.newly_ready_count] = stage
            self.newly_ready_count += 1

    def settle(self) -> None:
        """Starts what needs no engine; what takes no time ends at once and may release more."""
        while self.lane != NONE:
            stage = self.lane
            self.lane = self.stage[stage].next_waiting
            self.start(stage)
            if self.stage[stage].end_ps == self.now:
                self.end(stage)
            else:
                self.await_end(stage)

    # Then each idle engine starts the least (ready, id) of those that wait for it.

    def arbitrate(self) -> None:
        """Lines the newly ready up and lets every idle engine start one stage."""
        self.sort_newly_ready()
        for place in range(self.newly_ready_count):
            self.line_up(self.newly_ready[place])
        self.newly_ready_count = 0
        for place in range(self.touched_count):
            engine = self.touched[place]
            self.server[engine].touched = NONE
            if self.server[engine].serving == NONE and self.server[engine].first_waiting != NONE:
                self.serve(engine)
        self.touched_count = 0

    def line_up(self, stage: int) -> None:
        """The stage joins its engine's line: later than all in it, or as late with a greater id."""
        engine = self.stage[stage].engine
        if self.server[engine].first_waiting == NONE:
            self.server[engine].first_waiting = stage
        else:
            self.stage[self.server[engine].last_waiting].next_waiting = stage
        self.server[engine].last_waiting = stage
        self.stage[stage].next_waiting = NONE
        self.touch(engine)

    def touch(self, engine: int) -> None:
        """The engine may be able to start something in this instant."""
        if self.server[engine].touched == NONE:
            self.server[engine].touched = engine
            self.touched[self.touched_count] = engine
            self.touched_count += 1

    def serve(self, engine: int) -> None:
        """The first in line starts. Where it had to queue, the stage served before is its cause."""
        stage = self.server[engine].first_waiting
        self.server[engine].first_waiting = self.stage[stage].next_waiting
        self.server[engine].serving = stage
        if self.now > self.stage[stage].ready_ps:
            self.stage[stage].cause = self.server[engine].served
        self.start(stage)
        self.await_end(stage)

    def start(self, stage: int) -> None:
        """The stage starts now; what its start releases lags behind."""
        self.stage[stage].end_ps = self.now + self.queue_ps[self.stage[stage].queue]
        for row in range(self.stage[stage].by_start, self.stage[stage + 1].by_end):
            self.lag_behind(row)

    # Events: a queue per class, a heap of the queues by when their first event is due.

    def await_end(self, stage: int) -> None:
        """The stage, started now, joins its duration class: it ends no earlier than any in it."""
        queue = self.stage[stage].queue
        place = self.past_due[queue]
        self.ending[place] = stage
        self.past_due[queue] = place + 1
        if place == self.next_due[queue]:
            self.heap_push(queue, self.stage[stage].end_ps)

    def lag_behind(self, row: int) -> None:
        """The release, begun now, joins its lag class: due no earlier than any in it."""
        queue = self.row[row].queue
        place = self.past_due[queue]
        due = self.now + self.queue_ps[queue]
        self.lagging[place] = row
        self.due_ps[place] = due
        self.past_due[queue] = place + 1
        if place == self.next_due[queue]:
            self.heap_push(queue, due)

    def heap_push(self, queue: int, due: int) -> None:
        """A queue that was empty has an event."""
        self.heap_size += 1
        self.heap_rise(self.heap_size - 1, queue, due)

    def heap_rise(self, place: int, queue: int, due: int) -> None:
        """Puts the queue where it belongs, from `place` towards the top."""
        while place > 0:
            parent = (place - 1) >> 1
            if self.heap_ps[parent] <= due:
                break
            self.heap_ps[place] = self.heap_ps[parent]
            self.heap_queue[place] = self.heap_queue[parent]
            place = parent
        self.heap_ps[place] = due
        self.heap_queue[place] = queue

    def heap_sink(self, place: int, queue: int, due: int) -> None:
        """Puts the queue where it belongs, from `place` towards the bottom."""
        child = 2 * place + 1
        while child < self.heap_size:
            if child + 1 < self.heap_size and self.heap_ps[child + 1] < self.heap_ps[child]:
                child += 1
            if due <= self.heap_ps[child]:
                break
            self.heap_ps[place] = self.heap_ps[child]
            self.heap_queue[place] = self.heap_queue[child]
            place = child
            child = 2 * place + 1
        self.heap_ps[place] = due
        self.heap_queue[place] = queue

    def heap_pop(self) -> None:
        """Takes the top away."""
        self.heap_size -= 1
        if self.heap_size > 0:
            self.heap_sink(0, self.heap_queue[self.heap_size], self.heap_ps[self.heap_size])

    # Fetching ahead; beyond the records there is nothing to fetch, and no harm in asking for it.

    def fetch_ends(self, place: int, past: int) -> None:
        """What the ends soon after the one at `place` need: their own records, the next, their rows."""
        if place + ENDS_AHEAD < past:
            _fetch_stage(self.stage[self.ending[place + ENDS_AHEAD]])
            _fetch_stage(self.stage[self.ending[place + ENDS_AHEAD] + 1])
            _fetch_row(self.row[self.stage[self.ending[place + ROWS_AHEAD]].by_end])

    def fetch_along(self, stage: int) -> None:
        """What the kernel comes to after the stage: ids and rows ascend as its commands do."""
        _fetch_stage(self.stage[stage + self.ahead])
        _fetch_row(self.row[self.stage[stage].by_end + self.ahead])

    # Sorting the stages of one instant by id: each queue brings ascending ones, so there are few runs.

    def sort_newly_ready(self) -> None:
        """Ascending ids, in place: a natural merge sort, never quadratic."""
        while self.merge_runs() > 1:
            pass

    def merge_runs(self) -> int:
        """Merges every second ascending run into the one before it; returns how many runs are left."""
        runs = 0
        start = 0
        while start < self.newly_ready_count:
            middle = self.end_of_run(start)
            end = middle
            if middle < self.newly_ready_count:
                end = self.end_of_run(middle)
                self.merge(start, middle, end)
            start = end
            runs += 1
        return runs

    def end_of_run(self, place: int) -> int:
        """One past the ascending run that begins there."""
        place += 1
        while (
            place < self.newly_ready_count and self.newly_ready[place - 1] < self.newly_ready[place]
        ):
            place += 1
        return place

    def merge(self, start: int, middle: int, end: int) -> None:
        """Merges two neighbouring runs, the first of them put aside."""
        aside = middle - start
        for place in range(aside):
            self.put_aside[place] = self.newly_ready[start + place]
        left = 0
        right = middle
        place = start
        while left < aside:
            if right < end and self.newly_ready[right] < self.put_aside[left]:
                self.newly_ready[place] = self.newly_ready[right]
                right += 1
            else:
                self.newly_ready[place] = self.put_aside[left]
                left += 1
            place += 1
