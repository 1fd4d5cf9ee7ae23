"""What `kerntape sweep` prints for a person. Knows no file and no terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .flow import flowed
from .sweep_makespan_text import range_lines
from .sweep_moved_text import most_lines, moved_lines
from .sweep_pair_text import margin_text, pair_lines
from .sweep_table import case_table, more_line

if TYPE_CHECKING:
    from ..replay.sweep.case_makespans import CaseMakespans
    from ..replay.sweep.cases import CaseOutcome
    from ..replay.sweep.plan import DifferentArgument
    from ..replay.sweep.ranking import Ranking
    from ..replay.sweep.sweep import SweepOutcome

MANY_PAIRS = 6
"""So many pairs are told by case, and only those that flip by themselves; of so many pairs' cases the
numbers that move them are not told one by one."""

PAIRS_SHOWN = 10

ARGUMENTS_SHOWN = 8

VALUES_SHOWN = 3
"""Of an argument that differs."""


def outcome_text(outcome: SweepOutcome, results: str) -> str:
    """How the points were evaluated, how far makespans go and what moves them, who is faster by how much,
    and where the ranking flips."""
    kept = f", {outcome.kept:,} of them kept from before" if outcome.kept else ""
    replaced = ", in place of the file that was there" if outcome.replaced else ""
    lines = [
        f"{results}: {outcome.points:,} point{'s' if outcome.points != 1 else ''}{kept}{replaced}",
        _ways_text(outcome),
    ]
    if outcome.different_arguments:
        lines += _arguments_lines(outcome.different_arguments)
    many = len(outcome.rankings) >= MANY_PAIRS
    if len(outcome.cases) > 1:
        lines += ["", *_case_lines(outcome.cases, ranked=many)]
    lines += _makespan_lines(outcome.makespans, many=many)
    return "\n".join([*lines, *_all_pair_lines(outcome.rankings)])


def _ways_text(outcome: SweepOutcome) -> str:
    deadlocked = f", {outcome.deadlocked:,} deadlocked" if outcome.deadlocked else ""
    impossible = (
        f", {outcome.impossible:,} impossible (times must stay below 2^62 ps)"
        if outcome.impossible
        else ""
    )
    violations = (
        f"; {outcome.with_violations:,} with hazard violations" if outcome.with_violations else ""
    )
    return (
        f"{outcome.followed:,} followed along a recorded order,"
        f" {outcome.replayed:,} replayed in full{deadlocked}{impossible}{violations}"
    )


def _arguments_lines(different: tuple[DifferentArgument, ...]) -> list[str]:
    """One line, more where the arguments need them."""
    found = [f"{each.name} {_values_text(each)}" for each in different[:ARGUMENTS_SHOWN]]
    more = len(different) - ARGUMENTS_SHOWN
    found += more_line(more)
    listed = [*(f"{each}," for each in found[:-1]), found[-1]]
    return flowed("", ["arguments differ, perhaps the problem too:", *listed])


def _values_text(argument: DifferentArgument) -> str:
    """Each of them once, in the order of the traces."""
    values = list(dict.fromkeys("none" if each is None else str(each) for each in argument.values))
    return " / ".join([*values[:VALUES_SHOWN], *(["…"] if len(values) > VALUES_SHOWN else [])])


def _makespan_lines(cases: list[CaseMakespans], *, many: bool) -> list[str]:
    moved = most_lines(cases) if many else moved_lines(cases)
    return [line for block in (range_lines(cases), moved) if block for line in ("", *block)]


def _case_lines(cases: list[CaseOutcome], *, ranked: bool) -> list[str]:
    """A line each; `ranked`: who is the fastest, too."""
    columns = {
        "followed": [each.followed for each in cases],
        "replayed": [each.replayed for each in cases],
    }
    seldom = {
        "deadlocked": [each.deadlocked for each in cases],
        "impossible": [each.impossible for each in cases],
        "violations at": [each.with_violations for each in cases],
    }
    columns |= {head: counts for head, counts in seldom.items() if any(counts)}
    if ranked:
        columns["fastest at"] = [each.fastest for each in cases]
    cells = [[f"{count:,}" for count in counts] for counts in columns.values()]
    heads = ["points of", *columns]
    if ranked:
        heads.append("median over the best")
        cells.append([_over_best_text(each) for each in cases])
    return case_table(heads, cases, list(zip(*cells, strict=True)))


def _over_best_text(case: CaseOutcome) -> str:
    return "–" if case.over_best_ppm is None else margin_text(case.over_best_ppm)


def _all_pair_lines(rankings: list[Ranking]) -> list[str]:
    """Every pair of a few, those with flips first; of many, those with flips."""
    told = [each for each in rankings if each.flips]
    lines: list[str] = []
    if len(rankings) < MANY_PAIRS:
        told += [each for each in rankings if not each.flips]
    for ranking in told[:PAIRS_SHOWN]:
        lines += ["", *pair_lines(ranking)]
    more = len(rankings) - len(told[:PAIRS_SHOWN])
    if more:
        other = "more " if told else ""
        lines += ["", f"{more:,} {other}pair{'s' if more > 1 else ''} (--json has all)"]
    return lines
