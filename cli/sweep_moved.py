"""How much a varied number moves a case's makespan, in the words that `kerntape sweep` prints: of a grid
how much longer its greatest median is than its least, of samples the change over its range."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from .sweep_pair_text import margin_text, percent_text

if TYPE_CHECKING:
    from ..replay.sweep.case_makespans import CaseMakespans
    from ..replay.sweep.influence import Influence
    from ..replay.sweep.sample_fit import Change


@dataclass(frozen=True, slots=True)
class Moved:
    """A number that is varied. `by_ppm`: by how much it moves the makespan, None where that is not known or
    is no ratio; `how`: `rising`, `falling` or what else is to be said; `is_known`: that it does move it."""

    path: str
    by_ppm: int | None
    how: str
    is_known: bool


def moved_by(case: CaseMakespans) -> list[Moved]:
    """Of all numbers that have several values, the one that moves most first."""
    if case.fit is None:
        return [_by_medians(each) for each in case.influences if len(each.medians) > 1]
    median = case.median_ps or 0
    return [_by_fit(each, median) for each in case.fit.changes if each.low != each.high]


def by_text(case: CaseMakespans, by_ppm: int | None) -> str:
    """A dash where it is not known; a change in the median makespan is no factor."""
    if by_ppm is None:
        return "–"
    return margin_text(by_ppm) if case.fit is None else percent_text(by_ppm)


def _by_medians(influence: Influence) -> Moved:
    return Moved(
        influence.path, influence.spread_ppm, _trend(influence), is_known=bool(influence.spread_ps)
    )


def _trend(influence: Influence) -> str:
    """A word where its values move the median one way; nothing where they do not move it, or up and down."""
    steps = [above - below for below, above in pairwise(influence.medians_ps)]
    if not any(steps):
        return ""
    if all(step >= 0 for step in steps):
        return "rising"
    return "falling" if all(step <= 0 for step in steps) else ""


def _by_fit(change: Change, median_ps: int) -> Moved:
    from ..replay.sweep.margins import PPM

    if change.change_ps is None:
        return Moved(change.path, None, "", is_known=False)
    by_ppm = abs(change.change_ps) * PPM // median_ps if median_ps else None
    return Moved(change.path, by_ppm, _direction(change.change_ps, change.is_told), change.is_told)


def _direction(change_ps: int, is_told: bool) -> str:
    if not is_told:
        return "within chance" if change_ps else ""
    return "rising" if change_ps > 0 else "falling"
