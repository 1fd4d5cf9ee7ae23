"""All ranks of a CUBE group in one line, each a hop from the next. Pure geometry.

One CUBE after the other along `trees.path`, and its PEs along theirs, forth and back in turns, as
CUBEs are linked PE by PE. Two CUBEs of 4×2 PEs, from the line's begin to its end:

    CUBE 1    7 → 6 → 5 → 4 → 0 → 1 → 2 → 3 ┐
    CUBE 0    7 ← 6 ← 5 ← 4 ← 0 ← 1 ← 2 ← 3 ┘
"""

from dataclasses import dataclass

from ...schemas.topology import Level
from .directions import direction_to
from .groups import HeadGroups, Member
from .trees import path


@dataclass(frozen=True, slots=True)
class LineSeat:
    """A rank's position on the line, and the directions to its neighbours; None past an end."""

    position: int
    backward: str | None
    forward: str | None


def line_of(groups: HeadGroups) -> list[Member]:
    """The ranks of a group from the line's begin to its end."""
    cubes = [groups.cube_spots.index(spot) for spot in path(groups.cube_spots)]
    pes = [groups.pe_spots.index(spot) for spot in path(groups.pe_spots)]
    return [
        (cube, pe) for turn, cube in enumerate(cubes) for pe in (pes[::-1] if turn % 2 else pes)
    ]


def line_seats(groups: HeadGroups) -> dict[Member, LineSeat]:
    """Every rank's place. Raises ConfigError where a hop has no direction."""
    line = line_of(groups)
    return {
        member: LineSeat(
            position,
            _direction(groups, member, line[position - 1]) if position else None,
            _direction(groups, member, line[position + 1]) if position + 1 < len(line) else None,
        )
        for position, member in enumerate(line)
    }


def _direction(groups: HeadGroups, here: Member, there: Member) -> str:
    (cube, pe), (to_cube, to_pe) = here, there
    if cube == to_cube:
        level, spots, ends = Level.PE, groups.pe_spots, (pe, to_pe)
    else:
        level, spots, ends = Level.CUBE, groups.cube_spots, (cube, to_cube)
    return direction_to(groups.topology, level, spots[ends[0]], spots[ends[1]], "line")
