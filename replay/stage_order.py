"""The order in which a finished run did its stages, as far as the graph and its engines order them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..schemas.columns import Int32s, Int64s, offsets_of
from ..schemas.stages import arbitrated
from . import native, order_layout
from .native import NONE
from .stage_graph import StageGraph


class StageOrder:
    """A graph without a cycle, whose columns are prepared once for all its runs.

    `engine`: per stage the engine that it queues for, NONE where it needs not.
    """

    def __init__(self, graph: StageGraph) -> None:
        stages, releases = graph.stages, graph.releases
        serves = arbitrated(graph.engines)[stages.engine]
        self.engine: Int32s = np.where(serves, stages.engine, np.int32(NONE))
        self._engines = len(graph.engines)
        rows = np.flatnonzero(serves)
        self._by_engine = rows[np.argsort(stages.engine[rows], kind="stable")]
        self._missing = np.diff(releases.offsets).astype(np.int32)
        released = np.repeat(np.arange(len(graph), dtype=np.int32), self._missing)
        by_releaser = np.argsort(releases.releaser, kind="stable")
        self._released = _column(released[by_releaser], np.int32)
        self._released_offsets = _column(
            offsets_of(np.bincount(releases.releaser, minlength=len(graph))), np.int64
        )

    def of(self, start_ps: Int64s) -> Any:
        """All stages; before each stand its releasers and what its engine served before it.

        `start_ps` per stage, of a run that ended. As order_layout reads it.
        """
        served = self._served(start_ps)
        engine = self.engine[served]
        before, after = served[:-1], served[1:]
        same_engine = engine[:-1] == engine[1:]
        served_next = np.full(len(self.engine), NONE, dtype=np.int32)
        served_next[before[same_engine]] = after[same_engine]
        missing = self._missing.copy()
        missing[after[same_engine]] += 1
        merge = order_layout.OrderMerge(
            _column(served_next, np.int32),
            _column(missing, np.int32),
            self._released_offsets,
            self._released,
            lambda length: native.new_column(order_layout, length, np.int32),
        )
        merge.run()
        return merge.order

    def _served(self, start_ps: Int64s) -> Int64s:
        """The stages that queue, engine after engine, each engine's by their starts (all different)."""
        starts, engine = start_ps[self._by_engine], self.engine[self._by_engine]
        time_bits = int(starts.max(initial=0)).bit_length()
        if self._engines.bit_length() + time_bits > 63:
            return self._by_engine[np.lexsort((starts, engine))]
        # one key of both sorts several times as fast
        return self._by_engine[np.argsort((engine.astype(np.int64) << time_bits) | starts)]


def _column(values: npt.NDArray[Any], dtype: type[np.integer]) -> Any:
    return native.column(order_layout, values, dtype)
