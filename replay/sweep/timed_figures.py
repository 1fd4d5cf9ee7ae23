"""The figures of a point that was followed along a recorded order.

Only the times differ from those of the full replay of another calibration. So what is counted is kept,
and what is timed is worked out for all calibrations of a pass at once, from the ends alone: a start
is an end less its duration.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...schemas.columns import Int32s, Int64s, offsets_of
from ...schemas.stages import Block, StageKind, Why
from ..replay import Prepared
from ..stage_graph import Durations, StageGraph
from .figures import COLUMNS, MAKESPAN, Figures, in_order
from .follower import Followed


class TimedFigures:
    """What of a lowered trace's figures depends on the calibration."""

    def __init__(self, prepared: Prepared) -> None:
        graph = prepared.graph
        self._blocks = _stages_by_block(graph)
        dispatched = graph.stages.duration_class[graph.stages.kind == StageKind.DISPATCH]
        self._dispatches = np.bincount(dispatched, minlength=len(graph.duration_classes))
        self._holds = _Holds(graph)
        self._unordered = _Unordered(prepared)

    def of(
        self, replayed: Figures, followed: Followed, lasting: Sequence[Durations]
    ) -> list[Figures]:
        """The figures under every calibration. `replayed`: of a full replay of the same trace."""
        kept = dict(zip(COLUMNS, replayed, strict=True))
        end_ps, makespan_ps = followed.end_ps, followed.makespan_ps
        stage_ps = np.stack([each.stage_ps for each in lasting], axis=1)
        lag_ps = np.stack([each.lag_ps for each in lasting], axis=1)
        timed: dict[str, list[Any]] = {
            MAKESPAN: makespan_ps.tolist(),
            "dispatch_ps": (self._dispatches @ stage_ps).tolist(),
            "hazards.held_ps": self._holds.held_ps(end_ps, stage_ps, lag_ps).tolist(),
            "hazards.violations": self._unordered.violations(end_ps, stage_ps).tolist(),
        }
        for block, engines, counts in self._blocks:
            busy_ps = (counts @ stage_ps).tolist()
            timed[f"engines.{block}.busy_ps"] = busy_ps
            timed[f"engines.{block}.utilisation"] = [
                round(busy / (makespan * engines), 6) if makespan else 0.0
                for busy, makespan in zip(busy_ps, makespan_ps.tolist(), strict=True)
            ]
        return [
            in_order(kept | {name: column[lane] for name, column in timed.items()})
            for lane in range(len(lasting))
        ]


def _stages_by_block(graph: StageGraph) -> list[tuple[Block, int, Int64s]]:
    """Per block that the machine has: how many engines, and per duration class how many stages."""
    blocks = list(Block)
    block_of = np.array([blocks.index(each.block) for each in graph.engines], dtype=np.int64)
    engines = np.bincount(block_of, minlength=len(blocks)).tolist()
    classes = len(graph.duration_classes)
    combined = block_of[graph.stages.engine] * classes + graph.stages.duration_class
    counts = np.bincount(combined, minlength=len(blocks) * classes).reshape(len(blocks), classes)
    return [each for each in zip(blocks, engines, counts, strict=True) if each[1]]


class _Holds:
    """The stages that a policy holds back, and all their releases.

    A stage is held from the last of its other releases to the last of the holds, if that is later
    (hazards.observed says the same pair by pair).
    """

    def __init__(self, graph: StageGraph) -> None:
        releases = graph.releases
        released = np.repeat(np.arange(len(graph), dtype=np.int32), np.diff(releases.offsets))
        begins = np.unique(released[releases.why == Why.HAZARD])
        is_held = np.zeros(len(graph), dtype=np.bool_)
        is_held[begins] = True
        rows = np.flatnonzero(is_held[released])
        self._first = offsets_of(np.diff(releases.offsets)[begins])[:-1]
        self._is_hold = (releases.why[rows] == Why.HAZARD)[:, None]
        self._from_start = np.flatnonzero(releases.from_start[rows] == 1)
        self._releaser: Int32s = releases.releaser[rows]
        self._releaser_class: Int32s = graph.stages.duration_class[self._releaser]
        self._lag_class: Int32s = releases.lag_class[rows]

    def held_ps(self, end_ps: Int64s, stage_ps: Int64s, lag_ps: Int64s) -> Int64s:
        """Per lane, the sum over all held stages."""
        if not len(self._first):
            return np.zeros(end_ps.shape[1], dtype=np.int64)
        released_ps = end_ps.take(self._releaser, axis=0) + lag_ps.take(self._lag_class, axis=0)
        own_ps = stage_ps.take(self._releaser_class[self._from_start], axis=0)
        released_ps[self._from_start] -= own_ps
        holds = np.maximum.reduceat(np.where(self._is_hold, released_ps, 0), self._first)
        others = np.maximum.reduceat(np.where(self._is_hold, 0, released_ps), self._first)
        total: Int64s = np.maximum(holds - others, 0).sum(axis=0)
        return total


class _Unordered:
    """The pairs of commands that nothing orders; violated where the later begins too early."""

    def __init__(self, prepared: Prepared) -> None:
        graph, pairs = prepared.graph, prepared.potential
        commands = graph.commands
        self._begin: Int32s = commands.begin[commands.offsets[pairs.pe] + pairs.later]
        self._finish: Int32s = commands.finish[commands.offsets[pairs.pe] + pairs.earlier]
        self._begin_class: Int32s = graph.stages.duration_class[self._begin]

    def violations(self, end_ps: Int64s, stage_ps: Int64s) -> Int64s:
        """Per lane, how many pairs went wrong."""
        lasting_ps = stage_ps.take(self._begin_class, axis=0)
        begun_ps = end_ps.take(self._begin, axis=0) - lasting_ps
        wrong: Int64s = np.count_nonzero(begun_ps < end_ps.take(self._finish, axis=0), axis=0)
        return wrong
