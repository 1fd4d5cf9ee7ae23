"""Of samples: who is faster how often in each quarter of a parameter's range, the telling parameter first.

A range is cut into four equal parts (fewer where it has fewer whole numbers), listed values by their
rank into as many. A parameter's spread is the difference between the greatest and the least share of
points that the first of a pair wins; the one with the greatest spread stands first, of equal ones the
one that was given first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

from .axes import Axis, Span, Value, Varied

FIRST, SECOND, EQUAL = range(3)
"""Who of a pair is faster at a point."""

PARTS = 4

_DIGITS = 100
"""More than the difference of two of a calibration's numbers can have."""


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
        ends, part_of = _cut(varied)
        counts = [[0, 0, 0] for _ in ends]
        for values, winner in zip(combinations, winners, strict=True):
            if winner is not None:
                counts[part_of(values[place])][winner] += 1
        parts = (
            Part(*both, won[FIRST], won[SECOND], won[EQUAL])
            for both, won in zip(ends, counts, strict=True)
        )
        found.append(Shares(varied.path, tuple(parts)))
    return tuple(sorted(found, key=lambda each: -each.spread))


_Ends = list[tuple[Value, Value]]


def _cut(varied: Varied) -> tuple[_Ends, Callable[[Value], int]]:
    """The ends of the parts, and which one a value is in."""
    if isinstance(varied, Axis):
        return _listed(sorted(varied.values))
    if isinstance(varied.low, int):
        return _whole(varied.low, int(varied.high))
    return _measured(varied)


def _listed(values: Sequence[Value]) -> tuple[_Ends, Callable[[Value], int]]:
    count = min(PARTS, len(values))
    part = {value: rank * count // len(values) for rank, value in enumerate(values)}
    members = [[value for value in values if part[value] == each] for each in range(count)]
    return [(each[0], each[-1]) for each in members], part.__getitem__


def _whole(low: int, high: int) -> tuple[_Ends, Callable[[Value], int]]:
    size = high - low + 1
    count = min(PARTS, size)
    begins = [low - (-each * size // count) for each in range(count + 1)]
    ends: _Ends = [(begins[each], begins[each + 1] - 1) for each in range(count)]
    return ends, lambda value: (int(value) - low) * count // size


def _measured(span: Span) -> tuple[_Ends, Callable[[Value], int]]:
    low, width = Fraction(span.low), Fraction(span.high) - Fraction(span.low)
    with localcontext(prec=_DIGITS):
        step = (Decimal(span.high) - span.low) / PARTS
        inner = [span.low + step * each for each in range(1, PARTS)]

    def part_of(value: Value) -> int:
        return min(PARTS - 1, int((Fraction(value) - low) * PARTS / width))

    return list(pairwise([span.low, *inner, span.high])), part_of
