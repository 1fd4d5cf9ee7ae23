"""Of a grid: how far each parameter moves the median of the makespan.

A parameter's values are compared at the same combinations of the others: those at which a point counts
for every value. Otherwise a value whose points are left out where all is slow, say, would look like a
fast one. Each value has the median over these combinations (of an even number the lower of the two
middle ones). The greatest of the medians less the least is the parameter's spread.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...schemas.columns import Int64s
from .axes import Axis, Value
from .margins import longer_ppm, median_of


@dataclass(frozen=True, slots=True)
class ValueMedian:
    """Of one value of a parameter: how many points are compared, and their median; None without any."""

    value: Value
    points: int
    median_ps: int | None


@dataclass(frozen=True, slots=True)
class Influence:
    """A parameter's medians, by rising value; all are over as many points."""

    path: str
    medians: tuple[ValueMedian, ...]

    @property
    def medians_ps(self) -> list[int]:
        """Those of all values, or none."""
        return [each.median_ps for each in self.medians if each.median_ps is not None]

    @property
    def spread_ps(self) -> int | None:
        """How far it moves the median: the greatest less the least; None where no two are compared."""
        found = self.medians_ps
        return max(found) - min(found) if len(found) > 1 else None

    @property
    def spread_ppm(self) -> int | None:
        """How much longer the greatest is than the least (see margins); None where that is no time."""
        least, spread = min(self.medians_ps, default=0), self.spread_ps
        return longer_ppm(least, least + spread) if least and spread is not None else None


def influences(axes: Sequence[Axis], makespan_ps: Int64s) -> tuple[Influence, ...]:
    """The parameter with the greatest spread first, those without one last, of equal ones the one given
    first. `makespan_ps`: of every combination, the last axis's value fastest; below 0: it has no say."""
    grid = makespan_ps.reshape([len(axis.values) for axis in axes])
    found = [
        _influence(axis, np.moveaxis(grid, place, 0).reshape(len(axis.values), -1))
        for place, axis in enumerate(axes)
    ]
    return tuple(sorted(found, key=_place))


def _influence(axis: Axis, by_value: Int64s) -> Influence:
    """`by_value`: a row for each value, a column for each combination of the others."""
    compared = by_value[:, (by_value >= 0).all(axis=0)]
    medians = (
        ValueMedian(value, compared.shape[1], median_ps(row))
        for value, row in zip(axis.values, compared, strict=True)
    )
    return Influence(axis.path, tuple(sorted(medians, key=lambda each: each.value)))


def median_ps(makespan_ps: Int64s) -> int | None:
    """The median (see margins); None without any."""
    return median_of(np.sort(makespan_ps).tolist()) if len(makespan_ps) else None


def _place(influence: Influence) -> tuple[bool, int]:
    spread = influence.spread_ps
    return (spread is None, -(spread or 0))
