"""How long a graph's classes last, calibration after calibration: the stages are looked at once."""

from collections.abc import Iterable

import numpy as np

from ...schemas.calibration import Calibration
from ...schemas.columns import Int32s, Int64s
from ...schemas.errors import ConfigError
from ...schemas.stages import arbitrated
from ...schemas.timeline import DurationClass
from ..durations import MAX_TOTAL_PS, picoseconds
from ..stage_graph import Durations, StageGraph


class ClassTimes:
    """What `durations(graph, …)` needs to know of a graph; `durations(calibration)` then equals it."""

    def __init__(self, graph: StageGraph) -> None:
        stages, releases = graph.stages, graph.releases
        served = stages.duration_class[arbitrated(graph.engines)[stages.engine]]
        from_start = releases.lag_class[releases.from_start == 1]
        self._stage_classes = graph.duration_classes
        self._lag_classes = graph.lag_classes
        self._stage_counts = np.bincount(stages.duration_class, minlength=len(self._stage_classes))
        self._lag_counts = np.bincount(releases.lag_class, minlength=len(self._lag_classes))
        self._least_stage_ps = _least_ps(served, len(self._stage_classes))
        self._least_lag_ps = _least_ps(from_start, len(self._lag_classes))

    def durations(self, calibration: Calibration) -> Durations:
        """Picoseconds per class. Raises ConfigError where the timeline could pass 2^62 ps."""
        stage_ps = _at_least(self._stage_classes, calibration, self._least_stage_ps)
        lag_ps = _at_least(self._lag_classes, calibration, self._least_lag_ps)
        total = _weighted(stage_ps, self._stage_counts) + _weighted(lag_ps, self._lag_counts)
        if total >= MAX_TOTAL_PS:
            raise ConfigError(
                f"the calibration makes this replay up to {total} ps long; times must stay below"
                " 2^62 ps: raise its rates or lower its latencies"
            )
        return Durations(np.array(stage_ps, dtype=np.int64), np.array(lag_ps, dtype=np.int64))


def _least_ps(classes: Int32s, count: int) -> list[int]:
    """1 ps for the classes that occur (DESIGN's rule for one instant), 0 for the others."""
    least: list[int] = np.minimum(np.bincount(classes, minlength=count), 1).tolist()
    return least


def _at_least(
    classes: Iterable[DurationClass], calibration: Calibration, least_ps: list[int]
) -> list[int]:
    lasting = (picoseconds(each, calibration) for each in classes)
    return [max(ps, least) for ps, least in zip(lasting, least_ps, strict=True)]


def _weighted(ps: list[int], counts: Int64s) -> int:
    """The sum of all, in whole numbers of any size."""
    return sum(each * int(count) for each, count in zip(ps, counts, strict=True))
