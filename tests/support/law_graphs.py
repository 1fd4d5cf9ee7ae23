"""Stage graphs written down by hand or drawn at random, for tests of the law."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from kerntape.replay.stage_graph import (
    CommandStages,
    Durations,
    HeldPairs,
    Releases,
    StageGraph,
)
from kerntape.schemas.stages import Block, Engine, StageKind, Stages, Why
from kerntape.schemas.timeline import DurationClass

SERVER, LANE = 0, 1
"""Engine 0 serves one stage at a time; engine 1 does not arbitrate."""


@dataclass(frozen=True)
class Release:
    by: int
    lag_ps: int = 0
    from_start: bool = False


def graph_of(
    stages: list[tuple[int, int, list[Release]]], servers: int = 1
) -> tuple[StageGraph, Durations]:
    """(engine, duration, releases) per stage; engines 0 to servers − 1 serve, the next is a lane. Each
    stage has a duration class of its own, of its number.
    """
    flat = [release for _, _, releases in stages for release in releases]
    counts = [len(releases) for _, _, releases in stages]
    lags = sorted({0, *(release.lag_ps for release in flat)})
    lasting = [duration for _, duration, _ in stages]
    engines = tuple(
        Engine(Block.PE_MATH, 0, str(i), arbitrates=i < servers) for i in range(servers + 1)
    )
    zeros = np.zeros(len(stages), np.int32)
    graph = StageGraph(
        engines=engines,
        stages=Stages(
            kind=np.full(len(stages), StageKind.MATH, np.int16),
            engine=np.array([engine for engine, _, _ in stages], np.int32),
            pe=zeros,
            command=np.arange(len(stages), dtype=np.int32),
            op=zeros.astype(np.int16),
            tile=zeros,
            duration_class=np.arange(len(stages), dtype=np.int32),
        ),
        releases=Releases(
            offsets=np.cumsum([0, *counts]).astype(np.int64),
            releaser=np.array([r.by for r in flat], np.int32),
            from_start=np.array([r.from_start for r in flat], np.int8),
            lag_class=np.array([lags.index(r.lag_ps) for r in flat], np.int32),
            why=np.full(len(flat), Why.DATA, np.int8),
        ),
        duration_classes=tuple(DurationClass("test", ps) for ps in lasting),
        lag_classes=tuple(DurationClass("test", ps) for ps in lags),
        commands=CommandStages(np.array([0, 0], np.int64), zeros[:0], zeros[:0], zeros[:0]),
        held=HeldPairs(*(zeros[:0] for _ in range(10))),
    )
    return graph, Durations(np.array(lasting, np.int64), np.array(lags, np.int64))


def sharing(graph: StageGraph, durations: Durations) -> tuple[StageGraph, Durations]:
    """The same, all stages that last equally long in one duration class."""
    lasting, classes = np.unique(durations.stage_ps, return_inverse=True)
    shared = replace(
        graph,
        stages=replace(graph.stages, duration_class=classes.astype(np.int32)),
        duration_classes=tuple(DurationClass("test", int(ps)) for ps in lasting),
    )
    return shared, replace(durations, stage_ps=lasting)


@st.composite
def law_graphs(draw: st.DrawFn) -> tuple[StageGraph, Durations]:
    """Graphs that obey the law's rule for one instant: many ties, stages without an engine or time,
    wide fans and long chains, lags from starts and from ends, few duration classes. Ids do not follow
    the order of release.
    """
    count = draw(st.integers(0, 24))
    servers = draw(st.integers(1, 3))
    order = draw(st.permutations(range(count)))
    stages: list[tuple[int, int, list[Release]]] = [(0, 0, [])] * count
    for place, stage in enumerate(order):
        engine = draw(st.integers(0, servers))
        lasting = draw(st.integers(0 if engine == servers else 1, 3))
        before = st.sampled_from(order[:place]) if place else st.nothing()
        releases = [
            Release(by, lag_ps=draw(st.integers(int(from_start), 3)), from_start=from_start)
            for by, from_start in draw(
                st.lists(st.tuples(before, st.booleans()), max_size=4) if place else st.just([])
            )
        ]
        stages[stage] = (engine, lasting, releases)
    return sharing(*graph_of(stages, servers))
