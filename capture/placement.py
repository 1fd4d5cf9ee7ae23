"""Which part of a tensor each PE of a launch holds. Pure index arithmetic: no memory, no values.

A placement cuts axes of a tensor over levels of the machine, or over a numbering of PEs of one's
own. PEs of the same number hold copies of the same part: all of them along a level that no axis is
cut over. A part is one `range` of global indexes per axis, dense in its order: slot i of the local
tensor is index `part[axis][i]` of the whole one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from operator import index
from typing import SupportsIndex

from ..schemas.errors import ConfigError, did_you_mean
from ..schemas.topology import Level, Place
from .device import Device

Part = tuple[range, ...]


@dataclass(frozen=True, slots=True)
class LaunchGrid:
    """The PEs a kernel runs on: the first `pes` of the first `cubes` CUBEs of the first `sips` SIPs.

    SIPs are counted within the launch's device (capture/device.py), here and in every Place.
    """

    pes: int
    cubes: int
    sips: int

    def __len__(self) -> int:
        return self.pes * self.cubes * self.sips

    def __contains__(self, place: Place) -> bool:
        return (
            0 <= place.pe < self.pes and 0 <= place.cube < self.cubes and 0 <= place.sip < self.sips
        )

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


def launch_grid(grid: Sequence[SupportsIndex], device: Device) -> LaunchGrid:
    """The grid (PEs, CUBEs, SIPs) of a launch. Raises ConfigError where the device has fewer."""
    if len(grid) != 3 or not all(isinstance(extent, SupportsIndex) for extent in grid):
        raise ConfigError(f"a launch grid must be (PEs, CUBEs, SIPs), not {grid!r}")
    pes, cubes, sips = (index(extent) for extent in grid)
    for name, extent, most in (
        ("PEs", pes, device.topology.pes.size),
        ("CUBEs", cubes, device.topology.cubes.size),
        ("SIPs", sips, len(device.sips)),
    ):
        if not 1 <= extent <= most:
            is_chosen = name == "SIPs" and not device.is_whole
            wider = "--device names more" if is_chosen else "--topology names another machine"
            remedy = f"; {wider}" if extent > most else ""
            raise ConfigError(
                f"the launch grid's {name} must be from 1 to {most} ({device}), not {extent}{remedy}"
            )
    return LaunchGrid(pes, cubes, sips)


def whole_grid(device: Device) -> LaunchGrid:
    """Every PE of the device."""
    return LaunchGrid(device.topology.pes.size, device.topology.cubes.size, len(device.sips))


@dataclass(frozen=True, slots=True)
class OverLevels:
    """Parts numbered by coordinates at levels of the machine, as `rotated_number` does it."""

    levels: tuple[Level, ...]
    starts: tuple[int, ...]

    def part_count(self, grid: LaunchGrid) -> int:
        return prod(grid.extent(level) for level in self.levels)

    def part_number(self, grid: LaunchGrid, place: Place) -> int:
        """Which of the parts a PE has."""
        coordinates = [_coordinate(place, level) for level in self.levels]
        extents = [grid.extent(level) for level in self.levels]
        return rotated_number(coordinates, extents, self.starts)

    def __str__(self) -> str:
        levels = "×".join(self.levels)
        return f"{levels} from {'×'.join(map(str, self.starts))}" if any(self.starts) else levels


@dataclass(frozen=True, slots=True, eq=False)
class OverPlaces:
    """Parts numbered PE by PE, from 0 to `count` − 1. A PE without a number has an empty part."""

    title: str
    count: int
    numbers: Mapping[Place, int]

    def part_count(self, _: LaunchGrid) -> int:
        return self.count

    def part_number(self, _: LaunchGrid, place: Place) -> int | None:
        """Which of the parts a PE has, or None."""
        return self.numbers.get(place)

    def __str__(self) -> str:
        return self.title


@dataclass(frozen=True, slots=True)
class Split:
    """One axis cut into contiguous blocks, or dealt out index by index (`round_robin`)."""

    axis: int
    over: OverLevels | OverPlaces
    round_robin: bool = False

    def part(self, extent: int, grid: LaunchGrid, place: Place) -> range:
        """The indexes of the axis that a PE has."""
        number = self.over.part_number(grid, place)
        if number is None:
            return range(0)
        share = round_robin_share if self.round_robin else contiguous_block
        return share(extent, self.over.part_count(grid), number)

    def __str__(self) -> str:
        return f"axis {self.axis} {'round-robin ' if self.round_robin else ''}over {self.over}"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a tensor lies: cut by `splits`, or whole in the HBM of its single `owner`, launched or not."""

    splits: tuple[Split, ...] = ()
    owner: Place | None = None

    def split(
        self,
        axis: int,
        over: str | Sequence[str] | OverPlaces,
        *,
        round_robin: bool = False,
        starts: Sequence[int] = (),
    ) -> "Placement":
        """This placement with one more axis cut over a level, over several, or PE by PE.

        Levels are 'sip', 'cube' and 'pe'; of several, the first is slowest, and `starts` says
        which coordinate of each has part 0 (0 where it is not given). Raises ConfigError for an
        unknown level, for an axis or a level cut twice, for starts that do not go with the levels,
        and where there is an owner.
        """
        if self.owner is not None:
            raise ConfigError("a tensor with a single owner cannot be split")
        if any(split.axis == axis for split in self.splits):
            raise ConfigError(
                f"axis {axis} can be split once, not twice; name both levels in one split"
            )
        parts = over if isinstance(over, OverPlaces) else self._levels(over, starts)
        return Placement((*self.splits, Split(axis, parts, round_robin)))

    def _levels(self, over: str | Sequence[str], starts: Sequence[int]) -> OverLevels:
        levels = tuple(_level(name) for name in ([over] if isinstance(over, str) else over))
        used = [
            level
            for split in self.splits
            if isinstance(split.over, OverLevels)
            for level in split.over.levels
        ]
        for level in levels:
            if [*used, *levels].count(level) > 1:
                raise ConfigError(f"a placement can be split over {level} once, not twice")
        if len(starts) not in (0, len(levels)):
            raise ConfigError(
                f"a split over {'×'.join(levels)} must have {len(levels)} starts, not {len(starts)}"
            )
        return OverLevels(levels, tuple(starts) or (0,) * len(levels))

    def part(self, shape: tuple[int, ...], grid: LaunchGrid, place: Place) -> Part:
        """The global indexes, per axis, of what a PE sees of a tensor of that shape."""
        indexes = [range(extent) for extent in shape]
        for split in self.splits:
            indexes[split.axis] = split.part(shape[split.axis], grid, place)
        return tuple(indexes)

    def home(self, place: Place) -> Place:
        """Whose HBM holds what a PE sees of the tensor: the single owner's, or its own."""
        return self.owner or place

    def lies_at(self, place: Place, grid: LaunchGrid) -> bool:
        """Whether the HBM of that PE holds some of the tensor."""
        return place in grid if self.owner is None else place == self.owner

    def on_machine(self, device: Device) -> "Placement":
        """As a trace tells it: an owner is a PE of the machine, not of the launch."""
        if self.owner is None:
            return self
        return Placement(self.splits, device.on_machine(self.owner))

    def check(self, shape: tuple[int, ...], device: Device) -> None:
        """Raises ConfigError where an axis is not the tensor's or the owner is none of the device's PEs."""
        for split in self.splits:
            if not 0 <= split.axis < len(shape):
                raise ConfigError(
                    f"the split axis must be from 0 to {len(shape) - 1}, not {split.axis}"
                )
        if self.owner is not None and self.owner not in whole_grid(device):
            counted = "" if device.is_whole else ", its SIPs counted from 0"
            raise ConfigError(
                f"the owner must be a PE of {device}{counted}, not {_place_name(self.owner)}"
            )

    def __str__(self) -> str:
        if self.owner is not None:
            return _place_name(self.owner)
        return ", ".join(map(str, self.splits)) or "replicated"


