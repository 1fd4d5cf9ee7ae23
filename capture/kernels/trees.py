"""Reduction trees over the places of a mesh: who sends to whom until all has come to the root.

Pure geometry, for the PEs of a CUBE and the CUBEs of a group alike. Members are the first places of
a mesh, numbered row by row; a spot is (column, row), rows counted downwards. Every hop leads to a
neighbour. The four trees over 4×2 members, roots in brackets:

    tree                       centre                     chain                      ring
    0 ──▶ 1 ──▶[2]◀── 3        0 ──▶ 1 ──▶[2]◀── 3        0 ──▶ 1 ──▶ 2 ──▶[3]       0 ──▶ 1 ──▶[2]◀── 3
    ▲     ▲     ▲     ▲                    ▲              ▲                          ▲                 ▲
    4     5     6     7        4 ──▶ 5 ──▶ 6 ◀── 7        4 ◀── 5 ◀── 6 ◀── 7        4     5 ──▶ 6 ──▶ 7

A member merges one message at a time: one a round. A line of n then takes ⌊n/2⌋ rounds to its
middle, and one more where n is odd and above 1, as the middle is reached from both sides at once.
So tree takes ⌈log₂ n⌉ rounds on 1, 2 or 4 columns and up to 4 rows, centre on w×h of 1, 2 or 4
takes ⌊w/2⌋ + ⌊h/2⌋.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from ...schemas.errors import ConfigError

Spot: TypeAlias = tuple[int, int]
Hops: TypeAlias = dict[Spot, Spot]
"""Where each member sends to; the root is not in it."""
Shape: TypeAlias = Callable[[Sequence[Spot]], Hops]


@dataclass(frozen=True, slots=True)
class Role:
    """What one member does: merges what comes from `sources`, in that order, then sends to `target`.

    The root has no target. A member below which nobody has anything to contribute has neither.
    """

    sources: tuple[int, ...] = ()
    target: int | None = None


def roles(spots: Sequence[Spot], hops: Hops, occupied: Sequence[bool]) -> tuple[Role, ...]:
    """Each member's role where only the occupied ones have something to contribute.

    Who has nothing and gets nothing does not send, and nobody waits for it. Sources are in the
    order of the rounds in which they are complete, the least number of equals first.
    """
    number = {spot: member for member, spot in enumerate(spots)}
    targets = {number[child]: number[parent] for child, parent in hops.items()}
    sources: dict[int, list[tuple[int, int]]] = {member: [] for member in range(len(spots))}
    found = [Role()] * len(spots)
    for member in sorted(sources, key=lambda member: -distance(targets, member)):
        arriving = sorted(sources[member])
        if not arriving and not occupied[member]:
            continue
        target = targets.get(member)
        found[member] = Role(tuple(source for _, source in arriving), target)
        if target is not None:
            sources[target].append((rounds(arriving), member))
    return tuple(found)


def distance(targets: dict[int, int], member: int) -> int:
    """Hops from a member to the root."""
    hops = 0
    while member in targets:
        member = targets[member]
        hops += 1
    return hops


def rounds(arriving: Sequence[tuple[int, int]]) -> int:
    """The round in which a member is complete that merges these, each (its own round, its number)."""
    complete = 0
    for sent, _ in arriving:
        complete = max(complete, sent) + 1
    return complete


def columns_first(spots: Sequence[Spot]) -> Hops:
    """Along the columns to the middle row, then along that to its middle."""
    column, row = middle(spots)
    return {
        (x, y): (x, _towards(row, y)) if y != row else (_towards(column, x), y)
        for x, y in spots
        if (x, y) != (column, row)
    }


def rows_first(spots: Sequence[Spot]) -> Hops:
    """Along the rows to the middle column, then along that to its middle. For whole rectangles."""
    column, row = middle(spots)
    return {
        (x, y): (_towards(column, x), y) if x != column else (x, _towards(row, y))
        for x, y in spots
        if (x, y) != (column, row)
    }


def chain(spots: Sequence[Spot]) -> Hops:
    """One after the other along `path`; the root is at its end."""
    return dict(pairwise(path(spots)))


def path(spots: Sequence[Spot]) -> list[Spot]:
    """Every member once, neighbour to neighbour: to and fro from the last row up to the end of row 0."""
    columns, rows = extents(spots)
    return [
        spot
        for turn, y in enumerate(reversed(range(rows)))
        for spot in _row(columns, y, leftwards=turn % 2 == 0)
        if spot in spots
    ]


def ring(spots: Sequence[Spot]) -> Hops:
    """Along both arms of the cycle through all members, to the middle. Raises ConfigError without one."""
    columns, rows = extents(spots)
    if len(spots) < columns * rows:
        raise ConfigError(f"a ring must be over a whole rectangle, not {len(spots)} of its places")
    order = cycle(columns, rows)
    start = order.index(middle(spots))
    order = [*order[start:], *order[:start], order[start]]
    half = len(spots) // 2
    back, onwards = order[: half + 1], order[half + 1 :]
    return dict(pairwise(back[::-1])) | dict(pairwise(onwards))


def cycle(columns: int, rows: int) -> list[Spot]:
    """A way through every place of a rectangle, once, whose ends are neighbours too.

    Raises ConfigError where there is none: a side is 1, or both are odd (one or two places are one).
    """
    if columns * rows <= 2:
        return [(x, y) for y in range(rows) for x in range(columns)]
    if min(columns, rows) == 1 or columns * rows % 2:
        raise ConfigError(
            f"a ring must have two sides of at least 2, one of them even, not {columns}×{rows}"
        )
    if rows % 2:
        return [(x, y) for y, x in cycle(rows, columns)]
    there = [
        (x, y) for y in range(rows) for x, _ in _row(columns, y, leftwards=y % 2 == 1) if x > 0
    ]
    return [*there, *((0, y) for y in reversed(range(rows)))]


PE_TREES: dict[str, Shape] = {"tree": columns_first, "chain": chain, "ring": ring}
CUBE_TREES: dict[str, Shape] = {"centre": rows_first, "chain": chain, "ring": ring}


def middle(spots: Sequence[Spot]) -> Spot:
    """The inner member at which trees end. It is never in the last of several rows: that may be short."""
    columns, rows = extents(spots)
    return columns // 2, (rows - 1) // 2


def extents(spots: Sequence[Spot]) -> tuple[int, int]:
    """(columns, rows) of the rectangle that the spots begin at (0, 0)."""
    return 1 + max(x for x, _ in spots), 1 + max(y for _, y in spots)


def _row(columns: int, y: int, *, leftwards: bool) -> list[Spot]:
    row = [(x, y) for x in range(columns)]
    return row[::-1] if leftwards else row


def _towards(goal: int, place: int) -> int:
    """The next place on the way along a line."""
    return place + (1 if goal > place else -1)
