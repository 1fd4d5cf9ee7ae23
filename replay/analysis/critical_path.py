"""The critical path: from the stage that ended last back along the causes to the launch, and its time.

Every picosecond of the makespan belongs to one stage of the path: to the one whose start is the last
before it. What of that lies after the stage's end is latency. The path is a column of stage ids, the
last stage first.
"""

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Int32s, Int64s
from ...schemas.stages import Engine, Why
from ...schemas.timeline import Timeline

Key = TypeVar("Key")


def back(timeline: Timeline, stage: int, until_ps: int = -1) -> Iterator[int]:
    """The stage, its cause, that one's cause …, as long as they start after `until_ps`."""
    cause, start = timeline.cause.item, timeline.start_ps.item
    while stage >= 0 and start(stage) > until_ps:
        yield stage
        stage = cause(stage)


def critical_path(timeline: Timeline) -> Int64s:
    """The path's stages, the last one first; empty for an empty timeline.

    Of several stages that end last, the one with the least id begins it.
    """
    if not len(timeline.end_ps):
        return np.zeros(0, np.int64)
    # argmax would copy a column that is mapped from a file
    last = int((timeline.end_ps == timeline.makespan_ps).argmax())
    return np.fromiter(back(timeline, last), dtype=np.int64)


def spent_ps(timeline: Timeline, path: Int32s | Int64s) -> tuple[Int64s, Int64s]:
    """Per stage of the path, its time on it and the latency after it, int64 ps.

    Their sum and the path's first start are the makespan.
    """
    starts, ends = timeline.start_ps[path], timeline.end_ps[path]
    until = np.concatenate(([timeline.makespan_ps], starts[:-1]))[: len(path)]
    spent: Int64s = np.minimum(ends, until) - starts
    latency: Int64s = until - starts - spent
    return spent, latency


def time_by_engine(timeline: Timeline, path: Int32s | Int64s) -> dict[Engine | None, int]:
    """The makespan by engine of the path's stages, in ps; None is latency. Without zeros, largest first."""
    spent, latency = spent_ps(timeline, path)
    times = _added_up(timeline.stages.engine[path], spent, len(timeline.engines))
    found: dict[Engine | None, int] = dict(zip(timeline.engines, times, strict=True))
    found[None] = int(latency.sum()) + (int(timeline.start_ps[path[-1]]) if len(path) else 0)
    return _largest_first(found)


def time_by_why(timeline: Timeline, path: Int32s | Int64s) -> dict[Why, int]:
    """The makespan by what the path's stages waited for, in ps. Without zeros, largest first.

    A stage waited from its cause's start to its own. Why.NOTHING is the last stage's own time, and
    whatever came before the first.
    """
    starts, whys = timeline.start_ps[path], timeline.why[path]
    times = _added_up(whys[:-1], starts[:-1] - starts[1:], len(Why))
    found = dict(zip(Why, times, strict=True))
    if len(path):
        found[Why.NOTHING] += timeline.makespan_ps - int(starts[0]) + int(starts[-1])
    return _largest_first(found)


def _added_up(places: npt.NDArray[np.integer], times_ps: Int64s, count: int) -> list[int]:
    """Per place from 0 to `count` − 1, its times."""
    sums = np.zeros(count, dtype=np.int64)
    np.add.at(sums, places, times_ps)
    found: list[int] = sums.tolist()
    return found


def _largest_first(times_ps: dict[Key, int]) -> dict[Key, int]:
    kept = [(key, time_ps) for key, time_ps in times_ps.items() if time_ps > 0]
    return dict(sorted(kept, key=lambda entry: -entry[1]))
