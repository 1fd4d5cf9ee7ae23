"""By how much one of two is faster, in whole parts per million: no float, so the same on every machine.

Where one takes F and the other S > F, the other takes (S - F) / F longer, rounded down to a millionth.
Of an even number of points the lower of the two middle ones is the median. A point at which the faster
one takes no time at all has no such ratio and is left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass

PPM = 1_000_000


@dataclass(frozen=True, slots=True)
class Margin:
    """How much longer the slower one takes, over the points where the other one is faster."""

    median_ppm: int
    most_ppm: int


def margin(makespans_ps: Iterable[tuple[int, int]]) -> Margin | None:
    """Of (faster, slower) at each point; None where there are none."""
    longer = sorted(longer_ppm(*both) for both in makespans_ps if both[0])
    return Margin(median_of(longer), longer[-1]) if longer else None


def longer_ppm(faster_ps: int, slower_ps: int) -> int:
    """How much longer the slower one takes than the faster one, which is not 0."""
    return (slower_ps - faster_ps) * PPM // faster_ps


def median_of(ascending: list[int]) -> int:
    """The middle one, the lower of two; there is at least one."""
    return ascending[(len(ascending) - 1) // 2]
