"""What became of a hazard as the browser tells it: of a held pair, whether that delayed anything."""

from enum import IntEnum

import numpy as np

from ...schemas.columns import Int8s
from ...schemas.hazards import Hazards, Outcome
from .tones import Paint


class Fate(IntEnum):
    """The outcomes. FREE: held, but something else let the later command go no earlier, so that the
    order cost nothing.
    """

    VIOLATED = 0
    POTENTIAL = 1
    HELD = 2
    FREE = 3


FATE_GLYPHS = {Fate.VIOLATED: "!", Fate.POTENTIAL: "?", Fate.HELD: "◇", Fate.FREE: "◇"}

FATE_WORDS = {
    Fate.VIOLATED: "violated",
    Fate.POTENTIAL: "potential",
    Fate.HELD: "held",
    Fate.FREE: "at no cost",
}

FATE_PAINTS = {
    Fate.VIOLATED: Paint.VIOLATED,
    Fate.POTENTIAL: Paint.POTENTIAL,
    Fate.HELD: Paint.HELD,
    Fate.FREE: Paint.MUTED,
}

_FATE_OF = np.array([Fate.HELD, Fate.VIOLATED, Fate.POTENTIAL], dtype=np.int8)
"""By Outcome, where it cost anything."""


def fates(table: Hazards) -> Int8s:
    """Per row of the table its Fate."""
    is_free = (table.outcome == Outcome.HELD) & (table.cost_ps == 0)
    return np.where(is_free, np.int8(Fate.FREE), _FATE_OF[table.outcome])


def fate(table: Hazards, row: int) -> Fate:
    """One row's."""
    if table.outcome[row] == Outcome.HELD and not table.cost_ps[row]:
        return Fate.FREE
    return Fate(int(_FATE_OF[table.outcome[row]]))
