"""What a cause edge means: from the runner's cause stage to a Why number."""

import numpy as np

from ..schemas.columns import Int8s
from ..schemas.stages import Why
from .stage_graph import StageGraph
from .times import Times


def whys(graph: StageGraph, times: Times) -> Int8s:
    """Per stage, why its cause was waited for; Why.ENGINE where the stage had to queue.

    Where one releaser releases a stage twice (its start and its end), the first of the graph's
    rows for the pair counts.
    """
    why = np.full(len(graph), Why.NOTHING, dtype=np.int8)
    released = np.repeat(np.arange(len(graph)), np.diff(graph.releases.offsets))
    is_cause = graph.releases.releaser == times.cause[released]
    rows = np.flatnonzero(is_cause)[::-1]
    why[released[rows]] = graph.releases.why[rows]
    why[times.start_ps > times.ready_ps] = Why.ENGINE
    return why
