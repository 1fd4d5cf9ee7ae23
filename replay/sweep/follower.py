"""Records in which order a run's engines served, and follows such orders under other calibrations.

The columns of a graph are laid out once (a cost of the order of a tenth of a replay), an order is
recorded in about as much, and a calibration that keeps to it costs about a sixtieth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Bools, Int32s, Int64s, offsets_of
from ...schemas.stages import arbitrated
from .. import native, order_pass
from ..native import NONE
from ..stage_graph import Durations, StageGraph

Order = Any
"""All stages of a graph in a recorded order, as order_pass reads it."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What came of following an order. `end_ps`: int64 [stages, calibrations], until the next pass.

    Per calibration, `holds` says whether its times are the law's, `makespan_ps` is its last end.
    `share_looked_at` is how much of the order was looked at before every calibration had broken it;
    1.0 where it holds for one.
    """

    end_ps: Int64s
    makespan_ps: Int64s
    holds: tuple[bool, ...]
    share_looked_at: float


class Follower:
    """A graph without a cycle, ready to be followed."""

    def __init__(self, graph: StageGraph) -> None:
        native.refuse_stale(order_pass)
        stages, releases = graph.stages, graph.releases
        serves = arbitrated(graph.engines)[stages.engine]
        self._graph = graph
        self._engine_count = len(graph.engines)
        self._engine: Int32s = np.where(serves, stages.engine, np.int32(NONE))
        self._last_unserved = _last_unserved(graph, serves)
        rows = np.flatnonzero(serves)
        self._by_engine = rows[np.argsort(stages.engine[rows], kind="stable")]
        self._missing = np.diff(releases.offsets).astype(np.int32)
        by_releaser = np.argsort(releases.releaser, kind="stable")
        released = np.repeat(np.arange(len(graph), dtype=np.int32), self._missing)
        self._released = _column(released[by_releaser], np.int32)
        self._released_offsets = _column(
            offsets_of(np.bincount(releases.releaser, minlength=len(graph))), np.int64
        )
        self._gaps = _Gaps(graph)
        self._pass = order_pass.OrderPass(
            self._engine_count,
            _column(self._engine, np.int32),
            _column(stages.duration_class, np.int32),
            _column(releases.offsets, np.int64),
            _column(releases.releaser, np.int32),
            _column(self._gaps.gap_of_release, np.int32),
            _new32,
            _new64,
        )

    @property
    def lanes(self) -> int:
        """How many calibrations one pass takes."""
        return len(self._pass.broken)

    def record(self, start_ps: Int64s) -> Order:
        """The order of a finished run; `start_ps` per stage."""
        served = self._served(start_ps)
        engine = self._engine[served]
        before, after = served[:-1], served[1:]
        same_engine = engine[:-1] == engine[1:]
        served_next = np.full(len(self._graph), NONE, dtype=np.int32)
        served_next[before[same_engine]] = after[same_engine]
        missing = self._missing.copy()
        missing[after[same_engine]] += 1
        merge = order_pass.OrderMerge(
            _column(served_next, np.int32),
            _column(missing, np.int32),
            self._released_offsets,
            self._released,
            _new32,
        )
        merge.run()
        return merge.order

    def _served(self, start_ps: Int64s) -> Int64s:
        """The stages that queue, engine after engine, each engine's by their starts (all different)."""
        starts, engine = start_ps[self._by_engine], self._engine[self._by_engine]
        time_bits = int(starts.max(initial=0)).bit_length()
        if self._engine_count.bit_length() + time_bits > 63:
            return self._by_engine[np.lexsort((starts, engine))]
        # one key of both sorts several times as fast
        return self._by_engine[np.argsort((engine.astype(np.int64) << time_bits) | starts)]

    def follow(self, order: Order, lasting: Sequence[Durations]) -> Followed:
        """Follows the order under 1 to `lanes` calibrations."""
        filled = [*lasting, *[lasting[-1]] * (self.lanes - len(lasting))]
        stage_ps = np.stack([each.stage_ps for each in filled], axis=1)
        gap_ps = np.stack([self._gaps.ps(each) for each in filled], axis=1)
        self._pass.run(
            order, _column(stage_ps.ravel(), np.int64), _column(gap_ps.ravel(), np.int64)
        )
        end_ps = self._by_lane(self._pass.end_ps)[:, : len(lasting)]
        served_ps = self._by_lane(self._pass.served_end_ps)[:, : len(lasting)]
        last_ps = end_ps.take(self._last_unserved, axis=0).max(axis=0, initial=0)
        makespan_ps = np.maximum(last_ps, served_ps.max(axis=0, initial=0))
        holds = tuple(not broken for broken in self._pass.broken[: len(lasting)])
        share = self._pass.followed / max(1, len(self._graph))
        return Followed(end_ps, makespan_ps, holds, share)

    def _by_lane(self, column: Any) -> Int64s:
        return np.asarray(column, dtype=np.int64).reshape(-1, self.lanes)


def _last_unserved(graph: StageGraph, serves: Bools) -> Int64s:
    """The stages that need no engine and whose end releases nothing.

    The last end of all is that of one of them, or of the stage that some engine serves last.
    """
    ends_last = ~serves
    ends_last[graph.releases.releaser[graph.releases.from_start == 0]] = False
    return np.flatnonzero(ends_last)


class _Gaps:
    """The distinct times from a releaser's end to its release: its lag, less the releaser's own
    duration where the release counts from its start.

    `gap_of_release`: per release the number of its gap.
    """

    def __init__(self, graph: StageGraph) -> None:
        releases, lags = graph.releases, len(graph.lag_classes)
        lasting = 1 + graph.stages.duration_class[releases.releaser].astype(np.int64)
        combined = np.where(releases.from_start == 1, lasting, 0) * lags + releases.lag_class
        used = np.flatnonzero(np.bincount(combined))
        number_of = np.zeros(used[-1] + 1 if len(used) else 0, dtype=np.int32)
        number_of[used] = np.arange(len(used))
        self.gap_of_release: Int32s = number_of[combined]
        self._lasting, self._lag = np.divmod(used, lags)

    def ps(self, lasting: Durations) -> Int64s:
        """Per gap, its picoseconds."""
        own_ps = np.concatenate([np.zeros(1, dtype=np.int64), lasting.stage_ps])
        gaps: Int64s = lasting.lag_ps[self._lag] - own_ps[self._lasting]
        return gaps


def _column(values: npt.NDArray[Any], dtype: type[np.integer]) -> Any:
    return native.column(order_pass, values, dtype)


def _new32(length: int) -> Any:
    return native.new_column(order_pass, length, np.int32)


def _new64(length: int) -> Any:
    return native.new_column(order_pass, length, np.int64)
