"""How a sampled parameter's values are cut into quarters, which rise.

A range is cut into four equal parts (fewer where it has fewer whole numbers), listed values by their
rank into as many. A value between two parts is in the upper one.
"""

from bisect import bisect_right
from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import pairwise
from operator import itemgetter

from .axes import Axis, Span, Value, Varied

PARTS = 4

_DIGITS = 100
"""More than the difference of two of a calibration's numbers can have."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The ends of each part, in rising order."""

    ends: tuple[tuple[Value, Value], ...]

    def part_of(self, value: Value) -> int:
        """The number of the part that one of the parameter's values is in."""
        return bisect_right(self.ends, value, key=itemgetter(0)) - 1


def quarters(varied: Varied) -> Cut:
    """Four parts, or as many as there are values."""
    if isinstance(varied, Axis):
        return _listed(varied)
    if isinstance(varied.low, int):
        return _whole(varied.low, int(varied.high))
    return _measured(varied)


def _listed(axis: Axis) -> Cut:
    values = sorted(axis.values)
    bounds = pairwise(_bounds(len(values)))
    return Cut(tuple((values[begin], values[end - 1]) for begin, end in bounds))


def _whole(low: int, high: int) -> Cut:
    bounds = pairwise(_bounds(high - low + 1))
    return Cut(tuple((low + begin, low + end - 1) for begin, end in bounds))


def _bounds(size: int) -> list[int]:
    """Where each part begins, and where the last one ends: multiples of a part, rounded up."""
    count = min(PARTS, size)
    return [-(-each * size // count) for each in range(count + 1)]


def _measured(span: Span) -> Cut:
    with localcontext(prec=_DIGITS):
        step = (Decimal(span.high) - span.low) / PARTS
        inner = [span.low + step * each for each in range(1, PARTS)]
    return Cut(tuple(pairwise([span.low, *inner, span.high])))
