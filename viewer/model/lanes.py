"""Lanes: one per engine, each with its stages in the order of their starts. Built when first shown."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...schemas.columns import Int32s, Int64s, offsets_of
from ...schemas.stages import Block, Engine
from ...schemas.timeline import Timeline
from .occupancy import Occupancy
from .tones import PAINT_OF_KIND

BLOCK_TITLES = {
    Block.PE_CPU: "CPU",
    Block.PE_SCHEDULER: "SCHED",
    Block.HBM: "HBM",
    Block.PE_DMA: "DMA",
    Block.PE_TCM: "TCM",
    Block.PE_GEMM: "GEMM",
    Block.PE_MATH: "MATH",
    Block.PE_IPCQ: "IPCQ",
    Block.NOC: "NOC",
}

LANE_ORDER = (
    (Block.PE_CPU, ""),
    (Block.PE_SCHEDULER, ""),
    (Block.HBM, ""),
    (Block.PE_DMA, "read"),
    (Block.PE_TCM, ""),
    (Block.PE_GEMM, ""),
    (Block.PE_MATH, ""),
    (Block.PE_DMA, "write"),
)
"""The lanes of a PE from top to bottom, along the way of the data; any other follows by its name."""


def engine_title(engine: Engine) -> str:
    """The lane's name: `CPU`, `DMA read`."""
    return f"{BLOCK_TITLES[engine.block]} {engine.channel}".rstrip()


def lane_rank(engine: Engine) -> tuple[int, str]:
    """Sorts the lanes of a PE."""
    place = (engine.block, engine.channel)
    return (LANE_ORDER.index(place) if place in LANE_ORDER else len(LANE_ORDER), engine.title)


@dataclass(frozen=True)
class Lane:
    """The stages of one engine in the order (start, stage id).

    `ids`, `starts`, `ends` and `paints` are parallel. `covered[i]` is the latest end of the stages
    before i (or i's start, where that is later): an engine that does not arbitrate may run several
    stages at once, and `covered` to `covered_ends` counts their common time once.
    """

    ids: Int32s
    starts: Int64s
    ends: Int64s
    paints: np.ndarray[tuple[int], np.dtype[np.int16]]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def covered_ends(self) -> Int64s:
        """The latest end so far, per stage: sorted."""
        return np.maximum.accumulate(self.ends)

    @cached_property
    def covered(self) -> Int64s:
        """Where each stage begins to cover time that no earlier one covers: sorted."""
        if not len(self):
            return self.starts
        before = np.concatenate((self.starts[:1], self.covered_ends[:-1]))
        return np.maximum(self.starts, before)

    @cached_property
    def parts(self) -> dict[int, Occupancy]:
        """Per paint, the time its stages cover; together, each time once."""
        present = np.unique(self.paints)
        if len(present) == 1:
            return {int(present[0]): Occupancy(self.covered, self.covered_ends)}
        chosen = {int(paint): self.paints == paint for paint in present}
        return {
            paint: Occupancy(self.covered[mask], self.covered_ends[mask])
            for paint, mask in chosen.items()
        }

    def position(self, stage: int, start_ps: int) -> int:
        """Where a stage of that id and start is, or would be inserted."""
        first = int(np.searchsorted(self.starts, start_ps))
        past = int(np.searchsorted(self.starts, start_ps, side="right"))
        return first + int(np.searchsorted(self.ids[first:past], stage))

    def nearest(self, time_ps: int) -> int:
        """The position of the stage that runs at a time, or else the closest one. Not for an empty lane."""
        after = int(np.searchsorted(self.starts, time_ps, side="right"))
        before = max(after - 1, 0)
        if after == len(self) or self.ends[before] > time_ps:
            return before
        gap_before = abs(time_ps - int(self.ends[before]))
        return before if gap_before <= int(self.starts[after]) - time_ps else after


class Lanes:
    """All lanes of a timeline. A lane's number is its engine's; `lane(i)` is built once, on demand."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._built: dict[int, Lane] = {}

    def __len__(self) -> int:
        return len(self._timeline.engines)

    @cached_property
    def _by_engine(self) -> tuple[Int32s, Int64s]:
        """Stage ids grouped by engine (ids ascending within), and where each group starts."""
        engine = np.asarray(self._timeline.stages.engine)
        narrow = engine.astype(np.int16) if len(self) < 1 << 15 else engine
        order = np.argsort(narrow, kind="stable").astype(np.int32)
        return order, offsets_of(np.bincount(engine, minlength=len(self)))

    def count(self, lane: int) -> int:
        """How many stages a lane has."""
        offsets = self._by_engine[1]
        return int(offsets[lane + 1] - offsets[lane])

    def lane(self, lane: int) -> Lane:
        """The lane of that number."""
        if lane not in self._built:
            self._built[lane] = self._build(lane)
        return self._built[lane]

    def _build(self, lane: int) -> Lane:
        order, offsets = self._by_engine
        ids = order[offsets[lane] : offsets[lane + 1]]
        starts = self._timeline.start_ps[ids]
        by_start = np.argsort(starts, kind="stable")
        ids = ids[by_start]
        paints = PAINT_OF_KIND[self._timeline.stages.kind[ids]]
        return Lane(ids, starts[by_start], self._timeline.end_ps[ids], paints)
