"""How a command reaches a tensor in another PE's HBM: which links lie between, level by level.

Routes are the same in both directions but for the links themselves (routes.py), so a way counts for
reads and for writes. PEs whose streams and ways are equal share one lowered stream: a way says of
which level each link is, and a far slot stands for the PE's own link, or owner, until lowering puts
it in its place.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from ..schemas.topology import Level
from ..schemas.wires import CROSSING_ORDER

LEVEL_SETS = tuple(levels for count in (1, 2, 3) for levels in combinations(CROSSING_ORDER, count))
"""Every set of levels that a route may have crossed."""

HOP_BITS = 20
"""Bits for a level's hops where those of several are packed into one number."""


@dataclass(frozen=True, slots=True)
class FarSlot:
    """A server away from the PE: `number` counts those that its commands reach for."""

    number: int


Hop = tuple[Level, FarSlot]
"""A link by its level, and the link itself."""


@dataclass(frozen=True, slots=True)
class Way:
    """The links between a PE and the owner of a tensor, in crossing order, on far slots from
    `first_slot` on: the owner's HBM channel, the links of a read, the links of a write.
    """

    levels: tuple[Level, ...]
    first_slot: int

    @property
    def channel(self) -> FarSlot:
        """The owner's HBM channel."""
        return FarSlot(self.first_slot)

    @property
    def inbound(self) -> tuple[Hop, ...]:
        """From the owner to the PE."""
        return self._hops(self.first_slot + 1)

    @property
    def outbound(self) -> tuple[Hop, ...]:
        """From the PE to the owner."""
        return self._hops(self.first_slot + 1 + len(self.levels))

    def _hops(self, first: int) -> tuple[Hop, ...]:
        return tuple((level, FarSlot(first + place)) for place, level in enumerate(self.levels))


def levels_of(hops: Iterable[Hop]) -> list[Level]:
    """The level of each hop."""
    return [level for level, _ in hops]


Ways = tuple[Way | None, ...]
"""The ways to what fills a command's slots; empty where all of it is the PE's own."""


def over(equation: str, levels: Iterable[Level]) -> str:
    """The equation's name for bytes that have crossed links of these levels: `noc.read:cube+pe`.

    Without a link it is the equation's own.
    """
    crossed = set(levels)
    names = "+".join(level for level in CROSSING_ORDER if level in crossed)
    return f"{equation}:{names}" if names else equation


def packed_hops(levels: Iterable[Level]) -> int:
    """How many links of each level, as one quantity: HOP_BITS for each of the levels there are."""
    crossed = list(levels)
    counts = [crossed.count(level) for level in CROSSING_ORDER if level in crossed]
    return sum(count << (HOP_BITS * place) for place, count in enumerate(counts))


def unpacked_hops(packed: int, levels: tuple[Level, ...]) -> dict[Level, int]:
    """The links of each of the levels (one of LEVEL_SETS) that `packed_hops` counted."""
    least = (1 << HOP_BITS) - 1
    return {level: packed >> (HOP_BITS * place) & least for place, level in enumerate(levels)}
