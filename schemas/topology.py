"""A topology: which SIPs, CUBEs and PEs exist, how they are wired, and what each can hold.

Ranks number the PEs: `((sip · cubes) + cube) · pes + pe`, cubes and PEs row by row.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, model_validator

from .config_file import StrictModel
from .errors import did_you_mean

Count = Annotated[int, Field(ge=1, le=1 << 20)]
Bytes = Annotated[int, Field(ge=1, le=1 << 50)]


class Grid(StrictModel):
    """A rectangle of places, numbered row by row from the top left."""

    columns: Count
    rows: Count

    @property
    def size(self) -> int:
        return self.columns * self.rows

    def at(self, index: int) -> tuple[int, int]:
        """(column, row) of a place."""
        return index % self.columns, index // self.columns


class Tile(StrictModel):
    """The scheduler's GEMM tile, in elements: M × K × N."""

    m: Count
    k: Count
    n: Count


class PeStructure(StrictModel):
    """What one PE can hold. `scratch_bytes` of the TCM are the scratch arena, the rest is persistent."""

    tcm_bytes: Bytes
    scratch_bytes: Bytes
    hbm_bytes: Bytes
    tile: Tile
    tile_buffers: Count
    composites_in_flight: Count
    scheduler_queue: Count
    composite_cap_bytes: Count

    @model_validator(mode="after")
    def _scratch_fits(self) -> "PeStructure":
        if self.scratch_bytes >= self.tcm_bytes:
            raise ValueError(
                f"pe.scratch_bytes must be below pe.tcm_bytes ({self.tcm_bytes}),"
                f" not {self.scratch_bytes}"
            )
        return self


class IpcqStructure(StrictModel):
    """A queue between two PEs: slots of `slot_bytes`, and how many sends PE_IPCQ accepts ahead."""

    depth: Count
    slot_bytes: Count
    send_depth: Count


class Level(StrEnum):
    """Whose neighbour a direction leads to: another PE of the CUBE, the same PE of another CUBE or SIP."""

    PE = "pe"
    CUBE = "cube"
    SIP = "sip"


class Direction(StrictModel):
    """A queue's name at its sender; `opposite` is its name at the receiver, `step` the way there."""

    model_config = StrictModel.model_config | {"strict": False}

    level: Level
    step: tuple[int, int]
    opposite: str


@dataclass(frozen=True, slots=True)
class Place:
    """A PE by its coordinates."""

    sip: int
    cube: int
    pe: int


class Topology(StrictModel):
    """The machine. `pe_cost_model`, where given, overrides keys of the default calibration."""

    name: str
    summary: str
    sips: Count
    cubes: Grid
    pes: Grid
    pe: PeStructure
    ipcq: IpcqStructure
    directions: dict[str, Direction]
    pe_cost_model: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _every_queue_has_two_ends(self) -> "Topology":
        for name, direction in self.directions.items():
            back = self.directions.get(direction.opposite)
            if back is None:
                raise ValueError(
                    f"directions.{name}.opposite: no direction '{direction.opposite}'"
                    + did_you_mean(direction.opposite, self.directions)
                )
            undone = (-direction.step[0], -direction.step[1])
            if back.opposite != name or back.step != undone or back.level is not direction.level:
                raise ValueError(
                    f"directions.{name}: '{direction.opposite}' must lead back"
                    f" (level {direction.level}, step {list(undone)}, opposite {name})"
                )
            if direction.step == (0, 0):
                raise ValueError(f"directions.{name}.step must lead somewhere, not [0, 0]")
        return self

    @property
    def pe_count(self) -> int:
        return self.sips * self.cubes.size * self.pes.size

    def place(self, rank: int) -> Place:
        """The coordinates of a rank."""
        cube_rank, pe = divmod(rank, self.pes.size)
        sip, cube = divmod(cube_rank, self.cubes.size)
        return Place(sip, cube, pe)

    def rank(self, place: Place) -> int:
        """The number of a place."""
        return (place.sip * self.cubes.size + place.cube) * self.pes.size + place.pe

    def peer(self, rank: int, direction: str) -> int | None:
        """The rank that a queue leads to, or None where the machine ends. KeyError: no such direction."""
        wire = self.directions[direction]
        place = self.place(rank)
        if wire.level is Level.PE:
            pe = _neighbour(self.pes, place.pe, wire.step)
            return None if pe is None else self.rank(Place(place.sip, place.cube, pe))
        if wire.level is Level.CUBE:
            cube = _neighbour(self.cubes, place.cube, wire.step)
            return None if cube is None else self.rank(Place(place.sip, cube, place.pe))
        sip = _neighbour(Grid(columns=self.sips, rows=1), place.sip, wire.step)
        return None if sip is None else self.rank(Place(sip, place.cube, place.pe))


def _neighbour(grid: Grid, index: int, step: tuple[int, int]) -> int | None:
    column, row = grid.at(index)
    column, row = column + step[0], row + step[1]
    if 0 <= column < grid.columns and 0 <= row < grid.rows:
        return row * grid.columns + column
    return None
