"""Which of two traces, or of two policies, is faster over the swept range, and where that changes.

Compared are points that agree in everything but the trace, or everything but the policy. A line is a
set of points that differ in one parameter alone, in rising order of it; a flip is the stretch between
two neighbours on a line of which one contender is faster at one end and the other at the other end.
Points at which both are equally fast are in favour of nobody and are passed over. With one parameter
there is one line; with several there is one along each parameter for every combination of the others
(samples of several parameters share no line, so they have counts and no flips).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from .axes import Value
from .plan import SweepPlan

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

    `first_faster`, `second_faster` and `equal` count points. Flips come parameter by parameter.
    """

    first: str
    second: str
    under: str
    first_faster: int
    second_faster: int
    equal: int
    flips: tuple[Flip, ...]


def rankings(plan: SweepPlan, makespan_ps: Makespans) -> list[Ranking]:
    """Every pair of traces under each policy, then every pair of policies for each trace."""
    lines = _lines(plan)
    return [_ranking(plan, pair, lines, makespan_ps) for pair in _pairs(plan)]


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
    plan: SweepPlan, pair: _Pair, lines: Sequence[_Line], makespan_ps: Makespans
) -> Ranking:
    faster = [_faster(pair, number, makespan_ps) for number in range(len(plan.combinations))]
    return Ranking(
        first=pair.first.name,
        second=pair.second.name,
        under=pair.under,
        first_faster=faster.count(pair.first.name),
        second_faster=faster.count(pair.second.name),
        equal=faster.count(EQUAL),
        flips=tuple(flip for line in lines for flip in _flips(plan, line, faster)),
    )


def _faster(pair: _Pair, combination: int, makespan_ps: Makespans) -> str | None:
    """The faster one's name; EQUAL where they take as long, None where one has no figures."""
    first = makespan_ps.get(pair.first.first_point + combination)
    second = makespan_ps.get(pair.second.first_point + combination)
    if first is None or second is None:
        return None
    if first == second:
        return EQUAL
    return pair.first.name if first < second else pair.second.name


EQUAL = ""


def _flips(plan: SweepPlan, line: _Line, faster: Sequence[str | None]) -> Iterator[Flip]:
    decided = [number for number in line.combinations if faster[number]]
    for below, above in pairwise(decided):
        if faster[below] != faster[above]:
            low, high = plan.combinations[below], plan.combinations[above]
            others = [place for place in range(len(low)) if place != line.path]
            yield Flip(
                path=plan.paths[line.path],
                low=low[line.path],
                high=high[line.path],
                faster_below=str(faster[below]),
                faster_above=str(faster[above]),
                at=tuple((plan.paths[place], low[place]) for place in others),
            )
