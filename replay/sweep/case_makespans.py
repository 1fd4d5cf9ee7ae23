"""How far the makespan of each case goes over the swept range, and what moves it.

A case is a trace under a policy. Its makespan has a smallest, a median and a largest value over all
points; where several points share the smallest or the largest, the first of them stands for it. What
each parameter does to it is said of a grid by medians (see influence), of samples by a fit (see
sample_fit): two parts of samples differ in all other parameters too, and most of what their medians
differ by is chance.

Times are whole picoseconds and no floats: of an even number of points the lower of the two middle ones
is the median. A point without figures or with violations has no say, as it is in no race (see cases).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...schemas.columns import Int64s
from .axes import Axis, Value
from .influence import Influence, influences, median_ps
from .plan import SweepPlan
from .ranking import Makespans
from .sample_fit import SampledColumn, SampleFit, sample_fit, sampled_column

_NO_SAY = -1


@dataclass(frozen=True, slots=True)
class Extreme:
    """A makespan, and the varied values at which it is that."""

    makespan_ps: int
    at: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class CaseMakespans:
    """Of a trace under a policy. `points` count, `left_out` do not: they are without figures or with
    violations. Where none counts, there is no smallest, median or largest makespan. Of a grid there are
    influences, of samples there is a fit."""

    trace: str
    policy: str
    points: int
    left_out: int
    smallest: Extreme | None
    median_ps: int | None
    largest: Extreme | None
    influences: tuple[Influence, ...]
    fit: SampleFit | None


def case_makespans(plan: SweepPlan, sound: Makespans) -> list[CaseMakespans]:
    """By trace, then by policy. `sound`: those in the race."""
    axes, columns = _axes(plan), _columns(plan)
    found = []
    for trace, policy, points in plan.by_trace_and_policy():
        makespan_ps = np.array([sound.get(point, _NO_SAY) for point in points], dtype=np.int64)
        found.append(_case_makespans(plan, trace, policy, makespan_ps, axes, columns))
    return found


def _axes(plan: SweepPlan) -> list[Axis]:
    """What was varied, of a grid: its combinations are every one of the values."""
    if plan.sampled:
        return []
    return [
        Axis(path, tuple(dict.fromkeys(values[place] for values in plan.combinations)))
        for place, path in enumerate(plan.paths)
    ]


def _columns(plan: SweepPlan) -> list[SampledColumn]:
    """What was varied, of samples."""
    return [
        sampled_column(varied, [values[place] for values in plan.combinations])
        for place, varied in enumerate(plan.sampled)
    ]


def _case_makespans(
    plan: SweepPlan,
    trace: str,
    policy: str,
    of_all: Int64s,
    axes: Sequence[Axis],
    columns: Sequence[SampledColumn],
) -> CaseMakespans:
    counting = np.flatnonzero(of_all != _NO_SAY)
    counted: Int64s = of_all[counting]
    some = len(counted) > 0  # of several, argmin and argmax find the first
    return CaseMakespans(
        trace=trace,
        policy=policy,
        points=len(counted),
        left_out=len(of_all) - len(counted),
        smallest=_extreme(plan, of_all, int(counting[counted.argmin()])) if some else None,
        median_ps=median_ps(counted),
        largest=_extreme(plan, of_all, int(counting[counted.argmax()])) if some else None,
        influences=() if plan.sampled else influences(axes, of_all),
        fit=sample_fit(columns, counting.tolist(), counted.tolist()) if plan.sampled else None,
    )


def _extreme(plan: SweepPlan, makespan_ps: Int64s, combination: int) -> Extreme:
    values = plan.combinations[combination]
    return Extreme(int(makespan_ps[combination]), tuple(zip(plan.paths, values, strict=True)))
