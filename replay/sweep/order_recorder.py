"""Records in which order a run's engines served, laid out so that order_pass can follow it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Int32s, Int64s
from .. import native, order_layout
from ..stage_graph import StageGraph
from ..stage_order import StageOrder


class OrderRecorder:
    """A graph without a cycle, whose columns are prepared once for all its orders.

    `gap` per release as gaps.Gaps numbers it; `slot` per stage, where its end is kept for good (0 to
    below `kept`) or NONE.
    """

    def __init__(self, graph: StageGraph, gap: Int32s, slot: Int32s, kept: int) -> None:
        self._order = StageOrder(graph)
        self._engines = len(graph.engines)
        self._slot, self._kept = slot, kept
        self._stages = (
            _column(self._order.engine, np.int32),
            _column(graph.stages.duration_class, np.int32),
        )
        self._releases = (
            _column(graph.releases.offsets, np.int64),
            _column(graph.releases.releaser, np.int32),
            _column(gap, np.int32),
        )

    def record(self, start_ps: Int64s) -> order_layout.OrderLayout:
        """The order of a finished run; `start_ps` per stage."""
        layout = order_layout.OrderLayout(
            self._engines,
            *self._stages,
            _column(self._slot.copy(), np.int32),  # it is used up
            self._kept,
            *self._releases,
            lambda length: native.new_column(order_layout, length, np.int32),
        )
        layout.run(self._order.of(start_ps))
        return layout


def _column(values: npt.NDArray[Any], dtype: type[np.integer]) -> Any:
    return native.column(order_layout, values, dtype)
