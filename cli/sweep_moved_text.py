"""What `kerntape sweep` prints of the numbers that are varied: how much each moves the makespan."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from .sweep_moved import by_text, moved_by
from .sweep_table import case_name, more_line, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..replay.sweep.case_makespans import CaseMakespans
    from .sweep_moved import Moved

NUMBERS_SHOWN = 5


def moved_lines(cases: Sequence[CaseMakespans]) -> list[str]:
    """Of every case the numbers that move it most, a line each; a case alone is not named."""
    told = [(case, moved) for case in cases if case.points and (moved := moved_by(case))]
    if not told:
        return []
    indent = "" if len(cases) == 1 else "  "
    rows = [_row(case, each, indent) for case, moved in told for each in moved[:NUMBERS_SHOWN]]
    heads = [f"what moves {_what(cases)}", "at smallest", "at largest", "by", ""]
    head, *found = table([heads, *rows], right=(1, 2, 3))
    lines, remaining = [head], iter(found)
    for case, moved in told:
        lines += [case_name(case)] if indent else []
        lines += islice(remaining, len(moved[:NUMBERS_SHOWN]))
        below = [*more_line(len(moved) - NUMBERS_SHOWN), *_fit_line(case, moved)]
        lines += [f"{indent}{each}" for each in below]
    return lines


def most_lines(cases: Sequence[CaseMakespans]) -> list[str]:
    """Of many cases, which number moves how many of them most, and by how much it does in the median."""
    moved = [moved_by(case) for case in cases]
    if not any(moved):
        return []
    most = [numbers[0] for numbers in moved if numbers and numbers[0].is_known]
    by_number: dict[str, list[int | None]] = {}
    for each in most:
        by_number.setdefault(each.path, []).append(each.by_ppm)
    ordered = sorted(by_number.items(), key=lambda item: -len(item[1]))
    rows = [
        [path, f"{len(by_ppm):,}", by_text(cases[0], _median(by_ppm))] for path, by_ppm in ordered
    ]
    shown = rows[:NUMBERS_SHOWN]
    shown += [[line, "", ""] for line in more_line(len(rows) - NUMBERS_SHOWN)]
    if len(most) < len(cases):
        shown.append(["nothing that is known", f"{len(cases) - len(most):,}", ""])
    heads = [f"what moves {_what(cases)} most", "cases", "by, in the median"]
    return table([heads, *shown], right=(1, 2))


def _what(cases: Sequence[CaseMakespans]) -> str:
    """Medians are compared of a grid alone."""
    return "the median" if cases[0].fit is None else "the makespan"


def _row(case: CaseMakespans, moved: Moved, indent: str) -> list[str]:
    from ..replay.sweep.axes import written_out

    ends = [dict(end.at)[moved.path] for end in (case.smallest, case.largest) if end is not None]
    by = by_text(case, moved.by_ppm)
    return [f"{indent}{moved.path}", *map(written_out, ends), by, moved.how]


def _fit_line(case: CaseMakespans, moved: Sequence[Moved]) -> list[str]:
    """How far what is said of samples may be trusted; nothing where there is no difference to explain."""
    if case.fit is None:
        return []
    if case.fit.explained_ppm is not None:
        tenths = case.fit.explained_ppm // 1_000
        return [f"straight lines explain {tenths // 10}.{tenths % 10} % of the differences"]
    known = any(each.by_ppm is not None for each in moved)
    return [] if known else ["too few samples, or too alike, to tell the numbers apart"]


def _median(by_ppm: Sequence[int | None]) -> int | None:
    """Of those that are known."""
    from ..replay.sweep.margins import median_of

    known = sorted(each for each in by_ppm if each is not None)
    return median_of(known) if known else None
