"""The way from PE to PE over a machine's wires: XY routing, level by level.

It is decoded from the ranks as they are made up: first to the other's SIP, then in that SIP to its
CUBE, then in that CUBE to the PE; within a level columns come before rows. SIPs stand in one row. A
wire is a direction of the topology that leads to the next place.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from .topology import Level, Topology

CROSSING_ORDER = (Level.SIP, Level.CUBE, Level.PE)
"""A way crosses all wires between SIPs first, then those between CUBEs, then those of a CUBE."""

Distance: TypeAlias = tuple[tuple[int, int], ...]
"""Columns and rows from one rank to another in the grid of each level, in crossing order."""


@dataclass(frozen=True, slots=True)
class WireStep:
    """A step of a way from rank to rank: columns, then rows, of a level."""

    level: Level
    step: tuple[int, int]
    start: int
    end: int


class Wires:
    """The wires of a machine. Each has one that leads back, so ways there and back have all or lack some."""

    def __init__(self, topology: Topology) -> None:
        self._name = topology.name
        self._there = {(wire.level, wire.step) for wire in topology.directions.values()}
        grids = ((level, topology.grid(level)) for level in CROSSING_ORDER)
        self._levels = tuple(
            (level, topology.ranks_apart(level), grid.size, grid.columns) for level, grid in grids
        )

    def distance(self, sender: int, receiver: int) -> Distance:
        """How far they are apart. It decides of the way's steps all but where each begins."""
        return tuple(
            _apart(sender // apart % size, receiver // apart % size, columns)
            for _, apart, size, columns in self._levels
        )

    def way(self, sender: int, receiver: int) -> Iterator[WireStep]:
        """The steps from one rank to another, wired or not; none to itself."""
        here = sender
        distance = self.distance(sender, receiver)
        for (level, apart, _, columns), (across, down) in zip(self._levels, distance, strict=True):
            for step in _steps(across, down):
                ahead = here + (step[0] + step[1] * columns) * apart
                yield WireStep(level, step, here, ahead)
                here = ahead

    def complaint(self, way: Iterable[WireStep], sender: int, receiver: int) -> str | None:
        """What an error says of a way from rank to rank that lacks a wire; None where it has all."""
        for each in way:
            if (each.level, each.step) not in self._there:
                return (
                    f"no way leads from PE {sender} to PE {receiver}: topology '{self._name}'"
                    f" has no direction of level {each.level} and step {list(each.step)}; give it"
                    " one, or place the tensor on the PEs that use it"
                )
        return None


def _apart(start: int, end: int, columns: int) -> tuple[int, int]:
    """Columns and rows from one place of a grid to another."""
    return end % columns - start % columns, end // columns - start // columns


def _steps(across: int, down: int) -> Iterator[tuple[int, int]]:
    """So far, columns first."""
    yield from [((across > 0) - (across < 0), 0)] * abs(across)
    yield from [(0, (down > 0) - (down < 0))] * abs(down)
