"""Which links a remote access crosses: those along its way over the machine's wires.

A link between two CUBEs (or SIPs) leads from every PE of the one to the PE of the same number in the
other, as the queues have it, so no links inside a CUBE lie before it.
"""

from ..schemas.errors import KerntapeError
from ..schemas.topology import Level, Topology
from ..schemas.wires import Distance, Wires, WireStep
from .components.noc import Link, link_between


class Routes:
    """The routes of a machine."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._wires = Wires(topology)
        self._levels: dict[Distance, tuple[Level, ...]] = {}

    def route(self, sender: int, receiver: int) -> tuple[Link, ...]:
        """The links from one rank to another in the order in which they are crossed; none to itself.

        Raises KerntapeError where the topology has no link that the way needs.
        """
        return tuple(
            link_between(self._topology, each.start, each.end, each.level)
            for each in self._way(sender, receiver)
        )

    def levels(self, sender: int, receiver: int) -> tuple[Level, ...]:
        """The levels of these links, worked out once for all ranks that lie equally far apart."""
        distance = self._wires.distance(sender, receiver)
        if distance not in self._levels:
            self._levels[distance] = tuple(each.level for each in self._way(sender, receiver))
        return self._levels[distance]

    def _way(self, sender: int, receiver: int) -> tuple[WireStep, ...]:
        way = tuple(self._wires.way(sender, receiver))
        complaint = self._wires.complaint(way, sender, receiver)
        if complaint is not None:
            raise KerntapeError(complaint)
        return way
