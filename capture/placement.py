"""Which part of a tensor each PE of a launch holds. Pure index arithmetic: no memory, no values.

A placement cuts axes of a tensor over levels of the machine. Along a level that no axis is cut
over, every PE holds its own copy. A part is one `range` of global indexes per axis, dense in its
order: slot i of the local tensor is index `part[axis][i]` of the whole one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from operator import index
from typing import SupportsIndex

from ..schemas.errors import ConfigError, did_you_mean
from ..schemas.topology import Level, Place, Topology

Part = tuple[range, ...]


@dataclass(frozen=True, slots=True)
class LaunchGrid:
    """The PEs a kernel runs on: the first `pes` of the first `cubes` CUBEs of the first `sips` SIPs."""

    pes: int
    cubes: int
    sips: int

    def __len__(self) -> int:
        return self.pes * self.cubes * self.sips

    def __contains__(self, place: Place) -> bool:
        return place.pe < self.pes and place.cube < self.cubes and place.sip < self.sips

    @property
    def extents(self) -> tuple[int, int, int]:
        """(PEs, CUBEs, SIPs), as rt.launch is given it."""
        return self.pes, self.cubes, self.sips

    def extent(self, level: Level) -> int:
        """How many the grid has at a level: PEs in a CUBE, CUBEs in a SIP, or SIPs."""
        return {Level.PE: self.pes, Level.CUBE: self.cubes, Level.SIP: self.sips}[level]

    def places(self) -> Iterator[Place]:
        """Every PE of the grid, in rank order."""
        for sip in range(self.sips):
            for cube in range(self.cubes):
                for pe in range(self.pes):
                    yield Place(sip, cube, pe)


def launch_grid(grid: Sequence[SupportsIndex], topology: Topology) -> LaunchGrid:
    """The grid (PEs, CUBEs, SIPs) of a launch. Raises ConfigError where the machine has fewer."""
    if len(grid) != 3 or not all(isinstance(extent, SupportsIndex) for extent in grid):
        raise ConfigError(f"a launch grid must be (PEs, CUBEs, SIPs), not {grid!r}")
    pes, cubes, sips = (index(extent) for extent in grid)
    for name, extent, most in (
        ("PEs", pes, topology.pes.size),
        ("CUBEs", cubes, topology.cubes.size),
        ("SIPs", sips, topology.sips),
    ):
        if not 1 <= extent <= most:
            raise ConfigError(
                f"the launch grid's {name} must be from 1 to {most}"
                f" (topology {topology.name}), not {extent}"
            )
    return LaunchGrid(pes, cubes, sips)


@dataclass(frozen=True, slots=True)
class Split:
    """One axis cut over levels of the machine, the first level slowest."""

    axis: int
    over: tuple[Level, ...]

    def part_count(self, grid: LaunchGrid) -> int:
        return prod(grid.extent(level) for level in self.over)

    def part_number(self, grid: LaunchGrid, place: Place) -> int:
        """Which of the parts a PE has: its coordinates at the levels, as one number."""
        number = 0
        for level in self.over:
            number = number * grid.extent(level) + _coordinate(place, level)
        return number


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a tensor lies: cut by `splits`, or whole in the HBM of its single `owner`."""

    splits: tuple[Split, ...] = ()
    owner: Place | None = None

    def split(self, axis: int, over: str | Sequence[str]) -> "Placement":
        """This placement with one more axis cut into contiguous blocks over a level or several.

        Levels are 'sip', 'cube' and 'pe'; of several, the first is slowest. Raises ConfigError
        for an unknown level, for an axis or a level cut twice, and where there is an owner.
        """
        if self.owner is not None:
            raise ConfigError("a tensor with a single owner cannot be split")
        levels = tuple(_level(name) for name in ([over] if isinstance(over, str) else over))
        used = [level for split in self.splits for level in split.over]
        for level in levels:
            if [*used, *levels].count(level) > 1:
                raise ConfigError(f"a placement can be split over {level} once, not twice")
        if any(split.axis == axis for split in self.splits):
            raise ConfigError(
                f"axis {axis} can be split once, not twice; name both levels in one split"
            )
        return Placement((*self.splits, Split(axis, levels)))

    def part(self, shape: tuple[int, ...], grid: LaunchGrid, place: Place) -> Part:
        """The global indexes, per axis, of what a PE sees of a tensor of that shape."""
        indexes = [range(extent) for extent in shape]
        for split in self.splits:
            indexes[split.axis] = contiguous_block(
                shape[split.axis], split.part_count(grid), split.part_number(grid, place)
            )
        return tuple(indexes)

    def home(self, place: Place) -> Place:
        """Whose HBM holds what a PE sees of the tensor: the single owner's, or its own."""
        return self.owner or place

    def check(self, shape: tuple[int, ...], grid: LaunchGrid) -> None:
        """Raises ConfigError where an axis is not the tensor's or the owner is not launched."""
        for split in self.splits:
            if not 0 <= split.axis < len(shape):
                raise ConfigError(
                    f"the split axis must be from 0 to {len(shape) - 1}, not {split.axis}"
                )
        if self.owner is not None and self.owner not in grid:
            raise ConfigError(
                f"the owner must be a PE of the launch, not {_place_name(self.owner)}"
            )

    def __str__(self) -> str:
        if self.owner is not None:
            return _place_name(self.owner)
        cuts = [f"axis {split.axis} over {'×'.join(split.over)}" for split in self.splits]
        return ", ".join(cuts) or "replicated"


REPLICATED = Placement()


def contiguous_block(extent: int, parts: int, part: int) -> range:
    """Part r of an axis: [r·B, (r+1)·B) cut off at the end, B = ⌈extent / parts⌉ (ADR-0060 §2.1)."""
    block = -(-extent // parts)
    return range(min(part * block, extent), min((part + 1) * block, extent))


def _coordinate(place: Place, level: Level) -> int:
    return {Level.PE: place.pe, Level.CUBE: place.cube, Level.SIP: place.sip}[level]


def _level(name: str) -> Level:
    if name not in tuple(Level):
        raise ConfigError(f"unknown level '{name}'{did_you_mean(name, list(Level))}")
    return Level(name)


def _place_name(place: Place) -> str:
    return f"pe {place.pe} of cube {place.cube} of sip {place.sip}"
