"""What `kerntape sweep` prints of a case by itself: how far its makespan goes, and which number moves it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from .printing import aligned
from .sweep_pair_text import margin_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..replay.sweep.influence import CaseMakespans, Influence

CASES_SHOWN = 20

NUMBERS_SHOWN = 5


def range_lines(cases: Sequence[CaseMakespans]) -> list[str]:
    """A line each: smallest, median and largest makespan; of single points the one that each is."""
    heads = ["makespan in ns", "smallest", "median", "largest"]
    rows = [[_name(case), *_range_cells(case)] for case in cases]
    if all(case.points + case.left_out == 1 for case in cases):
        heads, rows = [heads[0], ""], [row[:2] for row in rows]
    if any(case.left_out for case in cases):
        heads.append("left out")
        rows = [[*row, f"{case.left_out:,}"] for row, case in zip(rows, cases, strict=True)]
    return _table(heads, rows, CASES_SHOWN, right=range(1, len(heads)))


def influence_lines(cases: Sequence[CaseMakespans]) -> list[str]:
    """Of every case the numbers that move its median most, a line each; a case alone is not named."""
    heads = ["what moves the median", "at smallest", "at largest", "by", ""]
    rows = []
    for case in cases:
        found = _influence_rows(case)
        rows += found if len(cases) == 1 else _below(_name(case), found)
    return _table(heads, rows, len(rows), right=(1, 2, 3))


def most_lines(cases: Sequence[CaseMakespans]) -> list[str]:
    """Of many cases, which of several numbers moves the median most in how many."""
    several = [told for case in cases if len(told := _told(case)) > 1]
    first = [told[0].path for told in several if told[0].spread_ps]
    rows = [[path, f"{count:,}"] for path, count in Counter(first).most_common()]
    heads = ["what moves the median most", "cases"]
    return _table(heads, rows, NUMBERS_SHOWN, right=(1,))


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], shown: int, right: Sequence[int]
) -> list[str]:
    """The heads and so many rows; nothing without a row."""
    if not rows:
        return []
    lines = aligned([heads, *rows[:shown]], right=right).splitlines()
    more = len(rows) - shown
    return lines + ([f"{more:,} more (--json has all)"] if more > 0 else [])


def _name(case: CaseMakespans) -> str:
    return f"{case.trace}, {case.policy}"


def _range_cells(case: CaseMakespans) -> list[str]:
    """Dashes where no point counts."""
    if case.smallest is None or case.median_ps is None or case.largest is None:
        return ["–"] * 3
    return [
        _nanoseconds(makespan)
        for makespan in (case.smallest.makespan_ps, case.median_ps, case.largest.makespan_ps)
    ]


def _nanoseconds(picoseconds: int) -> str:
    whole, rest = divmod(picoseconds, 1000)
    return f"{whole:,}.{rest:03}"


def _told(case: CaseMakespans) -> list[Influence]:
    """Those of numbers that have several parts; a single value moves nothing."""
    return [each for each in case.influences if len(each.parts) > 1]


def _influence_rows(case: CaseMakespans) -> list[list[str]]:
    """A row for each number, the one that moves most first; none where no point counts."""
    from ..replay.sweep.axes import written_out

    if case.smallest is None or case.largest is None:
        return []
    smallest, largest = dict(case.smallest.at), dict(case.largest.at)
    told = _told(case)
    rows = [
        [each.path, written_out(smallest[each.path]), written_out(largest[each.path]), *_by(each)]
        for each in told[:NUMBERS_SHOWN]
    ]
    more = len(told) - NUMBERS_SHOWN
    return rows + ([[f"{more:,} more (--json has all)", "", "", "", ""]] if more > 0 else [])


def _below(name: str, rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The rows, if there are any, indented under the case's name."""
    indented = [[f"  {row[0]}", *row[1:]] for row in rows]
    return [[name, "", "", "", ""], *indented] if rows else []


def _by(influence: Influence) -> tuple[str, str]:
    """How much longer the greatest of its medians is than the least, and whether they rise or fall."""
    ppm = influence.spread_ppm
    return "–" if ppm is None else margin_text(ppm), _trend(influence)


def _trend(influence: Influence) -> str:
    """A word where listed values move the median one way; nothing where they do not move it, or up and
    down, and of the quarters of a range: they differ in the other numbers too, which would be taken for
    the trend of one that hardly matters."""
    steps = [above - below for below, above in pairwise(influence.medians_ps)]
    if not any(steps) or any(part.low != part.high for part in influence.parts):
        return ""
    if all(step >= 0 for step in steps):
        return "rising"
    return "falling" if all(step <= 0 for step in steps) else ""
