"""The figures of a point that was followed along a recorded order.

Only the times differ from those of the full replay of another calibration. So what is counted is kept,
and what is timed is worked out for all calibrations of a pass at once. A start is an end less its
duration.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...schemas.columns import Int32s, Int64s
from ...schemas.stages import Block, StageKind
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
        self._unordered = _Unordered(prepared)

    @property
    def wanted(self) -> Int32s:
        """The stages whose ends the figures need."""
        return self._unordered.stages

    def of(
        self, replayed: Figures, followed: Followed, lasting: Sequence[Durations]
    ) -> list[Figures]:
        """The figures under every calibration. `replayed`: of a full replay of the same trace."""
        kept = dict(zip(COLUMNS, replayed, strict=True))
        makespan_ps = followed.makespan_ps.tolist()
        stage_ps = np.stack([each.stage_ps for each in lasting], axis=1)
        timed: dict[str, list[Any]] = {
            MAKESPAN: makespan_ps,
            "dispatch_ps": (self._dispatches @ stage_ps).tolist(),
            "hazards.held_ps": followed.held_ps.tolist(),
            "hazards.violations": self._unordered.violations(followed.end_ps, stage_ps).tolist(),
        }
        for block, engines, counts in self._blocks:
            busy_ps = (counts @ stage_ps).tolist()
            timed[f"engines.{block}.busy_ps"] = busy_ps
            timed[f"engines.{block}.utilisation"] = [
                round(busy / (makespan * engines), 6) if makespan else 0.0
                for busy, makespan in zip(busy_ps, makespan_ps, strict=True)
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


class _Unordered:
    """The pairs of commands that nothing orders; violated where the later begins too early.

    `stages`: the begins and finishes of them all.
    """

    def __init__(self, prepared: Prepared) -> None:
        graph, pairs = prepared.graph, prepared.potential
        commands = graph.commands
        begin: Int32s = commands.begin[commands.offsets[pairs.pe] + pairs.later]
        finish: Int32s = commands.finish[commands.offsets[pairs.pe] + pairs.earlier]
        self.stages: Int32s = np.unique(np.concatenate([begin, finish]))
        self._begin = np.searchsorted(self.stages, begin)
        self._finish = np.searchsorted(self.stages, finish)
        self._lasts: Int32s = graph.stages.duration_class[self.stages]

    def violations(self, end_ps: Int64s, stage_ps: Int64s) -> Int64s:
        """Per lane, how many pairs went wrong. `end_ps` of `stages`."""
        start_ps = end_ps - stage_ps.take(self._lasts, axis=0)
        begun_ps = start_ps.take(self._begin, axis=0)
        wrong: Int64s = np.count_nonzero(begun_ps < end_ps.take(self._finish, axis=0), axis=0)
        return wrong
