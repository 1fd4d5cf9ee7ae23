"""How far the makespan of each case goes over the swept range, and which parameter moves it.

A case is a trace under a policy. Its makespan has a smallest, a median and a largest value over all
points; where several points share the smallest or the largest, the first of them stands for it. What a
parameter does to it is said by the medians over parts of its values: one by one where they are listed,
by quarter where a range is sampled (see cuts). The greatest of these medians less the least is the
parameter's spread; the one with the greatest spread stands first, of equal ones the one that was given
first.

Times are whole picoseconds and no floats: of an even number of points the lower of the two middle ones
is the median. A point without figures or with violations has no say, as it is in no race (see cases).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from .axes import Axis, Value
from .cases import in_the_race
from .cuts import Cut, one_by_one, quarters
from .margins import longer_ppm, median_of
from .plan import SweepPlan
from .ranking import Makespans


@dataclass(frozen=True, slots=True)
class Extreme:
    """A makespan, and the varied values at which it is that."""

    makespan_ps: int
    at: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class PartMedian:
    """From `low` to `high` of a parameter: how many points count, and their median; None without any."""

    low: Value
    high: Value
    points: int
    median_ps: int | None


@dataclass(frozen=True, slots=True)
class Influence:
    """A parameter's parts, in rising order."""

    path: str
    parts: tuple[PartMedian, ...]

    @property
    def medians_ps(self) -> list[int]:
        """Of the parts that have one."""
        return [part.median_ps for part in self.parts if part.median_ps is not None]

    @property
    def spread_ps(self) -> int:
        """How far it moves the median: the greatest less the least."""
        found = self.medians_ps
        return max(found) - min(found) if found else 0

    @property
    def spread_ppm(self) -> int | None:
        """How much longer the greatest is than the least (see margins); None where that is no time."""
        least = min(self.medians_ps, default=0)
        return longer_ppm(least, least + self.spread_ps) if least else None


@dataclass(frozen=True, slots=True)
class CaseMakespans:
    """Of a trace under a policy. `points` count, `left_out` do not: they are without figures or with
    violations. Where none counts, there is no smallest, median or largest makespan."""

    trace: str
    policy: str
    points: int
    left_out: int
    smallest: Extreme | None
    median_ps: int | None
    largest: Extreme | None
    influences: tuple[Influence, ...]


def case_makespans(
    plan: SweepPlan, makespan_ps: Makespans, violating: Collection[int] = ()
) -> list[CaseMakespans]:
    """By trace, then by policy. `violating`: the points with violations."""
    count = len(plan.combinations)
    sound = in_the_race(makespan_ps, violating)
    columns = list(_columns(plan))
    return [
        _case_makespans(plan, range(first, first + count), sound, columns)
        for first in range(0, len(plan), count)
    ]


@dataclass(frozen=True, slots=True)
class _Column:
    """A parameter's cut, and which part of it each combination's value is in."""

    path: str
    cut: Cut
    part_of: tuple[int, ...]


def _columns(plan: SweepPlan) -> Iterator[_Column]:
    """Worked out once for all cases, which have the same combinations."""
    for place, path in enumerate(plan.paths):
        values = [combination[place] for combination in plan.combinations]
        varied = plan.sampled[place] if plan.sampled else Axis(path, tuple(dict.fromkeys(values)))
        cut = one_by_one(varied) if isinstance(varied, Axis) else quarters(varied)
        yield _Column(path, cut, tuple(map(cut.part_of, values)))


def _case_makespans(
    plan: SweepPlan, points: range, sound: Makespans, columns: Sequence[_Column]
) -> CaseMakespans:
    trace, policy, _ = plan.place(points[0])
    ascending = sorted(
        (sound[point], combination) for combination, point in enumerate(points) if point in sound
    )
    influences = [_influence(column, ascending) for column in columns]
    return CaseMakespans(
        trace=plan.traces[trace].name,
        policy=plan.policies[policy].name,
        points=len(ascending),
        left_out=len(points) - len(ascending),
        smallest=_extreme(plan, ascending[0]) if ascending else None,
        median_ps=_median([makespan for makespan, _ in ascending]),
        largest=_extreme(plan, _first_largest(ascending)) if ascending else None,
        influences=tuple(sorted(influences, key=lambda each: -each.spread_ps)),
    )


_Ascending = Sequence[tuple[int, int]]
"""Makespans with their combinations."""


def _influence(column: _Column, ascending: _Ascending) -> Influence:
    in_part: list[list[int]] = [[] for _ in column.cut.ends]
    for makespan, combination in ascending:
        in_part[column.part_of[combination]].append(makespan)
    parts = (
        PartMedian(*ends, len(found), _median(found))
        for ends, found in zip(column.cut.ends, in_part, strict=True)
    )
    return Influence(column.path, tuple(parts))


def _median(ascending: list[int]) -> int | None:
    return median_of(ascending) if ascending else None


def _first_largest(ascending: _Ascending) -> tuple[int, int]:
    """The largest makespan with the first of its combinations."""
    return max(ascending, key=lambda each: each[0])


def _extreme(plan: SweepPlan, found: tuple[int, int]) -> Extreme:
    makespan, combination = found
    values = plan.combinations[combination]
    return Extreme(makespan, tuple(zip(plan.paths, values, strict=True)))
