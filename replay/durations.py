"""How long every duration class and lag class lasts under a calibration: integer picoseconds.

Each class is computed once from its block's equation with exact fractions of the written decimals
and rounded up. This is the only place where nanoseconds become picoseconds.
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil

import numpy as np

from ..schemas.calibration import Calibration
from ..schemas.columns import Int32s, Int64s
from ..schemas.errors import ConfigError
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


def durations(graph: StageGraph, calibration: Calibration) -> Durations:
    """Picoseconds per class. Raises ConfigError where the timeline could pass 2^62 ps."""
    stage_ps = [picoseconds(duration, calibration) for duration in graph.duration_classes]
    lag_ps = [picoseconds(lag, calibration) for lag in graph.lag_classes]
    lasting = _floored(graph, stage_ps)
    lagging = _floored_lags(graph, lag_ps)
    _check_total(graph, lasting, lagging)
    return Durations(np.array(lasting, dtype=np.int64), np.array(lagging, dtype=np.int64))


def picoseconds(duration: DurationClass, calibration: Calibration) -> int:
    """One class's time."""
    return in_ps(EQUATIONS[duration.equation](calibration, duration.quantity))


def in_ps(nanoseconds: Fraction) -> int:
    """Whole picoseconds, rounded up."""
    return ceil(nanoseconds * PS_PER_NS)


def _floored(graph: StageGraph, stage_ps: list[int]) -> list[int]:
    """A stage on a serving engine lasts at least 1 ps, so that nothing it releases is in its instant."""
    serves = np.array([engine.arbitrates for engine in graph.engines], dtype=bool)
    served = set(np.unique(graph.stages.duration_class[serves[graph.stages.engine]]).tolist())
    return [max(1, ps) if number in served else ps for number, ps in enumerate(stage_ps)]


def _floored_lags(graph: StageGraph, lag_ps: list[int]) -> list[int]:
    """A start-to-start lag is at least 1 ps, for the same reason."""
    from_start = set(np.unique(graph.releases.lag_class[graph.releases.from_start == 1]).tolist())
    return [max(1, ps) if number in from_start else ps for number, ps in enumerate(lag_ps)]


def _check_total(graph: StageGraph, stage_ps: list[int], lag_ps: list[int]) -> None:
    total = _weighted(graph.stages.duration_class, stage_ps)
    total += _weighted(graph.releases.lag_class, lag_ps)
    if total >= MAX_TOTAL_PS:
        raise ConfigError(
            f"the calibration makes this replay up to {total} ps long; times must stay below 2^62 ps:"
            " raise its rates or lower its latencies"
        )


def _weighted(classes: Int32s, ps: list[int]) -> int:
    counts: Int64s = np.bincount(classes, minlength=len(ps))
    return sum(int(count) * each for count, each in zip(counts, ps, strict=True))
