"""What each engine waited for while it did nothing: every idle picosecond, by reason.

A gap of an engine ends with a stage. From that stage the cause edges lead back in time, and they
are followed to the beginning of the gap. What the chain was doing at a moment is why the engine was
idle at that moment: PE_CPU dispatching, or else the nearest edge (seen from the stage) that waits
for a resource: a hazard, a tile buffer, a credit, a command to finish. Where the chain stood in the
queue of another engine before any such edge, the reason is that engine; else it waited for data.
After its last stage an engine is done; where the run stopped before its next one, it waits for ever.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice

import numpy as np

from ...replay.analysis.critical_path import back
from ...schemas.columns import Int8s, Int32s, Int64s
from ...schemas.stages import StageKind, Why
from ...schemas.timeline import Timeline
from .depth import Covering, Depth
from .exact_sums import sums_by_place
from .forever import waiting_lanes
from .index import TimelineIndex
from .lanes import Run


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
    EVER = 9
    DONE = 10


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
    Idle.EVER: "for ever",
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
_IDLE_OF_WHY = np.array([RESOURCE.get(why, _UNDECIDED) for why in Why], dtype=np.int8)
_QUEUED_OF_WHY = np.where(np.arange(len(Why)) == Why.ENGINE, Idle.ENGINE, Idle.DATA).astype(np.int8)
_BLOCKED, _DISPATCH = np.int8(Idle.BLOCKED), np.int8(Idle.DISPATCH)

_FEW = 64
"""Below so many gaps, their chains are followed one after the other instead of all together."""


GAPS_AT_ONCE = 1 << 16
"""So many are followed together, or steps of one, so that little memory is needed for all."""


@dataclass(frozen=True)
class Gaps:
    """Times in which an engine was idle, each followed back from the stage that ended it.

    Parallel columns: the stage that the chain has come to, where the gap began, the reason that was
    decided on the way (or _UNDECIDED), and an `owner` to charge it to.
    """

    stage: Int32s
    from_ps: Int64s
    reason: Int8s
    owner: Int32s

    def __len__(self) -> int:
        return len(self.stage)


_NO_GAPS = Gaps(
    np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int8), np.zeros(0, np.int32)
)

Charge = Callable[[Int32s, Int64s, Int64s, Int8s], None]
"""Takes pieces of idle time: whose, from when, until when, for which reason."""


def gaps_of(run: Run, owner: int = 0) -> Gaps:
    """Every gap of some lanes between the launch and their last stages."""
    before = np.concatenate((np.zeros(1, np.int64), run.covered_ends[:-1]))
    before[run.offsets[:-1]] = 0
    idle = run.covered > before
    count = int(np.count_nonzero(idle))
    undecided = np.full(count, _UNDECIDED, np.int8)
    return Gaps(run.ids[idle], before[idle], undecided, np.full(count, owner, np.int32))


def idle_by_reason(index: TimelineIndex, lanes: Sequence[Iterable[int]]) -> Int64s:
    """Idle ps by reason of some groups of lanes, int64 [groups, len(Idle)]: with their busy time,
    lanes × makespan.
    """
    total = np.zeros((len(lanes), len(Idle)), dtype=np.int64)

    def add_up(owner: Int32s, from_ps: Int64s, to_ps: Int64s, reason: Int8s) -> None:
        place = owner * len(Idle) + reason
        total.ravel()[:] += sums_by_place(place, to_ps - from_ps, total.size)

    rest = _NO_GAPS
    for owner, mine in enumerate(lanes):
        for run in index.lanes.runs(mine):
            left = _follow_some_by_some(index.timeline, gaps_of(run, owner), add_up)
            rest = _joined(rest, left)
            ended = index.timeline.makespan_ps - run.covered_ends[run.offsets[1:] - 1]
            reasons = _at_the_end(index, run)
            total[owner, Idle.DONE] += int(ended[reasons == Idle.DONE].sum())
            total[owner, Idle.EVER] += int(ended[reasons == Idle.EVER].sum())
    _follow_to_the_end(index.timeline, rest, add_up)
    return total


def _joined(one: Gaps, other: Gaps) -> Gaps:
    return Gaps(
        np.concatenate((one.stage, other.stage)),
        np.concatenate((one.from_ps, other.from_ps)),
        np.concatenate((one.reason, other.reason)),
        np.concatenate((one.owner, other.owner)),
    )


def idle_parts(index: TimelineIndex, lanes: Iterable[int]) -> dict[int, Depth]:
    """How many of some lanes are idle at each moment, by reason (Idle): with their busy time, lanes ×
    makespan.
    """
    parts: dict[int, Covering] = {idle: Covering() for idle in Idle}

    def keep(_: Int32s, from_ps: Int64s, to_ps: Int64s, reason: Int8s) -> None:
        lasts = to_ps > from_ps
        for idle in np.unique(reason[lasts]).tolist():
            mine = lasts & (reason == idle)
            parts[idle].add(from_ps[mine], to_ps[mine])

    for run in index.lanes.runs(lanes):
        left = _follow_some_by_some(index.timeline, gaps_of(run), keep)
        _follow_to_the_end(index.timeline, left, keep)
        ended = run.covered_ends[run.offsets[1:] - 1]
        until = np.full(len(ended), index.timeline.makespan_ps, np.int64)
        keep(np.zeros(0, np.int32), ended, until, _at_the_end(index, run))
    known = {idle: part.depth() for idle, part in parts.items()}
    return {idle: depth for idle, depth in known.items() if len(depth)}


def _at_the_end(index: TimelineIndex, run: Run) -> Int8s:
    """Per lane, why it does nothing after its last stage."""
    waits = waiting_lanes(index)[run.lanes]
    return np.where(waits, np.int8(Idle.EVER), np.int8(Idle.DONE))


def _follow_some_by_some(timeline: Timeline, gaps: Gaps, charge: Charge) -> Gaps:
    """As _follow, GAPS_AT_ONCE at a time."""
    rest = _NO_GAPS
    for first in range(0, len(gaps), GAPS_AT_ONCE):
        rest = _joined(rest, _follow(timeline, _part(gaps, first), charge))
    return rest


def _part(gaps: Gaps, first: int) -> Gaps:
    some = slice(first, first + GAPS_AT_ONCE)
    return Gaps(gaps.stage[some], gaps.from_ps[some], gaps.reason[some], gaps.owner[some])


def _follow(timeline: Timeline, gaps: Gaps, charge: Charge) -> Gaps:
    """Follows all chains together, a cause a round; returns the few that have not passed their gap's
    beginning when that is no longer worth it.
    """
    while len(gaps) >= _FEW:
        gaps = _step(timeline, gaps, charge)
    return gaps


def _step(timeline: Timeline, gaps: Gaps, charge: Charge) -> Gaps:
    """Charges the time before each stage back to its cause's start, and steps to the causes."""
    reason = np.where(gaps.reason == _UNDECIDED, _waits_for(timeline, gaps.stage), gaps.reason)
    cause, begun = _charge(timeline, gaps, reason, charge)
    going = np.flatnonzero(begun > gaps.from_ps)
    return Gaps(cause[going], gaps.from_ps[going], reason[going], gaps.owner[going])


