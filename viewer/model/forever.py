"""Which engines of a run that stopped in a deadlock had more to do, and wait for it for ever."""

import numpy as np

from ...replay.lower import lower
from ...schemas.columns import Bools
from .index import TimelineIndex


def waiting_lanes(index: TimelineIndex) -> Bools:
    """Per lane whether it has stages that never ran: none of a run that ended. Worked out once, at the
    cost of lowering the trace: the timeline itself holds only what ran.
    """
    return index.once("waiting lanes", lambda: _waiting_lanes(index))


def _waiting_lanes(index: TimelineIndex) -> Bools:
    timeline = index.timeline
    if timeline.deadlock is None:
        return np.zeros(len(timeline.engines), dtype=np.bool_)
    ran = np.bincount(timeline.stages.engine, minlength=len(timeline.engines))
    graph = lower(timeline.trace, timeline.topology, timeline.policy)
    counts = np.bincount(graph.stages.engine, minlength=len(graph.engines)).tolist()
    to_run = dict(zip(graph.engines, counts, strict=True))
    wanted = np.array([to_run.get(engine, 0) for engine in timeline.engines], dtype=np.int64)
    waits: Bools = wanted > ran
    return waits
