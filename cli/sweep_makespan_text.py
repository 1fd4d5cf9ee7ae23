"""What `kerntape sweep` prints of a case by itself: how far its makespan goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sweep_table import case_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..replay.sweep.case_makespans import CaseMakespans


def range_lines(cases: Sequence[CaseMakespans]) -> list[str]:
    """A line each: smallest, median and largest makespan; of single points the one that each is."""
    heads = ["makespan in ns", "smallest", "median", "largest"]
    cells = [_range_cells(case) for case in cases]
    if all(case.points + case.left_out == 1 for case in cases):
        heads, cells = [heads[0], ""], [row[:1] for row in cells]
    if any(case.left_out for case in cases):
        heads.append("left out")
        cells = [[*row, f"{case.left_out:,}"] for row, case in zip(cells, cases, strict=True)]
    return case_table(heads, cases, cells)


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