def _follow_to_the_end(timeline: Timeline, gaps: Gaps, charge: Charge) -> None:
    """Follows the chains, the last few one after the other."""
    gaps = _follow(timeline, gaps, charge)
    columns = (gaps.stage, gaps.from_ps, gaps.reason, gaps.owner)
    for stage, from_ps, before, owner in zip(*(c.tolist() for c in columns), strict=True):
        _follow_one(timeline, stage, from_ps, before, owner, charge)


def _follow_one(
    timeline: Timeline, stage: int, from_ps: int, before: int, owner: int, charge: Charge
) -> None:
    chain = back(timeline, stage, from_ps)
    while len(path := np.fromiter(islice(chain, GAPS_AT_ONCE), dtype=np.int32)):
        reason = _first_decided(before, _waits_for(timeline, path))
        alike = np.full(len(path), from_ps, np.int64), np.full(len(path), owner, np.int32)
        _charge(timeline, Gaps(path, alike[0], reason, alike[1]), reason, charge)
        before = int(reason[-1])


def _waits_for(timeline: Timeline, stage: Int32s) -> Int8s:
    """The resource that each stage's cause edge waits for. A FINISH waits for its own command."""
    finishes = timeline.stages.kind[stage] == StageKind.FINISH
    return np.where(finishes, _BLOCKED, _IDLE_OF_WHY[timeline.why[stage]])


def _first_decided(before: int, reasons: Int8s) -> Int8s:
    """Along a chain, the first reason that decides holds for all that follow."""
    decided = np.flatnonzero(reasons != _UNDECIDED)
    if before != _UNDECIDED:
        return np.full(len(reasons), before, np.int8)
    first = int(decided[0]) if len(decided) else len(reasons)
    settled = reasons.copy()
    settled[first:] = reasons[min(first, len(reasons) - 1)]
    return settled


def _charge(timeline: Timeline, gaps: Gaps, reason: Int8s, charge: Charge) -> tuple[Int32s, Int64s]:
    """Charges the time before each stage back to its cause's start, no earlier than the gap's
    beginning, to its reason, and what PE_CPU dispatched of it to that. Returns the causes, and where
    they started.
    """
    stage, from_ps = gaps.stage, gaps.from_ps
    cause, to_ps = timeline.cause[stage], timeline.start_ps[stage]
    settled = np.where(reason == _UNDECIDED, _QUEUED_OF_WHY[timeline.why[stage]], reason)
    begun = np.where(cause >= 0, timeline.start_ps[cause], from_ps)
    since = np.minimum(np.maximum(begun, from_ps), to_ps)
    dispatching = np.flatnonzero(timeline.stages.kind[cause] == StageKind.DISPATCH)
    if len(dispatching):
        first = since[dispatching]
        ended = np.where(cause[dispatching] >= 0, timeline.end_ps[cause[dispatching]], first)
        ended = np.minimum(np.maximum(ended, first), to_ps[dispatching])
        since[dispatching] = ended
        charge(gaps.owner[dispatching], first, ended, np.full(len(first), _DISPATCH))
    charge(gaps.owner, since, to_ps, settled)
    return cause, begun
