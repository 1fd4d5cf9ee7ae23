"""What each case of a sweep came to: a trace under a policy, over all combinations of values.

How its points were evaluated, at how many of them conflicting commands overlapped that the policy let
through (violations), at how many it was the fastest of all cases, and how much longer than the fastest
it took. A point with violations is in no race: what computes wrong data is not the better one.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .margins import longer_ppm, median_of
from .plan import SweepPlan
from .points import Way
from .ranking import Makespans


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """Counts are of points; cases that are equally fast are all the fastest. `over_best_ppm`: how much
    longer than the fastest case it takes, in the median (see margins); None without a point to compare.
    """

    trace: str
    policy: str
    followed: int
    replayed: int
    deadlocked: int
    impossible: int
    with_violations: int
    fastest: int
    over_best_ppm: int | None


def case_outcomes(
    plan: SweepPlan, ways: Sequence[Way], sound: Makespans, violating: Collection[int]
) -> list[CaseOutcome]:
    """By trace, then by policy. `ways` are by point, `sound` those in the race, `violating` the points
    with violations.
    """
    best = _best(plan, sound)
    return [
        _case_outcome(trace, policy, points, ways, sound, violating, best)
        for trace, policy, points in plan.by_trace_and_policy()
    ]


def _best(plan: SweepPlan, sound: Makespans) -> dict[int, int]:
    """By combination, the least makespan of all cases."""
    best: dict[int, int] = {}
    for point, makespan in sound.items():
        combination = point % len(plan.combinations)
        best[combination] = min(makespan, best.get(combination, makespan))
    return best


def _case_outcome(
    trace: str,
    policy: str,
    points: range,
    ways: Sequence[Way],
    sound: Makespans,
    violating: Collection[int],
    best: dict[int, int],
) -> CaseOutcome:
    counts = Counter(ways[point] for point in points)
    against = [
        (best[combination], sound[point])
        for combination, point in enumerate(points)
        if point in sound
    ]
    longer = sorted(longer_ppm(*both) for both in against if both[0])
    return CaseOutcome(
        trace=trace,
        policy=policy,
        followed=counts[Way.FOLLOWED],
        replayed=counts[Way.REPLAYED],
        deadlocked=counts[Way.DEADLOCKED],
        impossible=counts[Way.IMPOSSIBLE],
        with_violations=sum(point in violating for point in points),
        fastest=sum(least == own for least, own in against),
        over_best_ppm=median_of(longer) if longer else None,
    )
