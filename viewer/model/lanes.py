"""All lanes of a timeline, one per engine: the stages sorted once, a lane's columns gathered when shown."""

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ...schemas.columns import Int32s, Int64s, offsets_of
from ...schemas.stages import Block, Engine
from ...schemas.timeline import Timeline
from .lane import Lane
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

STAGES_A_RUN = 1 << 18
"""So many stages at a time (or one whole lane) are gathered where all are gone through."""

MAX_KEY = 1 << 62


def engine_title(engine: Engine) -> str:
    """The lane's name: `CPU`, `DMA read`."""
    return f"{BLOCK_TITLES[engine.block]} {engine.channel}".rstrip()


def link_level(engine: Engine) -> str:
    """Which level's link an engine that PEs share is: `cube` of `cube.0>1`; '' for a PE's own engine."""
    level, dot, _ = engine.channel.partition(".")
    return level if engine.rank < 0 and dot else ""


def use_title(engine: Engine) -> str:
    """The name of all engines alike, where those of a machine are added up: links by their level."""
    level = link_level(engine)
    return f"{BLOCK_TITLES[engine.block]} {level}" if level else engine_title(engine)


def lane_rank(engine: Engine) -> tuple[int, str]:
    """Sorts the lanes of a PE."""
    place = (engine.block, engine.channel)
    return (LANE_ORDER.index(place) if place in LANE_ORDER else len(LANE_ORDER), engine.title)


@dataclass(frozen=True)
class Run:
    """Some lanes one after the other, none of them empty: their numbers, where each begins (`offsets`,
    one more at the end), and per stage its id and the time that it covers first (see Lane). A stage that
    begins and ends while others run, and so covers none, is left out.
    """

    lanes: Int64s
    offsets: Int64s
    ids: Int32s
    covered: Int64s
    covered_ends: Int64s

    @property
    def busy_ps(self) -> Int64s:
        """Per lane, the time that its stages cover, each instant once."""
        lengths = self.covered_ends - self.covered
        return np.add.reduceat(lengths, self.offsets[:-1]) if len(lengths) else lengths


class Lanes:
    """All lanes of a timeline. A lane's number is its engine's; `lane(i)` is built once, on demand."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._built: dict[int, Lane] = {}
        self._sorting = threading.Lock()
        self._sorted: tuple[Int32s, Int64s] | None = None

    def __len__(self) -> int:
        return len(self._timeline.engines)

    def sorted(self) -> tuple[Int32s, Int64s]:
        """Stage ids in the order (engine, start, id), and where each engine's begin. Sorted once."""
        with self._sorting:
            if self._sorted is None:
                self._sorted = self._sort()
            return self._sorted

    def _sort(self) -> tuple[Int32s, Int64s]:
        """By engine first; then a few lanes at a time by lane · span + start, which mostly are sorted."""
        engine = np.asarray(self._timeline.stages.engine)
        narrow = engine.astype(np.int16) if len(self) < 1 << 15 else engine
        order = np.argsort(narrow, kind="stable").astype(np.int32)
        offsets = offsets_of(np.bincount(engine, minlength=len(self)))
        for lanes in self._batches(np.arange(len(self)), offsets):
            part = order[offsets[lanes[0]] : offsets[lanes[-1] + 1]]
            counts = offsets[lanes + 1] - offsets[lanes]
            keys = self._bases(counts) + self._timeline.start_ps[part]
            if (keys[1:] < keys[:-1]).any():
                part[:] = part[np.argsort(keys, kind="stable")]
        return order, offsets

    @property
    def _span_ps(self) -> int:
        return self._timeline.makespan_ps + 1

    def _bases(self, counts: Int64s) -> Int64s:
        """Per stage of some lanes, a time of its own for its lane to begin at: place of the lane · span."""
        return np.repeat(np.arange(len(counts)) * self._span_ps, counts)

    def _batches(self, lanes: Int64s, offsets: Int64s) -> Iterator[Int64s]:
        """The lanes, a few at a time: few enough stages, and keys that fit into 64 bits."""
        most, past = (
            max(MAX_KEY // self._span_ps, 1),
            offsets_of(offsets[lanes + 1] - offsets[lanes]),
        )
        first = 0
        while first < len(lanes):
            fitting = int(past.searchsorted(past[first] + STAGES_A_RUN, side="right")) - 1
            until = max(min(fitting, first + most), first + 1)
            yield lanes[first:until]
            first = until

    def count(self, lane: int) -> int:
        """How many stages a lane has."""
        offsets = self.sorted()[1]
        return int(offsets[lane + 1] - offsets[lane])

    def lane(self, lane: int) -> Lane:
        """The lane of that number."""
        if lane not in self._built:
            self._built[lane] = self._build(lane)
        return self._built[lane]

    def _build(self, lane: int) -> Lane:
        order, offsets = self.sorted()
        ids = order[offsets[lane] : offsets[lane + 1]]
        paints = PAINT_OF_KIND[self._timeline.stages.kind[ids]]
        return Lane(ids, self._timeline.start_ps[ids], self._timeline.end_ps[ids], paints)

    def runs(self, lanes: Iterable[int]) -> Iterator[Run]:
        """The lanes that have stages, a few at a time, so that little memory is needed for all."""
        offsets = self.sorted()[1]
        wanted = np.array([*lanes], dtype=np.int64)
        wanted = wanted[offsets[wanted + 1] > offsets[wanted]]
        for some in self._batches(wanted, offsets):
            yield self._run(some)

    def _run(self, lanes: Int64s) -> Run:
        order, offsets = self.sorted()
        first, past = offsets[lanes], offsets[lanes + 1]
        pieces = zip(first.tolist(), past.tolist(), strict=True)
        ids = np.concatenate([order[begin:end] for begin, end in pieces])
        base = self._bases(past - first)
        starts, ends = base + self._timeline.start_ps[ids], base + self._timeline.end_ps[ids]
        whole = Run(lanes, offsets_of(past - first), ids, starts - base, ends - base)
        if not (starts[1:] < ends[:-1]).any():
            return whole
        ends = np.maximum.accumulate(ends)
        covered = np.maximum(starts, np.concatenate((starts[:1], ends[:-1])))
        seen = (covered == starts) | (covered < ends)
        counts = np.add.reduceat(seen.astype(np.int64), whole.offsets[:-1])
        covered, ends = (covered - base)[seen], (ends - base)[seen]
        return Run(lanes, offsets_of(counts), ids[seen], covered, ends)
