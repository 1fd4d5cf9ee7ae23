"""Slack: how much later a stage could end without moving the makespan.

A stage may end as late as everything that waits for it allows. Going backwards from the makespan,

    latest end of s = min over what s lets start:  latest start of t − lag            (t waits for s's end)
                                                   latest start of t − lag + length of s   (for its start)
                                                   latest start of the next on s's engine

so that slack is zero along the critical path. The engines are taken to serve in the order in which
they did: a delay within the slack may change that order, and then the law decides anew.

What releases what is kept once for all PEs that share a stream (shared_releases), and slack_pass goes
back through it: 16 bytes a stage at work, and half of them are the result.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Int32s, Int64s
from ...schemas.stages import Engine, arbitrated
from ...schemas.timeline import Timeline
from .. import native, slack_pass
from ..durations import TimedClasses
from ..lower import LoweredStreams, lower_streams
from ..lower_stream import StreamGraph
from ..shared_releases import SharedReleases, as_one_pe, shared_releases
from ..stage_graph import Durations, StageGraph

STAGES_AT_ONCE = 1 << 17
"""So many stages are gone through before other threads may do something: a few milliseconds."""


@dataclass(frozen=True)
class _Run:
    """A run that ended. Per stage: engine, pe, start_ps, end_ps; `served` are all stages, engine after
    engine, each engine's in the order of their starts.
    """

    engines: tuple[Engine, ...]
    engine: Int32s
    pe: Int32s
    start_ps: Int64s
    end_ps: Int64s
    served: Int32s


def slack_ps(graph: StageGraph, lasting: Durations, start_ps: Int64s) -> Int64s:
    """Per stage its slack, int64 ps, of a replay of this graph that ended; `start_ps` are its starts."""
    engine = graph.stages.engine
    run = _Run(
        engines=graph.engines,
        engine=engine,
        pe=np.zeros(len(graph), np.int32),
        start_ps=start_ps,
        end_ps=start_ps + lasting.stage_ps[graph.stages.duration_class],
        served=np.lexsort((start_ps, engine)).astype(np.int32),
    )
    return _slack_ps(as_one_pe(graph), lasting.lag_ps, run)


def timeline_slack_ps(timeline: Timeline, served: Int32s) -> Int64s | None:
    """Per stage of a timeline that ended its slack, int64 ps; `served` as stages by (engine, start).

    None where this version of the model does not lower its trace to the same stages of the same
    lengths. Raises KerntapeError where it cannot lower it.
    """
    found = _releases(timeline)
    if found is None:
        return None
    stages = timeline.stages
    run = _Run(
        engines=timeline.engines,
        engine=stages.engine,
        pe=stages.pe,
        start_ps=timeline.start_ps,
        end_ps=timeline.end_ps,
        served=served,
    )
    return _slack_ps(*found, run)


def _releases(timeline: Timeline) -> tuple[SharedReleases, Int64s] | None:
    """The releases of a timeline's stages, and ps per lag class; None as timeline_slack_ps."""
    lowered = lower_streams(timeline.trace, timeline.topology, timeline.policy)
    if not _is_what_it_lowers_to(timeline, lowered):
        return None
    releases = shared_releases(timeline.trace, timeline.topology, lowered)
    from_start = releases.lag_class[releases.from_start == 1]
    lags = TimedClasses(lowered.lags.classes, releases.lag_class, from_start)
    return releases, np.array(lags.ps(timeline.calibration), np.int64)


def _is_what_it_lowers_to(timeline: Timeline, lowered: LoweredStreams) -> bool:
    """Whether every PE has the stages of its graph, and they last as long as the calibration says."""
    stages = timeline.stages
    if sum(len(graph) for graph in lowered.of_pes()) != len(stages):
        return False
    stage_ps = _stage_ps(timeline, lowered)
    return all(
        (stages.pe[mine] == pe).all()
        and np.array_equal(stages.kind[mine], graph.kind[own])
        and np.array_equal(
            timeline.end_ps[mine] - timeline.start_ps[mine], stage_ps[graph.duration_class[own]]
        )
        for pe, graph, own, mine in _parts(lowered)
    )


def _stage_ps(timeline: Timeline, lowered: LoweredStreams) -> Int64s:
    """How long each duration class lasts; what queues, at least 1 ps."""
    serves, engine = arbitrated(timeline.engines), timeline.stages.engine
    classes = lowered.durations.classes
    queues = np.zeros(len(classes), np.bool_)
    for _, graph, own, mine in _parts(lowered):
        queues[graph.duration_class[own][serves[engine[mine]]]] = True
    timed = TimedClasses(classes, np.zeros(0, np.int32), np.flatnonzero(queues).astype(np.int32))
    return np.array(timed.ps(timeline.calibration), dtype=np.int64)


def _parts(lowered: LoweredStreams) -> Iterator[tuple[int, StreamGraph, slice, slice]]:
    """All stages, so many at once: whose, the PE's graph, where they are in it and in the launch."""
    first = 0
    for pe, graph in enumerate(lowered.of_pes()):
        for own in _ranges(len(graph)):
            yield pe, graph, own, slice(first + own.start, first + own.stop)
        first += len(graph)


def _slack_ps(releases: SharedReleases, lag_ps: Int64s, run: _Run) -> Int64s:
    native.refuse_stale(slack_pass)
    stages = len(run.start_ps)
    back = slack_pass.SlackPass(
        _as_read(releases),
        _column(run.pe, np.int32),
        _column(run.start_ps, np.int64),
        _column(run.end_ps, np.int64),
        _column(lag_ps, np.int64),
        lambda length: native.new_column(slack_pass, length, np.int32),
        lambda length: native.new_room(slack_pass, length, np.int64),
    )
    served, engine = _column(run.served, np.int32), _column(run.engine, np.int32)
    serves = _column(arbitrated(run.engines), np.int8)
    for some in _ranges(stages):
        back.link(served, engine, serves, some.start, some.stop)
    for some in _ranges(stages):
        back.count(some.start, some.stop)
    makespan_ps = int(run.end_ps.max(initial=0))
    for some in _ranges(stages):
        back.begin(some.start, some.stop, makespan_ps)
    for _ in _ranges(stages):
        back.follow(STAGES_AT_ONCE)
    return np.asarray(back.slack_ps, dtype=np.int64)


def _ranges(stages: int) -> Iterator[slice]:
    """All stages, so many at once."""
    for first in range(0, stages, STAGES_AT_ONCE):
        yield slice(first, min(first + STAGES_AT_ONCE, stages))


def _as_read(releases: SharedReleases) -> SharedReleases:
    """The columns as slack_pass reads them."""
    columns = {each.name: getattr(releases, each.name) for each in fields(releases)}
    return SharedReleases(**{name: _column(c, c.dtype.type) for name, c in columns.items()})


def _column(values: npt.NDArray[Any], dtype: type[np.integer]) -> Any:
    return native.column(slack_pass, values, dtype)
