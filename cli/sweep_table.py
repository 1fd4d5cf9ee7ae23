"""Tables of a sweep's cases, no line wider than WIDTH: of names that are too long the middle is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .flow import WIDTH, cut
from .printing import GAP, aligned

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ..replay.sweep.case_makespans import CaseMakespans
    from ..replay.sweep.cases import CaseOutcome

CASES_SHOWN = 20

_LEAST = 20
"""Columns that a case's name has at least, whatever stands beside it."""


def case_table(
    heads: Sequence[str],
    cases: Sequence[CaseMakespans] | Sequence[CaseOutcome],
    cells: Sequence[Sequence[str]],
) -> list[str]:
    """The heads, and for each of so many cases a line: its name, then its cells, right-aligned."""
    if not cases:
        return []
    shown = [heads[1:], *cells[:CASES_SHOWN]]
    beside = sum(len(GAP) + max(map(len, column)) for column in zip(*shown, strict=True))
    names = [case_name(case, max(_LEAST, WIDTH - beside)) for case in cases[:CASES_SHOWN]]
    rows = [[first, *rest] for first, rest in zip([heads[0], *names], shown, strict=True)]
    return [*table(rows, right=range(1, len(heads))), *more_line(len(cases) - CASES_SHOWN)]


def table(rows: Sequence[Sequence[str]], right: Collection[int]) -> list[str]:
    """The rows' lines, with what is still too wide cut at the end."""
    return cut(aligned(rows, right=right)).splitlines()


def more_line(more: int) -> list[str]:
    """Says what is not shown, if there is any."""
    return [f"{more:,} more (--json has all)"] if more > 0 else []


def case_name(case: CaseMakespans | CaseOutcome, columns: int = WIDTH) -> str:
    """The trace and the policy, in so many columns. A policy is left whole if it can be."""
    policy = f", {case.policy}"
    room = columns - len(policy)
    if room < len(case.trace) and room < _LEAST // 2:
        return _without_middle(case.trace + policy, columns)
    return _without_middle(case.trace, room) + policy


def _without_middle(text: str, columns: int) -> str:
    """An ellipsis stands for what is missing; names often differ at their ends."""
    if len(text) <= columns:
        return text
    end = (columns - 1) // 2
    return f"{text[: columns - 1 - end]}…{text[-end:]}"
