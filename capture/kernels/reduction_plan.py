"""The static plan of a reduce-to-root over a CUBE group: what each rank receives from where, and sends.

Two levels (ADR-0060 §4): the PEs of each CUBE to the CUBE's root PE, then these root PEs to the one
of the group's root CUBE. A CUBE's root PE is the same PE in all of them, as only such PEs are
neighbours. Ranks without tokens that nobody sends to are left out: lengths are known at launch.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ...schemas.errors import ConfigError
from ...schemas.topology import Level, Topology
from .groups import HeadGroups, Member
from .trees import CUBE_TREES, PE_TREES, Hops, Shape, Spot, roles


@dataclass(frozen=True, slots=True)
class Step:
    """A rank's part of one level: merges what comes from these directions, in order, then sends."""

    receive_from: tuple[str, ...] = ()
    send_to: str | None = None


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
        (x, y), (to_x, to_y) = self.spots[here], self.spots[there]
        step = (to_x - x, to_y - y)
        for name, direction in self.topology.directions.items():
            if direction.level is self.level and direction.step == step:
                return name
        raise ConfigError(
            f"topology {self.topology.name} must have a direction of level {self.level} and step"
            f" {list(step)} for the reduction, and has none"
        )


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
