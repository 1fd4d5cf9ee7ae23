"""The law at native speed: one source, compiled when the package is built, plain Python elsewhere.

`Law` runs a stage graph given as flat columns (compiled_runner prepares them: memory views of C
integers when compiled, lists otherwise). engine.pxd holds the C types and nothing else.

Three facts make it quick. Every duration class and lag class lasts one time, so the events of a
class come due in the order in which they were made: a class is a queue, and only the queues' heads
need a heap. Stages become ready in order of time, so an engine's waiting line is a queue as well,
once the stages of one instant are sorted by id. And nothing that starts in an instant ends or
releases in it, so an instant is settled before anything starts.
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


class Law:
    """One run of a graph of stages. `new32`, `new64` give columns of a length, filled with −1.

    Per stage: `engine` (NONE where it needs not queue), `queue` (its duration's), `missing` (how
    many releases it waits for; used up). Releases by a stage's end are the rows
    `end_offsets[stage]` to `end_offsets[stage + 1]` of: `end_released`, the stage released;
    `end_queue`, the lag's queue or NONE for no lag; `end_releaser`, the stage itself. Releases by
    its start likewise; they all have a lag. Per queue: `queue_ps`, how long its events take.

    Results, per stage: `ready_ps`, `start_ps`, `end_ps`, `cause`; −1 where it never came to it.
    """

    def __init__(
        self,
        engines: int,
        engine: Ints,
        queue: Ints,
        queue_ps: Ints,
        missing: Ints,
        end_offsets: Ints,
        end_releaser: Ints,
        end_released: Ints,
        end_queue: Ints,
        start_offsets: Ints,
        start_releaser: Ints,
        start_released: Ints,
        start_queue: Ints,
        new32: NewColumn,
        new64: NewColumn,
    ) -> None:
        self.stages = len(engine)
        self.end_releases = len(end_released)
        self.engine = engine
        self.queue = queue
        self.queue_ps = queue_ps
        self.missing = missing
        self.end_offsets = end_offsets
        self.end_releaser = end_releaser
        self.end_released = end_released
        self.end_queue = end_queue
        self.start_offsets = start_offsets
        self.start_releaser = start_releaser
        self.start_released = start_released
        self.start_queue = start_queue

        self.ready_ps = new64(self.stages)
        self.start_ps = new64(self.stages)
        self.end_ps = new64(self.stages)
        self.cause = new32(self.stages)

        self.now = 0
        self.newly_ready = new32(self.stages)
        self.newly_ready_count = 0
        self.lanes = new32(self.stages)
        self.lane_count = 0

        self.next_waiting = new32(self.stages)
        self.first_waiting = new32(engines)
        self.last_waiting = new32(engines)
        self.serving = new32(engines)
        self.served = new32(engines)
        self.touched = new32(engines)
        self.touched_count = 0
        self.is_touched = new32(engines)

        queues = len(queue_ps)
        self.next_event = new32(self.stages + self.end_releases + len(start_released))
        self.first_event = new32(queues)
        self.last_event = new32(queues)
        self.heap_queue = new32(queues)
        self.heap_ps = new64(queues)
        self.heap_size = 0

    def run(self) -> None:
        """Runs from time 0 until nothing is left to happen."""
        for stage in range(self.stages):
            if self.missing[stage] == 0:
                self.become_ready(stage)
        self.settle()
        self.arbitrate()
        while self.heap_size > 0:
            self.now = self.heap_ps[0]
            while self.heap_size > 0 and self.heap_ps[0] == self.now:
                self.take_due_events(self.heap_queue[0])
            self.settle()
            self.arbitrate()

    # One instant: ends and releases, then stages without an engine, until nothing changes.

    def take_due_events(self, queue: int) -> None:
        """The events of the queue at the heap's top that are due now."""
        first = self.first_event[queue]
        rest = self.next_event[first]
        while rest != NONE and self.due_ps(rest, queue) == self.now:
            rest = self.next_event[rest]
        self.first_event[queue] = rest
        if rest == NONE:
            self.heap_pop()
        else:
            self.heap_sink(0, queue, self.due_ps(rest, queue))
        while first != rest:
            following = self.next_event[first]
            self.happen(first)
            first = following

    def happen(self, event: int) -> None:
        """A stage's end (event = stage), or a lagged release (numbered on from the stages)."""
        if event < self.stages:
            self.end(event)
            return
        row = event - self.stages
        if row < self.end_releases:
            self.release(self.end_released[row], self.end_releaser[row])
            return
        row -= self.end_releases
        self.release(self.start_released[row], self.start_releaser[row])

    def end(self, stage: int) -> None:
        """The stage ends now; its engine is free, and what it releases is released or lags behind."""
        engine = self.engine[stage]
        if engine != NONE:
            self.serving[engine] = NONE
            self.served[engine] = stage
            self.touch(engine)
        for row in range(self.end_offsets[stage], self.end_offsets[stage + 1]):
            if self.end_queue[row] == NONE:
                self.release(self.end_released[row], stage)
            else:
                self.append(self.end_queue[row], self.stages + row)

    def release(self, released: int, releaser: int) -> None:
        """One release happened; of those that came last, the least releaser is the cause."""
        if self.now > self.ready_ps[released] or releaser < self.cause[released]:
            self.cause[released] = releaser
        self.ready_ps[released] = self.now
        self.missing[released] -= 1
        if self.missing[released] == 0:
            self.become_ready(released)

    def become_ready(self, stage: int) -> None:
        """Everything that releases the stage has happened."""
        self.ready_ps[stage] = self.now
        if self.engine[stage] == NONE:
            self.lanes[self.lane_count] = stage
            self.lane_count += 1
        else:
            self.newly_ready[self.newly_ready_count] = stage
            self.newly_ready_count += 1

    def settle(self) -> None:
        """Starts what needs no engine; what takes no time ends at once and may release more."""
        while self.lane_count > 0:
            self.lane_count -= 1
            stage = self.lanes[self.lane_count]
            self.start(stage)
            if self.end_ps[stage] == self.now:
                self.end(stage)
            else:
                self.append(self.queue[stage], stage)

    # Then each idle engine starts the least (ready, id) of those that wait for it.

    def arbitrate(self) -> None:
        """Lines the newly ready up and lets every idle engine start one stage."""
        self.sort_newly_ready()
        for place in range(self.newly_ready_count):
            self.line_up(self.newly_ready[place])
        self.newly_ready_count = 0
        for place in range(self.touched_count):
            engine = self.touched[place]
            self.is_touched[engine] = NONE
            if self.serving[engine] == NONE and self.first_waiting[engine] != NONE:
                self.serve(engine)
        self.touched_count = 0

    def line_up(self, stage: int) -> None:
        """The stage joins its engine's line: later than all in it, or as late with a greater id."""
        engine = self.engine[stage]
        if self.first_waiting[engine] == NONE:
            self.first_waiting[engine] = stage
        else:
            self.next_waiting[self.last_waiting[engine]] = stage
        self.last_waiting[engine] = stage
        self.touch(engine)

    def touch(self, engine: int) -> None:
        """The engine may be able to start something in this instant."""
        if self.is_touched[engine] == NONE:
            self.is_touched[engine] = engine
            self.touched[self.touched_count] = engine
            self.touched_count += 1

    def serve(self, engine: int) -> None:
        """The first in line starts. Where it had to queue, the stage served before is its cause."""
        stage = self.first_waiting[engine]
        self.first_waiting[engine] = self.next_waiting[stage]
        self.serving[engine] = stage
        if self.now > self.ready_ps[stage]:
            self.cause[stage] = self.served[engine]
        self.start(stage)
        self.append(self.queue[stage], stage)

    def start(self, stage: int) -> None:
        """The stage starts now; what its start releases lags behind."""
        self.start_ps[stage] = self.now
        self.end_ps[stage] = self.now + self.queue_ps[self.queue[stage]]
        first_event = self.stages + self.end_releases
        for row in range(self.start_offsets[stage], self.start_offsets[stage + 1]):
            self.append(self.start_queue[row], first_event + row)

    # Events: a queue per class, a heap of the queues by when their first event is due.

    def due_ps(self, event: int, queue: int) -> int:
        """When an event of the queue is due."""
        if event < self.stages:
            return self.end_ps[event]
        row = event - self.stages
        if row < self.end_releases:
            return self.end_ps[self.end_releaser[row]] + self.queue_ps[queue]
        releaser = self.start_releaser[row - self.end_releases]
        return self.start_ps[releaser] + self.queue_ps[queue]

    def append(self, queue: int, event: int) -> None:
        """The event joins its class: due no earlier than any in it."""
        self.next_event[event] = NONE
        if self.first_event[queue] != NONE:
            self.next_event[self.last_event[queue]] = event
            self.last_event[queue] = event
            return
        self.first_event[queue] = event
        self.last_event[queue] = event
        self.heap_size += 1
        self.heap_rise(self.heap_size - 1, queue, self.due_ps(event, queue))

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

    # Sorting the stages of one instant by id: few as a rule, a million in the worst case.

    def sort_newly_ready(self) -> None:
        """Ascending ids, in place, never quadratic."""
        if self.newly_ready_count > FEW:
            self.heap_sort_newly_ready()
            return
        for place in range(1, self.newly_ready_count):
            stage = self.newly_ready[place]
            while place > 0 and self.newly_ready[place - 1] > stage:
                self.newly_ready[place] = self.newly_ready[place - 1]
                place -= 1
            self.newly_ready[place] = stage

    def heap_sort_newly_ready(self) -> None:
        """A heap sort."""
        count = self.newly_ready_count
        for root in range(count // 2 - 1, -1, -1):
            self.sink_stage(root, count, self.newly_ready[root])
        for last in range(count - 1, 0, -1):
            stage = self.newly_ready[last]
            self.newly_ready[last] = self.newly_ready[0]
            self.sink_stage(0, last, stage)

    def sink_stage(self, place: int, count: int, stage: int) -> None:
        """Puts the stage where it belongs in the max-heap of the first `count` places."""
        child = 2 * place + 1
        while child < count:
            if child + 1 < count and self.newly_ready[child + 1] > self.newly_ready[child]:
                child += 1
            if self.newly_ready[child] <= stage:
                break
            self.newly_ready[place] = self.newly_ready[child]
            place = child
            child = 2 * place + 1
        self.newly_ready[place] = stage


FEW = 16
"""Up to here an insertion sort is quicker."""
