"""The whole timeline in numbers: each kind of engine's busy and idle time, and the critical path."""

from dataclasses import dataclass

import numpy as np

from ...replay.analysis.critical_path import critical_path, spent_ps
from ...schemas.columns import Int64s
from ...schemas.stages import Block
from .idleness import idle_by_reason
from .index import NO_STAGE, TimelineIndex
from .lanes import lane_rank, use_title
from .tones import Paint

LATENCY = "latency"
"""What the critical path spends between stages."""


@dataclass(frozen=True, slots=True)
class EngineUse:
    """All engines of one title, over all PEs: the lanes' numbers, and how long they were busy, and
    idle by Idle. Together that is lanes × makespan.
    """

    title: str
    paint: int
    lanes: tuple[int, ...]
    busy_ps: int
    idle_ps: tuple[int, ...]

    @property
    def all_ps(self) -> int:
        return self.busy_ps + sum(self.idle_ps)


@dataclass(frozen=True, slots=True)
class PathShare:
    """How much of the makespan the critical path spent on one kind of engine, or in latency, and the
    first of its stages on which it spent most (NO_STAGE for latency).
    """

    title: str
    paint: int
    time_ps: int
    stage: int = NO_STAGE


@dataclass(frozen=True, slots=True)
class PathSummary:
    """The critical path: its parts, largest first, and its number of stages."""

    shares: tuple[PathShare, ...]
    stages: int


def path_summary_of(index: TimelineIndex) -> PathSummary:
    """The timeline's, added up once; a few hundredths of a second."""
    return index.once("path summary", lambda: _path_summary(index))


def _path_summary(index: TimelineIndex) -> PathSummary:
    path = critical_path(index.timeline)
    return PathSummary(path_shares(index, path), len(path))


def engine_uses_of(index: TimelineIndex) -> tuple[EngineUse, ...]:
    """The timeline's, added up once; a second or two for seven million stages."""
    return index.once("engine uses", lambda: engine_uses(index))


def engine_uses(index: TimelineIndex) -> tuple[EngineUse, ...]:
    """Per kind of engine that ever worked, in the order of the lanes; PE_SCHEDULER only decides."""
    groups: dict[str, list[int]] = {}
    for lane in sorted(range(len(index.lanes)), key=lambda i: lane_rank(index.timeline.engines[i])):
        engine = index.timeline.engines[lane]
        if index.lanes.count(lane) and engine.block is not Block.PE_SCHEDULER:
            groups.setdefault(use_title(engine), []).append(lane)
    idle_ps = idle_by_reason(index, [*groups.values()])
    uses = zip(groups.items(), idle_ps.tolist(), strict=True)
    return tuple(_use(index, title, lanes, tuple(idle)) for (title, lanes), idle in uses)


def _use(index: TimelineIndex, title: str, lanes: list[int], idle_ps: tuple[int, ...]) -> EngineUse:
    busy_ps = len(lanes) * index.timeline.makespan_ps - sum(idle_ps)
    return EngineUse(title, index.lane(lanes[0]).main_paint, tuple(lanes), busy_ps, idle_ps)


def path_shares(index: TimelineIndex, path: Int64s) -> tuple[PathShare, ...]:
    """The makespan by kind of engine along the critical path, largest first.

    Every picosecond from the launch to the makespan is counted once: on a stage of the path while
    it ran and its successor had not started, else as latency.
    """
    spent, _ = spent_ps(index.timeline, path)
    lanes = index.timeline.stages.engine[path]
    titles = [use_title(index.timeline.engines[lane]) for lane in np.unique(lanes).tolist()]
    places = {title: place for place, title in enumerate(dict.fromkeys(titles))}
    of_lane = dict(zip(np.unique(lanes).tolist(), (places[title] for title in titles), strict=True))
    mine = np.array([of_lane[lane] for lane in lanes.tolist()], dtype=np.int64)
    found = [
        _share(index, title, path[mine == at], spent[mine == at]) for title, at in places.items()
    ]
    latency = index.timeline.makespan_ps - int(spent.sum())
    found = [*found, PathShare(LATENCY, Paint.MUTED, latency)]
    found = [share for share in found if share.time_ps > 0]
    return tuple(sorted(found, key=lambda share: (-share.time_ps, share.title)))


def _share(index: TimelineIndex, title: str, stages: Int64s, spent: Int64s) -> PathShare:
    longest = int(stages[::-1][spent[::-1].argmax()])
    paint = index.lane(index.lane_of(longest)).main_paint
    return PathShare(title, paint, int(spent.sum()), longest)
