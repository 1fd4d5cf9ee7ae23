"""The distinct times from a releaser's end to its release: its lag, less the releaser's own duration
where the release counts from its start."""

import numpy as np

from ...schemas.columns import Int32s, Int64s
from ..stage_graph import Durations, StageGraph


class Gaps:
    """`of_release`: per release the number of its gap."""

    def __init__(self, graph: StageGraph) -> None:
        releases, lags = graph.releases, len(graph.lag_classes)
        lasting = 1 + graph.stages.duration_class[releases.releaser].astype(np.int64)
        combined = np.where(releases.from_start == 1, lasting, 0) * lags + releases.lag_class
        used = np.flatnonzero(np.bincount(combined))
        number_of = np.zeros(used[-1] + 1 if len(used) else 0, dtype=np.int32)
        number_of[used] = np.arange(len(used))
        self.of_release: Int32s = number_of[combined]
        self._lasting, self._lag = np.divmod(used, lags)

    def ps(self, lasting: Durations) -> Int64s:
        """Per gap, its picoseconds."""
        own_ps = np.concatenate([np.zeros(1, dtype=np.int64), lasting.stage_ps])
        gaps: Int64s = lasting.lag_ps[self._lag] - own_ps[self._lasting]
        return gaps
