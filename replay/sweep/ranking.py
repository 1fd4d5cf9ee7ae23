"""Which of two traces, or of two policies, is faster over the swept range, and where that changes.

Compared are points that agree in everything but the trace, or everything but the policy. A line is a
set of points that differ in one parameter alone, in rising order of it; a flip is the stretch between
two neighbours on a line of which one contender is faster at one end and the other at the other end.
Points at which both are equally fast are in favour of nobody and are passed over. With one parameter
there is one line; with several there is one along each parameter for every combination of the others
(samples of several parameters share no line: in place of flips they have the shares of the points that
each wins, see shares).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from .axes import Value
from .margins import Margin, margin
from .plan import SweepPlan
from .shares import EQUAL, FIRST, SECOND, Shares, shares

Makespans = Mapping[int, int]
"""By point, in picoseconds; a point without figures has none."""


@dataclass(frozen=True, slots=True)
class Flip:
    """Between `low` and `high` of a parameter, `faster_below` stops and `faster_above` begins to be the
    faster one. `at`: the other parameters."""

    path: str
    low: Value
    high: Value
    faster_below: str
    faster_above: str
    at: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Two contenders (trace or policy names), and under what: the policy or trace they share.

    `first_faster`, `second_faster` and `equal` count points. A margin is by how much a contender is
    faster where it is; None where it never is. `first_violating` and `second_violating` count the points
    at which a contender has violations: its makespan is one of a kernel that goes wrong. Flips come
    parameter by parameter; shares are of samples of several parameters.
    """

    first: str
    second: str
    under: str
    first_faster: int
    second_faster: int
    equal: int
    first_margin: Margin | None
    second_margin: Margin | None
    first_violating: int
    second_violating: int
    flips: tuple[Flip, ...]
    shares: tuple[Shares, ...]


def rankings(
    plan: SweepPlan, makespan_ps: Makespans, violating: Collection[int] = ()
) -> list[Ranking]:
    """Every pair of traces under each policy, then every pair of policies for each trace. `violating`:
    the points with violations."""
    lines = _lines(plan)
    return [_ranking(plan, pair, lines, makespan_ps, violating) for pair in _pairs(plan)]


@dataclass(frozen=True, slots=True)
class _Contender:
    """`first_point`: its point of the first combination; the others follow."""

    name: str
    first_point: int


@dataclass(frozen=True, slots=True)
class _Pair:
    first: _Contender
    second: _Contender
    under: str


def _pairs(plan: SweepPlan) -> Iterator[_Pair]:
    traces = [trace.name for trace in plan.traces]
    policies = [policy.name for policy in plan.policies]

    def first_point(trace: int, policy: int) -> int:
        return (trace * len(policies) + policy) * len(plan.combinations)

    for policy, under in enumerate(policies):
        swept = [_Contender(name, first_point(i, policy)) for i, name in enumerate(traces)]
        yield from (_Pair(*pair, under) for pair in combinations(swept, 2))
    for trace, under in enumerate(traces):
        swept = [_Contender(name, first_point(trace, i)) for i, name in enumerate(policies)]
        yield from (_Pair(*pair, under) for pair in combinations(swept, 2))


@dataclass(frozen=True, slots=True)
class _Line:
    """Two or more combinations, by number, that differ in one path alone, in rising order of it."""

    path: int
    combinations: tuple[int, ...]


def _lines(plan: SweepPlan) -> list[_Line]:
    lines = []
    for path in range(len(plan.paths)):
        groups: dict[tuple[Value, ...], list[int]] = {}
        for number, values in enumerate(plan.combinations):
            groups.setdefault(values[:path] + values[path + 1 :], []).append(number)
        for members in groups.values():
            if len(members) == 1:
                continue
            members.sort(key=lambda number: plan.combinations[number][path])
            lines.append(_Line(path, tuple(members)))
    return lines


def _ranking(
    plan: SweepPlan,
    pair: _Pair,
    lines: Sequence[_Line],
    makespan_ps: Makespans,
    violating: Collection[int],
) -> Ranking:
    numbers = range(len(plan.combinations))
    both = [_both_ps(pair, number, makespan_ps) for number in numbers]
    winners = [None if each is None else _winner(*each) for each in both]
    compared = [each for each in both if each is not None]
    first, second = pair.first.first_point, pair.second.first_point
    return Ranking(
        first=pair.first.name,
        second=pair.second.name,
        under=pair.under,
        first_faster=winners.count(FIRST),
        second_faster=winners.count(SECOND),
        equal=winners.count(EQUAL),
        first_margin=margin((a, b) for a, b in compared if a < b),
        second_margin=margin((b, a) for a, b in compared if b < a),
        first_violating=sum(first + number in violating for number in numbers),
        second_violating=sum(second + number in violating for number in numbers),
        flips=tuple(flip for line in lines for flip in _flips(plan, pair, line, winners)),
        shares=_shares(plan, winners),
    )


def _both_ps(pair: _Pair, combination: int, makespan_ps: Makespans) -> tuple[int, int] | None:
    """The two makespans; None where one has no figures."""
    first = makespan_ps.get(pair.first.first_point + combination)
    second = makespan_ps.get(pair.second.first_point + combination)
    return None if first is None or second is None else (first, second)


def _winner(first_ps: int, second_ps: int) -> int:
    if first_ps == second_ps:
        return EQUAL
    return FIRST if first_ps < second_ps else SECOND


def _shares(plan: SweepPlan, winners: Sequence[int | None]) -> tuple[Shares, ...]:
    """Of one parameter the samples are a line, and its flips say more."""
    several = len(plan.sampled) > 1
    return shares(plan.sampled, plan.combinations, winners) if several else ()


def _flips(
    plan: SweepPlan, pair: _Pair, line: _Line, winners: Sequence[int | None]
) -> Iterator[Flip]:
    names = (pair.first.name, pair.second.name)
    decided = [
        (number, names[who])
        for number in line.combinations
        if (who := winners[number]) is not None and who != EQUAL
    ]
    for (below, faster_below), (above, faster_above) in pairwise(decided):
        if faster_below != faster_above:
            low, high = plan.combinations[below], plan.combinations[above]
            others = [place for place in range(len(low)) if place != line.path]
            yield Flip(
                path=plan.paths[line.path],
                low=low[line.path],
                high=high[line.path],
                faster_below=faster_below,
                faster_above=faster_above,
                at=tuple((plan.paths[place], low[place]) for place in others),
            )
