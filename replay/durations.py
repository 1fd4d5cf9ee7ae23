"""How long every duration class and lag class lasts under a calibration: integer picoseconds.

Each class is computed once from its block's equation with exact fractions of the written decimals
and rounded up. This is the only place where nanoseconds become picoseconds.
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil

import numpy as np

from ..schemas.calibration import Calibration
from ..schemas.columns import Int32s
from ..schemas.errors import TooLongError
from ..schemas.stages import arbitrated
from ..schemas.timeline import DurationClass
from .components import (
    hbm,
    noc,
    pe_cpu,
    pe_dma,
    pe_gemm,
    pe_ipcq,
    pe_math,
    pe_scheduler,
    pe_tcm,
)
from .stage_graph import Durations, StageGraph

PS_PER_NS = 1000
MAX_TOTAL_PS = 1 << 62

Equation = Callable[[Calibration, int], Fraction]


def _no_time(_: Calibration, __: int) -> Fraction:
    return Fraction(0)


EQUATIONS: dict[str, Equation] = {
    "none": _no_time,
    **pe_cpu.EQUATIONS,
    **pe_scheduler.EQUATIONS,
    **pe_dma.EQUATIONS,
    **pe_tcm.EQUATIONS,
    **pe_gemm.EQUATIONS,
    **pe_math.EQUATIONS,
    **pe_ipcq.EQUATIONS,
    **hbm.EQUATIONS,
    **noc.EQUATIONS,
}
"""Every equation of the model by the name that duration classes carry (docs/model.md)."""


class ClassTimes:
    """How long a graph's classes last, calibration after calibration: its stages are looked at once."""

    def __init__(self, graph: StageGraph) -> None:
        stages, releases = graph.stages, graph.releases
        served = stages.duration_class[arbitrated(graph.engines)[stages.engine]]
        from_start = releases.lag_class[releases.from_start == 1]
        self._stages = TimedClasses(graph.duration_classes, stages.duration_class, served)
        self._lags = TimedClasses(graph.lag_classes, releases.lag_class, from_start)

    def durations(self, calibration: Calibration) -> Durations:
        """Picoseconds per class. Raises TooLongError where the timeline could pass 2^62 ps."""
        stage_ps, lag_ps = self._stages.ps(calibration), self._lags.ps(calibration)
        total = self._stages.total_ps(stage_ps) + self._lags.total_ps(lag_ps)
        if total >= MAX_TOTAL_PS:
            raise TooLongError(
                f"the calibration makes this replay up to {total} ps long; times must stay below"
                " 2^62 ps: raise its rates or lower its latencies"
            )
        return Durations(np.array(stage_ps, dtype=np.int64), np.array(lag_ps, dtype=np.int64))


class TimedClasses:
    """Classes, how often each occurs, and its least time: 1 ps where it is among `never_zero`.

    A stage on a serving engine lasts at least 1 ps, and so does a lag from a start: nothing that
    they release may be in their own instant.
    """

    def __init__(
        self, classes: tuple[DurationClass, ...], occurring: Int32s, never_zero: Int32s
    ) -> None:
        self._classes = classes
        self._counts: list[int] = np.bincount(occurring, minlength=len(classes)).tolist()
        present = np.bincount(never_zero, minlength=len(classes)) > 0
        self._least_ps: list[int] = present.astype(np.int64).tolist()

    def ps(self, calibration: Calibration) -> list[int]:
        """Each class's time."""
        lasting = (picoseconds(each, calibration) for each in self._classes)
        return [max(ps, least) for ps, least in zip(lasting, self._least_ps, strict=True)]

    def total_ps(self, ps: list[int]) -> int:
        """The times of all that occurs, in whole numbers of any size."""
        return sum(each * count for each, count in zip(ps, self._counts, strict=True))


def durations(graph: StageGraph, calibration: Calibration) -> Durations:
    """Picoseconds per class, for one calibration. Raises TooLongError as ClassTimes does."""
    return ClassTimes(graph).durations(calibration)


def picoseconds(duration: DurationClass, calibration: Calibration) -> int:
    """One class's time."""
    return in_ps(EQUATIONS[duration.equation](calibration, duration.quantity))


def in_ps(nanoseconds: Fraction) -> int:
    """Whole picoseconds, rounded up."""
    return ceil(nanoseconds * PS_PER_NS)
