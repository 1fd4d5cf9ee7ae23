"""Slack: how much later a stage could end without moving the makespan.

A stage may end as late as everything that waits for it allows. Going backwards from the makespan,

    latest end of s = min over what s lets start:  latest start of t − lag            (t waits for s's end)
                                                   latest start of t − lag + length of s   (for its start)
                                                   latest start of the next on s's engine

so that slack is zero along the critical path. The engines are taken to serve in the order in which
they did: a delay within the slack may change that order, and then the law decides anew.
"""

import numpy as np

from ...schemas.columns import Int64s
from ...schemas.stages import arbitrated
from ..stage_graph import Durations, StageGraph
from ..stage_order import StageOrder

NOBODY = -1


def slack_ps(graph: StageGraph, lasting: Durations, start_ps: Int64s) -> Int64s:
    """Per stage its slack, int64 ps, of a replay of this graph that ended; `start_ps` are its starts.

    Linear in stages and releases, a second or two for a million stages.
    """
    length = lasting.stage_ps[graph.stages.duration_class]
    ends = start_ps + length
    if not len(graph):
        return ends
    latest = np.full(len(graph), ends.max(), dtype=np.int64).tolist()
    releases = graph.releases
    offsets, releaser = releases.offsets.tolist(), releases.releaser.tolist()
    gaps = _gaps(graph, lasting, length).tolist()
    served_before = _served_before(graph, start_ps).tolist()
    lengths = length.tolist()
    order = np.asarray(StageOrder(graph).of(start_ps)).tolist()
    for stage in reversed(order):
        latest_start = latest[stage] - lengths[stage]
        for row in range(offsets[stage], offsets[stage + 1]):
            by = releaser[row]
            latest[by] = min(latest[by], latest_start - gaps[row])
        before = served_before[stage]
        if before != NOBODY:
            latest[before] = min(latest[before], latest_start)
    return np.array(latest, dtype=np.int64) - ends


def _gaps(graph: StageGraph, lasting: Durations, length: Int64s) -> Int64s:
    """Per release, the time from its releaser's end to it; below zero where a start releases."""
    releases = graph.releases
    own = np.where(releases.from_start == 1, length[releases.releaser], 0)
    gaps: Int64s = lasting.lag_ps[releases.lag_class] - own
    return gaps


def _served_before(graph: StageGraph, start_ps: Int64s) -> Int64s:
    """Per stage, the one that its engine served before it; NOBODY where it did not queue."""
    served = np.flatnonzero(arbitrated(graph.engines)[graph.stages.engine])
    engine = graph.stages.engine[served]
    served = served[np.lexsort((start_ps[served], engine))]
    before = np.full(len(graph), NOBODY, dtype=np.int64)
    same = graph.stages.engine[served[1:]] == graph.stages.engine[served[:-1]]
    before[served[1:][same]] = served[:-1][same]
    return before
