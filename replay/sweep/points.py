"""A point of a sweep: what is asked of it, and what is known of it once it is evaluated."""

from dataclasses import dataclass
from enum import StrEnum

from ...schemas.calibration import Calibration
from .figures import Figures


class Way(StrEnum):
    """How a point's figures were found (the same either way), or why it has none: its trace deadlocks,
    or its calibration would make times that are too long."""

    REPLAYED = "replayed"
    FOLLOWED = "followed"
    DEADLOCKED = "deadlocked"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True, slots=True)
class Asked:
    """A point to evaluate: its number and its calibration."""

    point: int
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class PointResult:
    """One point of the sweep: its number, how it was evaluated, and its figures (figures.COLUMNS)."""

    point: int
    way: Way
    figures: Figures
