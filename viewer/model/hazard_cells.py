"""Hazards drawn over a row: their glyphs, and the lines along which commands were held.

◇ ! ?                a hazard held back, violated, possible: over everything, the worst on top
◇#7 held for m────   since when a command was held, and for what
"""

import numpy as np

from ...schemas.columns import Bools
from ...schemas.hazards import Outcome
from .cells import Cells
from .hazards import GLYPHS, SEVERITY, HazardIndex, RowMarks
from .occupancy import Axis, Density
from .text import cells
from .tones import Paint, tone
from .tree import Row

WAITING = ord("─")

COLUMNS_PER_WORDS = 4
"""Words about held commands are tried for as many as there are groups of so many columns."""

OUTCOME_PAINTS = {
    Outcome.HELD: Paint.HELD,
    Outcome.VIOLATED: Paint.VIOLATED,
    Outcome.POTENTIAL: Paint.POTENTIAL,
}


def draw_hazards(picture: Cells, hazards: HazardIndex, row: Row, shown: Axis) -> None:
    """The glyph of the worst hazard of every column. On a group's row, where commands are held in
    one column after the other, only the first has it, so that the bars are seen.
    """
    if not len(hazards):
        return
    found = hazards.of_row(row).glyphs_ps
    for outcome in sorted(found, key=lambda one: int(SEVERITY[one])):
        before = found[outcome].searchsorted(shown.edges)
        meets: Bools = before[1:] > before[:-1]
        if outcome is Outcome.HELD and len(row.lanes) > 1:
            meets[1:] &= ~meets[:-1].copy()
        columns = np.flatnonzero(meets)
        picture.glyphs[columns] = ord(GLYPHS[outcome])
        picture.tones[columns] = tone(OUTCOME_PAINTS[outcome])


def draw_waiting(
    picture: Cells, hazards: HazardIndex, row: Row, measured: Density, shown: Axis
) -> None:
    """A line through the empty columns over which a command was held, with words where they fit."""
    if len(row.lanes) != 1 or not len(hazards):
        return
    marks, starts = hazards.of_row(row), shown.edges[:-1]
    begun = marks.held_from_ps.searchsorted(starts, side="right")
    ended = marks.held_ends_ps.searchsorted(starts, side="right")
    empty = (begun > ended) & (measured.share == 0) & (measured.begun == 0)
    picture.glyphs[empty] = WAITING
    picture.tones[empty] = tone(Paint.HELD)
    for place in _few_held(marks, shown):
        column = shown.column_of(int(marks.held_from_ps[place])) + 1
        _write_held(picture, hazards, int(marks.held[place]), max(column, 0), empty)


def _few_held(marks: RowMarks, shown: Axis) -> list[int]:
    """The places of the pairs that were held in what is shown; none where there are many."""
    first, past = marks.held_from_ps.searchsorted(shown.edges[[0, -1]])
    ended = int(marks.held_ends_ps.searchsorted(shown.edges[0], side="right"))
    if (past - ended) * COLUMNS_PER_WORDS > shown.width:
        return []
    still_held = np.flatnonzero(marks.held_until_ps[:first] > shown.edges[0])
    return [*still_held.tolist(), *range(int(first), int(past))]


def _write_held(
    picture: Cells, hazards: HazardIndex, hazard: int, column: int, free: Bools
) -> None:
    """`#7 held for m` behind the mark at which the command began to be held; its columns are no
    longer `free` then.
    """
    words = f"#{int(hazards.table.later[hazard])} held for {hazards.handle_words(hazard)}"
    room = free[column : column + len(words) + 1]
    if cells(words) == len(words) < len(room) and room.all():
        picture.put(column, words, tone(Paint.HELD))
        room[:] = False
