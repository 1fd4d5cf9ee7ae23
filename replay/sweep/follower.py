"""Follows recorded orders of a graph under other calibrations, as many at once as a pass takes.

The columns of a graph are laid out once (a cost of the order of a third of a replay), an order is
recorded in about as much (order_recorder), and a calibration that keeps to it costs about a
sixtieth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Int64s
from ...schemas.stages import arbitrated
from .. import native, order_pass
from ..native import NONE
from ..stage_graph import Durations, StageGraph
from .gaps import Gaps
from .holds import holds_of
from .order_recorder import OrderRecorder

Order = Any
"""A recorded order, laid out: an `order_pass.OrderPass`."""

MAX_HELD_PS = 1 << 63
"""From here on a pass cannot add up how long stages were held: several may be held at once."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What came of following an order. `end_ps`: int64 [wanted stages, calibrations], until the next
    pass along the same order.

    Per calibration, `holds` says whether its times are the law's and `held_ps` surely below
    MAX_HELD_PS, `makespan_ps` is its last end, `held_ps` the time that the policy's holds alone
    delayed stages. `share_looked_at` is how much of the order was looked at before every calibration
    had broken it; 1.0 where it holds for one.
    """

    end_ps: Int64s
    makespan_ps: Int64s
    held_ps: Int64s
    holds: tuple[bool, ...]
    share_looked_at: float


class Follower:
    """A graph without a cycle, ready to be followed. `wanted`: the stages whose ends are asked for."""

    lanes = order_pass.LANES
    """How many calibrations one pass takes."""

    def __init__(self, graph: StageGraph, wanted: npt.NDArray[np.integer]) -> None:
        self._stages = len(graph)
        self._gaps = Gaps(graph)
        holds = holds_of(graph, self._gaps)
        last = _last_unserved(graph)
        kept = np.unique(np.concatenate([wanted, holds.releaser, last]))
        slot = np.full(len(graph), NONE, dtype=np.int32)
        slot[kept] = np.arange(len(kept))
        self._wanted, self._last = slot[wanted], slot[last]
        self._held_stages = len(holds.hold)
        self._held = order_pass.HeldTimes(
            _column(holds.begin, np.int32),
            _column(holds.hold, np.int32),
            _column(slot[holds.releaser], np.int32),
            _column(holds.gap, np.int32),
            _new64,
        )
        self._recorder = OrderRecorder(graph, self._gaps.of_release, slot, len(kept))

    def record(self, start_ps: Int64s) -> Order:
        """The order of a finished run; `start_ps` per stage."""
        return order_pass.OrderPass(self._recorder.record(start_ps), _new32, _new64)

    def follow(self, order: Order, lasting: Sequence[Durations]) -> Followed:
        """Follows the order under 1 to `lanes` calibrations."""
        count = len(lasting)
        filled = [*lasting, *[lasting[-1]] * (self.lanes - count)]
        lasting_ps = _by_lane([each.stage_ps for each in filled])
        gap_ps = _by_lane([self._gaps.ps(each) for each in filled])
        order.run(lasting_ps, gap_ps)
        self._held.run(order.end_ps, gap_ps)
        end_ps = _rows(order.end_ps)
        served_ps = _rows(order.served_end_ps).max(axis=0, initial=0)
        makespan_ps = np.maximum(end_ps[self._last].max(axis=0, initial=0), served_ps)
        return Followed(
            end_ps=end_ps[self._wanted, :count],
            makespan_ps=makespan_ps[:count],
            held_ps=np.array([min(each, MAX_HELD_PS - 1) for each in self._held.held_ps[:count]]),
            holds=tuple(
                not broken and last_ps * self._held_stages < MAX_HELD_PS
                for broken, last_ps in zip(order.broken[:count], makespan_ps.tolist(), strict=False)
            ),
            share_looked_at=order.followed / max(1, self._stages),
        )


def _last_unserved(graph: StageGraph) -> Int64s:
    """The stages that need no engine and whose end releases nothing.

    The last end of all is that of one of them, or of the stage that some engine serves last.
    """
    ends_last = ~arbitrated(graph.engines)[graph.stages.engine]
    ends_last[graph.releases.releaser[graph.releases.from_start == 0]] = False
    return np.flatnonzero(ends_last)


def _by_lane(columns: Sequence[Int64s]) -> Any:
    """Columns of alike length, their first numbers first, as order_pass reads them."""
    return _column(np.stack(columns, axis=1).ravel(), np.int64)


def _rows(column: Any) -> Int64s:
    return np.asarray(column, dtype=np.int64).reshape(-1, order_pass.LANES)


def _column(values: npt.NDArray[Any], dtype: type[np.integer]) -> Any:
    return native.column(order_pass, values, dtype)


def _new32(length: int) -> Any:
    return native.new_column(order_pass, length, np.int32)


def _new64(length: int) -> Any:
    return native.new_column(order_pass, length, np.int64)
