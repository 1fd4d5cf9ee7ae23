"""Of samples: who is faster how often in each quarter of a parameter's range, the telling parameter first.

A range, or listed values, are cut into quarters (see cuts). A parameter's spread is the difference
between the greatest and the least share of points that the first of a pair wins; the one with the
greatest spread stands first, of equal ones the one that was given first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .axes import Value, Varied
from .cuts import quarters

FIRST, SECOND, EQUAL = range(3)
"""Who of a pair is faster at a point."""


@dataclass(frozen=True, slots=True)
class Part:
    """From `low` to `high` of a parameter: how many points each of a pair wins."""

    low: Value
    high: Value
    first_faster: int
    second_faster: int
    equal: int

    @property
    def share(self) -> Fraction | None:
        """Of the points that could be compared, those that the first wins; None without any."""
        compared = self.first_faster + self.second_faster + self.equal
        return Fraction(self.first_faster, compared) if compared else None


@dataclass(frozen=True, slots=True)
class Shares:
    """A parameter's parts, in rising order."""

    path: str
    parts: tuple[Part, ...]

    @property
    def spread(self) -> Fraction:
        """How much it decides: the greatest share less the least."""
        found = [part.share for part in self.parts if part.share is not None]
        return max(found) - min(found) if found else Fraction(0)


def shares(
    sampled: Sequence[Varied],
    combinations: Sequence[tuple[Value, ...]],
    winners: Sequence[int | None],
) -> tuple[Shares, ...]:
    """Per parameter, the one that decides most first. `winners`: by combination, who is faster; None
    where the two cannot be compared."""
    found = []
    for place, varied in enumerate(sampled):
        cut = quarters(varied)
        counts = [[0, 0, 0] for _ in cut.ends]
        for values, winner in zip(combinations, winners, strict=True):
            if winner is not None:
                counts[cut.part_of(values[place])][winner] += 1
        parts = (
            Part(*both, won[FIRST], won[SECOND], won[EQUAL])
            for both, won in zip(cut.ends, counts, strict=True)
        )
        found.append(Shares(varied.path, tuple(parts)))
    return tuple(sorted(found, key=lambda each: -each.spread))
