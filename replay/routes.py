"""Which links a remote access crosses: XY routing, level by level.

The way to a PE is decoded from its rank as that is made up: first to its SIP, then in that SIP to
its CUBE, then in that CUBE to the PE; within a level columns come before rows. SIPs stand in one
row. A link between two CUBEs (or SIPs) leads from every PE of the one to the PE of the same number in
the other, as the queues have it, so no links inside a CUBE lie before it.
"""

from collections.abc import Iterator
from dataclasses import replace

from ..schemas.errors import KerntapeError
from ..schemas.topology import Grid, Level, Place, Topology
from .components.noc import Link, link_between
from .ways import CROSSING_ORDER

Step = tuple[int, int]


class Routes:
    """The routes of a machine. Its links are the wires of its directions that lead to the next place."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._wires = {(wire.level, wire.step) for wire in topology.directions.values()}

    def route(self, sender: int, receiver: int) -> tuple[Link, ...]:
        """The links from one rank to another in the order in which they are crossed; none to itself.

        Raises KerntapeError where the topology has no link that the way needs.
        """
        return tuple(self._links(sender, receiver))

    def _links(self, sender: int, receiver: int) -> Iterator[Link]:
        topology = self._topology
        here, there = topology.place(sender), topology.place(receiver)
        for level in CROSSING_ORDER:
            grid = topology.grid(level)
            for step in _steps(grid, _number(here, level), _number(there, level)):
                self._check_wire(sender, receiver, level, step)
                number = grid.neighbour(_number(here, level), step)
                assert number is not None, "a step towards a place of the grid stays inside"
                ahead = replace(here, **{str(level): number})
                yield link_between(topology, topology.rank(here), topology.rank(ahead), level)
                here = ahead

    def _check_wire(self, sender: int, receiver: int, level: Level, step: Step) -> None:
        if (level, step) not in self._wires:
            raise KerntapeError(
                f"no way leads from PE {sender} to PE {receiver}: topology '{self._topology.name}'"
                f" has no direction of level {level} and step {list(step)}; give it one, or place the"
                " tensor on the PEs that use it"
            )


def _number(place: Place, level: Level) -> int:
    """The place's number within its level."""
    return {Level.SIP: place.sip, Level.CUBE: place.cube, Level.PE: place.pe}[level]


def _steps(grid: Grid, start: int, end: int) -> Iterator[Step]:
    """From place to place of the grid, columns first."""
    (column, row), (to_column, to_row) = grid.at(start), grid.at(end)
    across, down = to_column - column, to_row - row
    yield from [((across > 0) - (across < 0), 0)] * abs(across)
    yield from [(0, (down > 0) - (down < 0))] * abs(down)
