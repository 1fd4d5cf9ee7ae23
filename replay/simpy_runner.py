"""The readable runner: the law, as SimPy processes. What the compiled runner must equal, to the byte.

The law: a stage is ready when all its releases have happened. An engine serves one stage at a time,
its least (ready, stage id). Nothing else decides a time.

One instant: ends, releases and engine-less stages first, until nothing changes; only then does each
idle engine start a stage. SimPy processes an instant's events by priority, so arbitration has a
priority below every other event.
"""

from collections.abc import Generator
from heapq import heappop, heappush
from typing import Any

import numpy as np
import simpy
from simpy.events import EventPriority

from .stage_graph import Durations, StageGraph
from .times import Times

BELOW_EVERY_OTHER = EventPriority(2)
NEVER = -1


class Arbitration(simpy.Event):
    """Happens in this instant, after all other events of it."""

    def __init__(self, env: simpy.Environment) -> None:
        super().__init__(env)
        self._ok = True
        self._value = None
        env.schedule(self, priority=BELOW_EVERY_OTHER)


class Engine:
    """One server: a heap of ready stages and a process that serves the least of them."""

    def __init__(self, run: "_Run") -> None:
        self._run = run
        self._waiting: list[tuple[int, int]] = []
        self._arrival = run.env.event()
        run.env.process(self._serve())

    def enqueue(self, ready_ps: int, stage: int) -> None:
        """A stage became ready; an idle engine wakes up."""
        heappush(self._waiting, (ready_ps, stage))
        if not self._arrival.triggered:
            self._arrival.succeed()

    def _serve(self) -> Generator[simpy.Event, Any, None]:
        env, served_before = self._run.env, NEVER
        while True:
            if not self._waiting:
                self._arrival = env.event()
                yield self._arrival
            yield Arbitration(env)
            _, stage = heappop(self._waiting)
            self._run.start(stage, served_before)
            yield env.timeout(self._run.duration_ps[stage])
            self._run.end(stage)
            served_before = stage


class _Run:
    """The state of one run: what is released, and the columns being filled."""

    def __init__(self, graph: StageGraph, durations: Durations) -> None:
        self.env = simpy.Environment(initial_time=0)
        count = len(graph)
        self.duration_ps: list[int] = durations.stage_ps[graph.stages.duration_class].tolist()
        self.ready, self.starts, self.ends = [NEVER] * count, [NEVER] * count, [NEVER] * count
        self.cause = [NEVER] * count
        self._missing: list[int] = np.diff(graph.releases.offsets).tolist()
        self._after_start, self._after_end = _released_by(graph, durations)
        self._engine: list[int] = graph.stages.engine.tolist()
        self._servers = [Engine(self) if e.arbitrates else None for e in graph.engines]

    def run(self) -> None:
        unreleased = [stage for stage, missing in enumerate(self._missing) if missing == 0]
        for stage in unreleased:
            self._become_ready(stage)
        self.env.run()

    def start(self, stage: int, served_before: int = NEVER) -> None:
        """The stage starts now. Where it had to queue, the stage served before is its cause."""
        now = int(self.env.now)
        self.starts[stage] = now
        if now > self.ready[stage]:
            self.cause[stage] = served_before
        self._release(stage, self._after_start[stage])

    def end(self, stage: int) -> None:
        """The stage ends now."""
        self.ends[stage] = int(self.env.now)
        self._release(stage, self._after_end[stage])

    def _release(self, releaser: int, releases: list[tuple[int, int]]) -> None:
        for released, lag_ps in releases:
            if lag_ps == 0:
                self._happen(released, releaser)
            else:
                later = self.env.timeout(lag_ps, (released, releaser))
                later.callbacks.append(lambda event: self._happen(*event.value))

    def _happen(self, released: int, releaser: int) -> None:
        """One release of `released` happened; of those that came last, the least id is its cause."""
        now = int(self.env.now)
        if now > self.ready[released] or releaser < self.cause[released]:
            self.cause[released] = releaser
        self.ready[released] = now
        self._missing[released] -= 1
        if self._missing[released] == 0:
            self._become_ready(released)

    def _become_ready(self, stage: int) -> None:
        self.ready[stage] = int(self.env.now)
        server = self._servers[self._engine[stage]]
        if server is not None:
            server.enqueue(self.ready[stage], stage)
            return
        self.start(stage)
        over = self.env.timeout(self.duration_ps[stage], stage)
        over.callbacks.append(lambda event: self.end(event.value))


def run(graph: StageGraph, durations: Durations) -> Times:
    """Runs the graph until nothing is left to happen; what a cycle holds up stays at −1."""
    state = _Run(graph, durations)
    state.run()
    return Times(
        ready_ps=np.array(state.ready, dtype=np.int64),
        start_ps=np.array(state.starts, dtype=np.int64),
        end_ps=np.array(state.ends, dtype=np.int64),
        cause=np.array(state.cause, dtype=np.int32),
    )


Releases = list[list[tuple[int, int]]]


def _released_by(graph: StageGraph, durations: Durations) -> tuple[Releases, Releases]:
    """Per stage, whom its start releases and whom its end releases: (stage, lag in ps)."""
    after_start: Releases = [[] for _ in range(len(graph))]
    after_end: Releases = [[] for _ in range(len(graph))]
    releases = graph.releases
    released = np.repeat(np.arange(len(graph)), np.diff(releases.offsets)).tolist()
    lags = durations.lag_ps[releases.lag_class].tolist()
    rows = zip(
        released, releases.releaser.tolist(), releases.from_start.tolist(), lags, strict=True
    )
    for stage, releaser, from_start, lag_ps in rows:
        (after_start if from_start else after_end)[releaser].append((stage, lag_ps))
    return after_start, after_end
