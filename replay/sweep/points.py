"""A point of a sweep: what is asked of it, and what is known of it once it is evaluated."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from ...schemas.calibration import Calibration
from ...schemas.errors import ConfigError
from .figures import Figures


class Way(StrEnum):
    """How a point's figures were found: they are the same either way."""

    REPLAYED = "replayed"
    FOLLOWED = "followed"
    DEADLOCKED = "deadlocked"


@dataclass(frozen=True, slots=True)
class Asked:
    """A point to evaluate: its number, its varied values in words, its calibration."""

    point: int
    title: str
    calibration: Calibration

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Raises a ConfigError of the block with the point's values before it."""
        try:
            yield
        except ConfigError as error:
            raise ConfigError(f"{self.title}: {error}" if self.title else str(error)) from None


@dataclass(frozen=True, slots=True)
class PointResult:
    """One point of the sweep: its number, how it was evaluated, and its figures (figures.COLUMNS)."""

    point: int
    way: Way
    figures: Figures
