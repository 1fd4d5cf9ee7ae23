"""The ring of a CUBE group, around which K/V blocks rotate: its rectangle, its order, its directions.

Pure geometry. Every hop leads to the next CUBE of the mesh, and after C hops a block is back at its
owner. PE p of a CUBE only ever talks to PE p of the two CUBEs beside it in the ring. 4×2 CUBEs:

    0 ──▶ 1 ──▶ 2 ──▶ 3
    ▲                 │        at step s a CUBE has the block of the one s places before it
    4 ◀── 5 ◀── 6 ◀── 7
"""

from dataclasses import dataclass

from ...schemas.errors import ConfigError
from ...schemas.topology import Grid, Level, Topology
from .directions import direction_to
from .trees import cycle


@dataclass(frozen=True, slots=True)
class RingSeat:
    """A CUBE's place in the ring. `sources[s]` is the member whose block it has at step s."""

    sources: tuple[int, ...]
    send_to: str
    receive_from: str


def ring_shape(mesh: Grid, cubes: int) -> Grid:
    """The rectangle of so many CUBEs that tiles the mesh and has a ring, the squarest and widest.

    Raises ConfigError where there is none.
    """
    fitting = [
        Grid(columns=columns, rows=rows)
        for columns in range(1, mesh.columns + 1)
        for rows in range(1, mesh.rows + 1)
        if columns * rows == cubes and mesh.columns % columns == mesh.rows % rows == 0
    ]
    rings = [shape for shape in fitting if _has_ring(shape)]
    if not rings:
        raise ConfigError(
            f"c must be the size of a rectangle that tiles the SIP's {mesh.columns}×{mesh.rows}"
            f" CUBEs and has a ring of one-hop steps, not {cubes}"
        )
    return min(rings, key=lambda shape: (shape.columns + shape.rows, shape.rows))


def _has_ring(shape: Grid) -> bool:
    try:
        cycle(shape.columns, shape.rows)
    except ConfigError:
        return False
    return True


def ring_seats(topology: Topology, shape: Grid) -> tuple[RingSeat, ...]:
    """Every member's place in the ring over `shape`, members numbered row by row.

    Raises ConfigError where a hop has no direction.
    """
    order = cycle(shape.columns, shape.rows)
    members = [row * shape.columns + column for column, row in order]
    seats: dict[int, RingSeat] = {}
    for place, member in enumerate(members):
        before, after = order[place - 1], order[(place + 1) % len(order)]
        seats[member] = RingSeat(
            sources=tuple(members[place - step] for step in range(len(order))),
            send_to=direction_to(topology, Level.CUBE, order[place], after, "ring"),
            receive_from=direction_to(topology, Level.CUBE, order[place], before, "ring"),
        )
    return tuple(seats[member] for member in sorted(seats))
