"""What each engine waited for while it did nothing: every idle picosecond, by reason.

A gap of an engine ends with a stage. From that stage the cause edges lead back in time, and they
are followed to the beginning of the gap. What the chain was doing at a moment is why the engine was
idle at that moment: PE_CPU dispatching, or else the nearest edge (seen from the stage) that waits
for a resource: a hazard, a tile buffer, a credit, a command to finish. Where the chain stood in the
queue of another engine before any such edge, the reason is that engine; else it waited for data.
After its last stage an engine is done.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ...replay.analysis.critical_path import chain
from ...schemas.columns import Int32s, Int64s
from ...schemas.stages import StageKind, Why
from ...schemas.timeline import Timeline
from .index import TimelineIndex
from .occupancy import Occupancy, occupancy


class Idle(IntEnum):
    """Why an engine did nothing."""

    DATA = 0
    DISPATCH = 1
    HAZARD = 2
    BUFFER = 3
    CREDIT = 4
    MESSAGE = 5
    BLOCKED = 6
    QUEUE = 7
    ENGINE = 8
    DONE = 9


IDLE_WORDS = {
    Idle.DATA: "data",
    Idle.DISPATCH: "dispatch",
    Idle.HAZARD: "hazard",
    Idle.BUFFER: "buffer",
    Idle.CREDIT: "credit",
    Idle.MESSAGE: "message",
    Idle.BLOCKED: "command",
    Idle.QUEUE: "queue",
    Idle.ENGINE: "engine",
    Idle.DONE: "done",
}

RESOURCE = {
    Why.HAZARD: Idle.HAZARD,
    Why.BUFFER: Idle.BUFFER,
    Why.CREDIT: Idle.CREDIT,
    Why.MESSAGE: Idle.MESSAGE,
    Why.BLOCKED: Idle.BLOCKED,
    Why.WAITED: Idle.BLOCKED,
    Why.IN_FLIGHT: Idle.QUEUE,
    Why.SCHEDULER_QUEUE: Idle.QUEUE,
    Why.SEND_DEPTH: Idle.QUEUE,
}
"""The edges that wait for something other than data; every other edge is DATA until one is met."""

_UNDECIDED = -1
_IDLE_OF_WHY = np.array([RESOURCE.get(why, _UNDECIDED) for why in Why], dtype=np.int64)


_FEW = 64
"""Below so many gaps, their chains are followed one after the other instead of all together."""


@dataclass(frozen=True)
class Gaps:
    """Times in which an engine was idle: from `from_ps` until `stage` started. Parallel columns."""

    stage: Int32s
    from_ps: Int64s


def gaps_of(index: TimelineIndex, lanes: Iterable[int]) -> Gaps:
    """Every gap of the lanes between the launch and their last stages."""
    stages, starts = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    for number in lanes:
        lane = index.lane(number)
        before = np.concatenate((np.zeros(1, np.int64), lane.covered_ends))[: len(lane)]
        idle = lane.starts > before
        stages.append(lane.ids[idle])
        starts.append(before[idle])
    return Gaps(np.concatenate(stages), np.concatenate(starts))


def idle_by_reason(index: TimelineIndex, lanes: Iterable[int]) -> Int64s:
    """Idle ps of the lanes by reason, int64 [len(Idle)]: with their busy time, lanes × makespan."""
    numbers = [lane for lane in lanes if index.lanes.count(lane)]
    total = np.zeros(len(Idle), dtype=np.int64)

    def add_up(from_ps: Int64s, to_ps: Int64s, reason: Int64s) -> None:
        np.add.at(total, reason, to_ps - from_ps)

    _charge_gaps(index.timeline, gaps_of(index, numbers), add_up)
    for lane in numbers:
        total[Idle.DONE] += index.timeline.makespan_ps - int(index.lane(lane).covered_ends[-1])
    return total


def idle_parts(index: TimelineIndex, lane: int) -> dict[int, Occupancy]:
    """A lane's idle time as intervals by reason (Idle): with its busy time, the whole makespan."""
    pieces: list[tuple[Int64s, Int64s, Int64s]] = []
    _charge_gaps(index.timeline, gaps_of(index, [lane]), lambda *piece: pieces.append(piece))
    ended = index.lane(lane).covered_ends[-1:]
    done = np.full(len(ended), Idle.DONE, dtype=np.int64)
    pieces.append((ended, np.full(len(ended), index.timeline.makespan_ps, np.int64), done))
    from_ps, to_ps, reason = (np.concatenate(column) for column in zip(*pieces, strict=True))
    found = {}
    for idle in Idle:
        mine = (reason == idle) & (to_ps > from_ps)
        if mine.any():
            found[int(idle)] = occupancy(from_ps[mine], to_ps[mine])
    return found


Charge = Callable[[Int64s, Int64s, Int64s], None]
"""Takes pieces of idle time: from when, until when, for which reason."""


def _charge_gaps(timeline: Timeline, gaps: Gaps, charge: Charge) -> None:
    """Follows all chains together, a cause a round, until few have not passed their gap's beginning."""
    stage, from_ps = gaps.stage, gaps.from_ps
    reason = np.full(len(stage), _UNDECIDED)
    while len(stage) >= _FEW:
        reason = np.where(reason == _UNDECIDED, _waits_for(timeline, stage), reason)
        _charge(timeline, stage, from_ps, reason, charge)
        cause = timeline.cause[stage]
        going = (cause >= 0) & (timeline.start_ps[cause] > from_ps)
        stage, from_ps, reason = cause[going], from_ps[going], reason[going]
    for one, one_from, one_reason in zip(
        stage.tolist(), from_ps.tolist(), reason.tolist(), strict=True
    ):
        path = chain(timeline, one, one_from)
        reasons = _first_decided(one_reason, _waits_for(timeline, path))
        _charge(timeline, path, np.full(len(path), one_from), reasons, charge)


def _waits_for(timeline: Timeline, stage: Int32s | Int64s) -> Int64s:
    """The resource that each stage's cause edge waits for. A FINISH waits for its own command."""
    finishes = timeline.stages.kind[stage] == StageKind.FINISH
    return np.where(finishes, Idle.BLOCKED, _IDLE_OF_WHY[timeline.why[stage]])


def _first_decided(before: int, reasons: Int64s) -> Int64s:
    """Along a chain, the first reason that decides holds for all that follow."""
    decided = np.flatnonzero(reasons != _UNDECIDED)
    if before != _UNDECIDED:
        return np.full(len(reasons), before)
    first = int(decided[0]) if len(decided) else len(reasons)
    places = np.arange(len(reasons))
    return np.where(places < first, _UNDECIDED, reasons[min(first, len(reasons) - 1)])


def _charge(
    timeline: Timeline,
    stage: Int32s | Int64s,
    from_ps: Int64s,
    reason: Int64s,
    charge: Charge,
) -> None:
    """Charges the time before each stage back to its cause's start, no earlier than `from_ps`."""
    cause = timeline.cause[stage]
    queued = np.where(timeline.why[stage] == Why.ENGINE, Idle.ENGINE, Idle.DATA)
    settled = np.where(reason == _UNDECIDED, queued, reason)
    to_ps = timeline.start_ps[stage]
    has_cause = cause >= 0
    ended = np.where(has_cause, timeline.end_ps[cause], from_ps).clip(from_ps, to_ps)
    begun = np.where(has_cause, timeline.start_ps[cause], from_ps).clip(from_ps, ended)
    dispatching = timeline.stages.kind[cause] == StageKind.DISPATCH
    charge(ended, to_ps, settled)
    charge(begun, ended, np.where(dispatching, Idle.DISPATCH, settled))
