"""KV heads on CUBE groups: which PEs share a head's tokens, and their places in the group.

A CUBE group is a rectangle of a SIP's CUBE mesh that owns one KV head (ADR-0060 §0). Groups tile
the SIP and are counted row by row, SIP by SIP; head h has group h. A group's CUBEs are its members,
numbered row by row; the first `pes` PEs of each take part. SIPs are those of the launch's device,
counted from 0 (capture/device.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ...schemas.errors import ConfigError
from ...schemas.topology import Grid, Place, Topology
from ..placement import OverPlaces, rotated_number
from .trees import Spot

Member: TypeAlias = tuple[int, int]
"""A PE of a group: which of the group's CUBEs, and which PE of that."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A PE's place: which KV head's group, and where in that."""

    head: int
    member: Member


@dataclass(frozen=True)
class HeadGroups:
    """`heads` groups of `shape` CUBEs, each with its first `pes` PEs."""

    topology: Topology
    heads: int
    shape: Grid
    pes: int

    @property
    def ranks(self) -> int:
        """PEs of a group, C·P."""
        return self.shape.size * self.pes

    @property
    def cube_spots(self) -> list[Spot]:
        """Where a group's CUBEs lie, from its corner."""
        return [self.shape.at(cube) for cube in range(self.shape.size)]

    @property
    def pe_spots(self) -> list[Spot]:
        """Where a CUBE's PEs that take part lie."""
        return [self.topology.pes.at(pe) for pe in range(self.pes)]

    @property
    def grid(self) -> tuple[int, int, int]:
        """The launch that contains all groups: (PEs, CUBEs, SIPs)."""
        places = list(self.seats())
        sips = 1 + max(place.sip for place in places)
        return self.pes, 1 + max(place.cube for place in places), sips

    def seats(self) -> dict[Place, Seat]:
        """Who sits where, in rank order within each group."""
        return {
            Place(sip, cube, pe): Seat(head, (member, pe))
            for head in range(self.heads)
            for member, (sip, cube) in enumerate(self._cubes(head))
            for pe in range(self.pes)
        }

    def _cubes(self, head: int) -> Iterator[tuple[int, int]]:
        """(SIP, CUBE) of each CUBE of a group."""
        mesh = self.topology.cubes
        groups = group_mesh(mesh, self.shape)
        sip, group = divmod(head, groups.size)
        across, down = groups.at(group)
        corner = down * self.shape.rows * mesh.columns + across * self.shape.columns
        for column, row in self.cube_spots:
            yield sip, corner + row * mesh.columns + column

    def by_head(self) -> OverPlaces:
        """A tensor's part per KV head, a copy on each PE of its group."""
        return OverPlaces(
            "KV heads", self.heads, {place: seat.head for place, seat in self.seats().items()}
        )

    def by_head_at(self, member: Member) -> OverPlaces:
        """A tensor's part per KV head, on one PE of its group."""
        heads = {place: seat.head for place, seat in self.seats().items() if seat.member == member}
        cube, pe = member
        return OverPlaces(f"KV heads at cube {cube}, pe {pe} of a group", self.heads, heads)

    def by_rank(self, start_cube: int, start_pe: int) -> OverPlaces:
        """A tensor's part per rank, the same in every group; rank 0 is the PE at the start."""
        title = f"ranks from cube {start_cube}, pe {start_pe} of a group"
        numbers = {
            place: self.rank(seat, start_cube, start_pe) for place, seat in self.seats().items()
        }
        return OverPlaces(title, self.ranks, numbers)

    def start_of_request(self, number: int, start_cube: int, start_pe: int) -> Member:
        """Which member has a request's first tokens: a CUBE further on for each, and a PE further on
        each time that all CUBEs have had one (ADR-0060 §2.2). Request 0 starts at the start."""
        cubes = self.shape.size
        return (start_cube + number) % cubes, (start_pe + number // cubes) % self.pes

    def rank(self, seat: Seat, start_cube: int, start_pe: int) -> int:
        """The PE's number in its group, counted from the start (ADR-0060 §2.1)."""
        return rotated_number(seat.member, (self.shape.size, self.pes), (start_cube, start_pe))


def head_groups(
    topology: Topology, heads: int, cubes: int, pes: int, sips: int | None = None
) -> HeadGroups:
    """One group of cubes × pes for each KV head, on the first `sips` SIPs, or on all.

    Raises ConfigError where there is no room.
    """
    shape = group_shape(topology.cubes, cubes)
    whole = sips in (None, topology.sips)
    most = (sips or topology.sips) * group_mesh(topology.cubes, shape).size
    where = topology.name if whole else f"{sips} of {topology.sips} SIPs of {topology.name}"
    for name, count, limit, what in (
        ("heads", heads, most, f"groups of {cubes} CUBEs on {where}"),
        ("p", pes, topology.pes.size, f"PEs of a CUBE on {topology.name}"),
    ):
        if not 1 <= count <= limit:
            raise ConfigError(f"{name} must be from 1 to {limit} ({what}), not {count}")
    return HeadGroups(topology, heads, shape, pes)


def group_shape(mesh: Grid, cubes: int) -> Grid:
    """The rectangle of so many CUBEs that tiles the mesh with the shortest way to its middle.

    ⌊columns/2⌋ + ⌊rows/2⌋ hops, the widest of equals: 8 of 4×4 are 4×2. Raises ConfigError for a
    number of CUBEs that no rectangle has.
    """
    shapes = [
        Grid(columns=columns, rows=rows)
        for rows in range(1, mesh.rows + 1)
        for columns in range(1, mesh.columns + 1)
        if mesh.columns % columns == 0 and mesh.rows % rows == 0
    ]
    fitting = [shape for shape in shapes if shape.size == cubes]
    if not fitting:
        sizes = ", ".join(map(str, sorted({shape.size for shape in shapes})))
        raise ConfigError(
            f"c must be a size of rectangles that tile the SIP's {mesh.columns}×{mesh.rows} CUBEs"
            f" ({sizes}), not {cubes}"
        )
    return min(fitting, key=lambda shape: (shape.columns // 2 + shape.rows // 2, shape.rows))


def group_mesh(mesh: Grid, shape: Grid) -> Grid:
    """The groups of a SIP, as a mesh of their own."""
    return Grid(columns=mesh.columns // shape.columns, rows=mesh.rows // shape.rows)
