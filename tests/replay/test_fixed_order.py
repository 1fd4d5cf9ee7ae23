"""Engines that serve in a fixed order: then a release less makes nothing later, on any graph.

This is why a scheduling anomaly (docs/hazards.md) always comes from an engine serving in another order.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from kerntape.replay.compiled_runner import run
from kerntape.replay.stage_graph import Durations, StageGraph
from kerntape.replay.times import Times
from law_graphs import law_graphs

steady = settings(
    max_examples=60,
    # drawing a graph takes its time on a busy machine
    suppress_health_check=[HealthCheck.too_slow],
)


@dataclass
class LongestPaths:
    """When every stage starts and ends, in ps, if it starts when its last release has happened and
    the stage before it in its engine's queue (`before`), if any, has ended."""

    graph: StageGraph
    durations: Durations
    before: dict[int, int]
    known: dict[int, int] = field(default_factory=dict)

    def starts(self) -> list[int]:
        return [self.start(stage) for stage in range(len(self.graph))]

    def ends(self) -> list[int]:
        return [self.end(stage) for stage in range(len(self.graph))]

    def start(self, stage: int) -> int:
        if stage not in self.known:
            first, past = self.graph.releases.offsets[stage : stage + 2]
            queued = [self.end(self.before[stage])] if stage in self.before else []
            self.known[stage] = max([0, *map(self._happened, range(first, past)), *queued])
        return self.known[stage]

    def end(self, stage: int) -> int:
        lasts = self.durations.stage_ps[self.graph.stages.duration_class[stage]]
        return self.start(stage) + int(lasts)

    def _happened(self, release: int) -> int:
        releases = self.graph.releases
        by = int(releases.releaser[release])
        lag_ps = int(self.durations.lag_ps[releases.lag_class[release]])
        return (self.start(by) if releases.from_start[release] else self.end(by)) + lag_ps


def order_of_service(graph: StageGraph, times: Times) -> dict[int, int]:
    """For each stage that an engine served after another, the other."""
    before: dict[int, int] = {}
    for number, engine in enumerate(graph.engines):
        served = np.flatnonzero(graph.stages.engine == number)
        if engine.arbitrates:
            in_order = served[np.argsort(times.start_ps[served])].tolist()
            before.update(zip(in_order[1:], in_order, strict=False))
    return before


def without_release(graph: StageGraph, release: int) -> StageGraph:
    """The graph without one of its releases."""
    releases = graph.releases
    released = int(np.searchsorted(releases.offsets, release, side="right")) - 1
    offsets = releases.offsets.copy()
    offsets[released + 1 :] -= 1
    columns = ("releaser", "from_start", "lag_class", "why")
    fewer = {name: np.delete(getattr(releases, name), release) for name in columns}
    return replace(graph, releases=replace(releases, offsets=offsets, **fewer))


@given(law_graphs())
@steady
def test_a_run_is_the_longest_paths_over_its_releases_and_its_order_of_service(drawn) -> None:
    graph, durations = drawn
    times = run(graph, durations)
    paths = LongestPaths(graph, durations, order_of_service(graph, times))
    assert paths.starts() == times.start_ps.tolist()
    assert paths.ends() == times.end_ps.tolist()


@given(law_graphs(), st.data())
@steady
def test_with_the_order_of_service_fixed_a_release_less_makes_no_stage_later(drawn, data) -> None:
    graph, durations = drawn
    count = len(graph.releases.releaser)
    assume(count)
    order = order_of_service(graph, run(graph, durations))
    fewer = without_release(graph, data.draw(st.integers(0, count - 1)))
    before, after = (LongestPaths(each, durations, order).ends() for each in (graph, fewer))
    assert all(now <= then for then, now in zip(before, after, strict=True))


@given(law_graphs(), st.data())
@steady
def test_with_the_order_of_service_fixed_a_shorter_stage_makes_no_stage_later(drawn, data) -> None:
    graph, durations = drawn
    assume(len(graph))
    order = order_of_service(graph, run(graph, durations))
    shorter_ps = durations.stage_ps.copy()
    shorter_ps[data.draw(st.integers(0, len(shorter_ps) - 1))] //= 2
    shorter = replace(durations, stage_ps=shorter_ps)
    before, after = (LongestPaths(graph, each, order).ends() for each in (durations, shorter))
    assert all(now <= then for then, now in zip(before, after, strict=True))
