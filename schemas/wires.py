"""The way from PE to PE over a machine's wires: XY routing, level by level.

It is decoded from the ranks as they are made up: first to the other's SIP, then in that SIP to its
CUBE, then in that CUBE to the PE; within a level columns come before rows. SIPs stand in one row. A
wire is a direction of the topology that leads to the next place.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .topology import Grid, Level, Topology

CROSSING_ORDER = (Level.SIP, Level.CUBE, Level.PE)
"""A way crosses all wires between SIPs first, then those between CUBEs, then those of a CUBE."""


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
        self._levels = tuple(
            (level, topology.grid(level), topology.ranks_apart(level)) for level in CROSSING_ORDER
        )

    def way(self, sender: int, receiver: int) -> Iterator[WireStep]:
        """The steps from one rank to another, wired or not; none to itself."""
        here = sender
        for level, grid, apart in self._levels:
            start, end = here // apart % grid.size, receiver // apart % grid.size
            for columns, rows in _steps(grid, start, end):
                ahead = here + (columns + rows * grid.columns) * apart
                yield WireStep(level, (columns, rows), here, ahead)
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


def _steps(grid: Grid, start: int, end: int) -> Iterator[tuple[int, int]]:
    """From place to place of the grid, columns first."""
    (column, row), (to_column, to_row) = grid.at(start), grid.at(end)
    across, down = to_column - column, to_row - row
    yield from [((across > 0) - (across < 0), 0)] * abs(across)
    yield from [(0, (down > 0) - (down < 0))] * abs(down)