REPLICATED = Placement()


def contiguous_block(extent: int, parts: int, part: int) -> range:
    """Part r of an axis: [r·B, (r+1)·B) cut off at the end, B = ⌈extent / parts⌉ (ADR-0060 §2.1)."""
    block = -(-extent // parts)
    return range(min(part * block, extent), min((part + 1) * block, extent))


def round_robin_share(extent: int, parts: int, part: int) -> range:
    """Part r of an axis: r, r + parts, r + 2·parts …, so index = slot · parts + r (ADR-0060 §2.1)."""
    return range(part, extent, parts)


def rotated_number(
    coordinates: Sequence[int], extents: Sequence[int], starts: Sequence[int]
) -> int:
    """One number for several coordinates, the first slowest, each counted from its start.

    (CUBE, PE) of C × P gives the rank ((cube − start_cube) mod C)·P + (pe − start_pe) mod P
    (ADR-0060 §2.1).
    """
    number = 0
    for coordinate, extent, start in zip(coordinates, extents, starts, strict=True):
        number = number * extent + (coordinate - start) % extent
    return number


def count_below(part: range, bound: int) -> int:
    """How many of a part's indexes are below `bound`: a rank's valid tokens at that context length.

    They are its first slots. Of a contiguous block this is clamp(bound − r·B, 0, B), dealt round
    robin it is ⌊bound/R⌋, and one more for the first bound mod R ranks (ADR-0060 §2).
    """
    return len(range(part.start, min(part.stop, bound), part.step))


def _coordinate(place: Place, level: Level) -> int:
    return {Level.PE: place.pe, Level.CUBE: place.cube, Level.SIP: place.sip}[level]


def _level(name: str) -> Level:
    if name not in tuple(Level):
        raise ConfigError(f"unknown level '{name}'{did_you_mean(name, list(Level))}")
    return Level(name)


def _place_name(place: Place) -> str:
    return f"pe {place.pe} of cube {place.cube} of sip {place.sip}"
