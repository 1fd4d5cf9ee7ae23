"""The critical path: from the stage that ended last back along the causes to the launch, and its time.

Every picosecond of the makespan belongs to one stage of the path: to the one whose start is the last
before it. What of that lies after the stage's end is latency. The path is a column of stage ids, the
last stage first.
"""

from itertools import pairwise
from typing import TypeVar

import numpy as np

from ...schemas.columns import Int64s
from ...schemas.stages import Engine, Why
from ...schemas.timeline import Timeline

Key = TypeVar("Key")


def chain(timeline: Timeline, stage: int, until_ps: int = -1) -> Int64s:
    """The stage, its cause, that one's cause …, as long as they start after `until_ps`: int64."""
    cause, start = timeline.cause.item, timeline.start_ps.item
    found = []
    while stage >= 0 and start(stage) > until_ps:
        found.append(stage)
        stage = cause(stage)
    return np.array(found, dtype=np.int64)


def critical_path(timeline: Timeline) -> Int64s:
    """The path's stages, the last one first; empty for an empty timeline.

    Of several stages that end last, the one with the least id begins it.
    """
    if not len(timeline.end_ps):
        return np.zeros(0, np.int64)
    return chain(timeline, int(timeline.end_ps.argmax()))


def spent_ps(timeline: Timeline, path: Int64s) -> tuple[Int64s, Int64s]:
    """Per stage of the path, its time on it and the latency after it, int64 ps.

    Their sum and the path's first start are the makespan.
    """
    starts, ends = timeline.start_ps[path], timeline.end_ps[path]
    until = np.concatenate(([timeline.makespan_ps], starts[:-1]))[: len(path)]
    spent: Int64s = np.minimum(ends, until) - starts
    latency: Int64s = until - starts - spent
    return spent, latency


def time_by_engine(timeline: Timeline, path: Int64s) -> dict[Engine | None, int]:
    """The makespan by engine of the path's stages, in ps; None is latency. Without zeros, largest first."""
    spent, latency = spent_ps(timeline, path)
    engine = timeline.stages.engine[path]
    found: dict[Engine | None, int] = {
        timeline.engines[number]: int(spent[engine == number].sum())
        for number in np.unique(engine).tolist()
    }
    found[None] = int(latency.sum()) + (int(timeline.start_ps[path[-1]]) if len(path) else 0)
    return _largest_first(found)


def time_by_why(timeline: Timeline, path: Int64s) -> dict[Why, int]:
    """The makespan by what the path's stages waited for, in ps. Without zeros, largest first.

    A stage waited from its cause's start to its own. Why.NOTHING is the last stage's own time, and
    whatever came before the first.
    """
    found = dict.fromkeys(Why, 0)
    starts = timeline.start_ps[path].tolist()
    whys = timeline.why[path].tolist()
    for (start, before), why in zip(pairwise(starts), whys, strict=False):
        found[Why(why)] += start - before
    if starts:
        found[Why.NOTHING] += timeline.makespan_ps - starts[0] + starts[-1]
    return _largest_first(found)


def _largest_first(times_ps: dict[Key, int]) -> dict[Key, int]:
    kept = [(key, time_ps) for key, time_ps in times_ps.items() if time_ps > 0]
    return dict(sorted(kept, key=lambda entry: -entry[1]))
