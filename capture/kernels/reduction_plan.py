"""The static plan of a reduce-to-root over a CUBE group: what each rank receives from where, and sends.

Two levels (ADR-0060 §4): the PEs of each CUBE to the CUBE's root PE, then these root PEs to the one
of the group's root CUBE. A CUBE's root PE is the same PE in all of them, as only such PEs are
neighbours. Ranks without tokens that nobody sends to are left out: lengths are known at launch.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ...schemas.errors import ConfigError
from ...schemas.topology import Level, Topology
from .directions import direction_to
from .groups import HeadGroups, Member
from .trees import CUBE_TREES, PE_TREES, Hops, Shape, Spot, roles


@dataclass(frozen=True, slots=True)
class Step:
    """A rank's part of one level: merges what comes from these directions, in order, then sends."""

    receive_from: tuple[str, ...] = ()
    send_to: str | None = None


@dataclass(frozen=True, slots=True)
class StepBack:
    """A rank's part of one level on the way back: it has the result from there, and sends it on."""

    receive_from: str | None
    send_to: tuple[str, ...]


@dataclass(frozen=True)
class LevelTree:
    """One level's tree: where its members lie, and whom each sends to."""

    topology: Topology
    level: Level
    spots: list[Spot]
    hops: Hops

    @property
    def root(self) -> int:
        """The member at which all arrives."""
        (root,) = (number for number, spot in enumerate(self.spots) if spot not in self.hops)
        return root

    def steps(self, occupied: list[bool]) -> list[Step]:
        """Each member's step where only the occupied ones have something to contribute."""
        return [
            Step(
                tuple(self._direction(member, source) for source in role.sources),
                None if role.target is None else self._direction(member, role.target),
            )
            for member, role in enumerate(roles(self.spots, self.hops, occupied))
        ]

    def _direction(self, here: int, there: int) -> str:
        ends = self.spots[here], self.spots[there]
        return direction_to(self.topology, self.level, *ends, "reduction")


@dataclass(frozen=True)
class Reduction:
    """The trees of both levels."""

    pes: LevelTree
    cubes: LevelTree

    @property
    def root(self) -> Member:
        """The rank that has the result."""
        return self.cubes.root, self.pes.root

    def steps(self, occupied: Mapping[Member, bool]) -> dict[Member, tuple[Step, ...]]:
        """Each rank's steps, in order, where only the occupied ranks have tokens."""
        cubes, pes = range(len(self.cubes.spots)), range(len(self.pes.spots))
        within = {cube: self.pes.steps([occupied[cube, pe] for pe in pes]) for cube in cubes}
        between = self.cubes.steps([any(occupied[cube, pe] for pe in pes) for cube in cubes])
        root_pe = self.pes.root
        return {
            (cube, pe): (within[cube][pe], *((between[cube],) if pe == root_pe else ()))
            for cube in cubes
            for pe in pes
        }

    def steps_back(self) -> dict[Member, tuple[StepBack, ...]]:
        """Each rank's steps when the root's result goes to all ranks, by the same trees.

        Whom a rank received from last, it serves first: most ranks are behind that one.
        """
        members = [
            (cube, pe) for cube in range(len(self.cubes.spots)) for pe in range(len(self.pes.spots))
        ]
        there = self.steps(dict.fromkeys(members, True))
        return {
            member: tuple(
                StepBack(step.send_to, step.receive_from[::-1]) for step in reversed(steps)
            )
            for member, steps in there.items()
        }


def reduction(groups: HeadGroups, pe_tree: str, cube_tree: str) -> Reduction:
    """The reduction over a group by trees.PE_TREES[pe_tree] and trees.CUBE_TREES[cube_tree].

    Raises ConfigError naming the level where there is no such tree over so many members.
    """

    def tree(level: Level, shape: Shape, spots: list[Spot]) -> LevelTree:
        try:
            return LevelTree(groups.topology, level, spots, shape(spots))
        except ConfigError as error:
            raise ConfigError(f"reduce_{level}: {error}") from None

    return Reduction(
        tree(Level.PE, PE_TREES[pe_tree], groups.pe_spots),
        tree(Level.CUBE, CUBE_TREES[cube_tree], groups.cube_spots),
    )
