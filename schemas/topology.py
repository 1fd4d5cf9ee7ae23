"""A topology: which SIPs, CUBEs and PEs exist, how they are wired, and what each can hold.

Ranks number the PEs: `((sip · cubes) + cube) · pes + pe`, cubes and PEs row by row.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from .calibration import SomeCosts
from .config_file import FromList, Line, StrictModel, word_of
from .errors import did_you_mean

MAX_PES = 1 << 16
Count = Annotated[int, Field(ge=1, le=1 << 20)]
Bytes = Annotated[int, Field(ge=1, le=1 << 50)]
DirectionName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_+-]{0,31}$")]


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

    def neighbour(self, index: int, step: tuple[int, int]) -> int | None:
        """The place that many columns and rows away, or None past an edge."""
        column, row = self.at(index)
        column, row = column + step[0], row + step[1]
        inside = 0 <= column < self.columns and 0 <= row < self.rows
        return row * self.columns + column if inside else None


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
                f"scratch_bytes must be below tcm_bytes ({self.tcm_bytes}), not {self.scratch_bytes}"
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
    """A queue's name at its sender; `opposite` is its name at the receiver.

    `step` is the way there: columns, then rows, rows counted downwards. SIPs stand in one row.
    """

    level: Annotated[Level, word_of(Level)]
    step: Annotated[tuple[int, int], FromList]
    opposite: DirectionName


@dataclass(frozen=True, slots=True)
class Place:
    """A PE by its coordinates."""

    sip: int
    cube: int
    pe: int


class Topology(StrictModel):
    """The machine. `pe_cost_model`, where given, overrides keys of the default calibration.

    Every direction leads from some PE to another and is undone by its opposite.
    """

    name: Line
    summary: Line
    sips: Count
    cubes: Grid
    pes: Grid
    pe: PeStructure
    ipcq: IpcqStructure
    directions: dict[DirectionName, Direction]
    pe_cost_model: SomeCosts = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_not_too_large(self) -> "Topology":
        if self.pe_count > MAX_PES:
            raise ValueError(
                f"sips × cubes × pes must be at most {MAX_PES} PEs, not {self.pe_count}"
            )
        return self

    @model_validator(mode="after")
    def _every_queue_has_two_ends(self) -> "Topology":
        for name, direction in self.directions.items():
            self._check_leads_somewhere(name, direction)
        for name, direction in self.directions.items():
            self._check_way_back(name, direction)
        return self

    def _check_way_back(self, name: str, direction: Direction) -> None:
        back = self.directions.get(direction.opposite)
        if back is None:
            raise ValueError(
                f"directions.{name}.opposite: no direction '{direction.opposite}'"
                + did_you_mean(direction.opposite, self.directions)
            )
        undone = (-direction.step[0], -direction.step[1])
        if back.opposite != name or back.level is not direction.level:
            raise ValueError(
                f"directions.{direction.opposite}: must lead back where '{name}' comes from"
                f" (level {direction.level}, step {list(undone)}, opposite {name})"
            )
        if back.step != undone:
            mended = [-back.step[0], -back.step[1]]
            raise ValueError(
                f"directions.{name}.step: {list(direction.step)} must be undone by"
                f" '{direction.opposite}', which has {list(back.step)}; make it {mended}, or"
                f" {direction.opposite}'s {list(undone)}"
            )

    def _check_leads_somewhere(self, name: str, direction: Direction) -> None:
        grid = self.grid(direction.level)
        columns, rows = direction.step
        if columns == rows == 0 or abs(columns) >= grid.columns or abs(rows) >= grid.rows:
            raise ValueError(
                f"directions.{name}.step: {[columns, rows]} leads nowhere on {grid.columns}×{grid.rows}"
                f" {direction.level}s; change it or leave the direction out"
            )

    def grid(self, level: Level) -> Grid:
        """The rectangle in which a level's neighbours lie."""
        match level:
            case Level.PE:
                return self.pes
            case Level.CUBE:
                return self.cubes
            case Level.SIP:
                return Grid(columns=self.sips, rows=1)

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

    def ranks_apart(self, level: Level) -> int:
        """How far the ranks of neighbours in a level's row are from each other."""
        match level:
            case Level.PE:
                return 1
            case Level.CUBE:
                return self.pes.size
            case Level.SIP:
                return self.cubes.size * self.pes.size

    def peer(self, rank: int, direction: str) -> int | None:
        """The rank that a queue leads to, or None where the machine ends. KeyError: no such direction."""
        wire = self.directions[direction]
        grid, apart = self.grid(wire.level), self.ranks_apart(wire.level)
        index = rank // apart % grid.size
        neighbour = grid.neighbour(index, wire.step)
        return None if neighbour is None else rank + (neighbour - index) * apart
