"""What is known of a point once it is evaluated."""

from dataclasses import dataclass
from enum import StrEnum

from .figures import Figures


class Way(StrEnum):
    """How a point's figures were found: they are the same either way."""

    REPLAYED = "replayed"
    FOLLOWED = "followed"
    DEADLOCKED = "deadlocked"


@dataclass(frozen=True, slots=True)
class PointResult:
    """One point of the sweep: its number, how it was evaluated, and its figures (figures.COLUMNS)."""

    point: int
    way: Way
    figures: Figures
