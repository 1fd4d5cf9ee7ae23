"""Hazards that are alike, added up: one fate, one kind, handles of the same names."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...schemas.columns import Int32s, Int64s
from . import times
from .exact_sums import sums_by_place
from .fates import Fate
from .hazards import HazardIndex
from .index import TimelineIndex

KINDS_ROOM = 4
"""More than there are kinds of hazards."""

VERBS = {
    Fate.VIOLATED: "violated",
    Fate.POTENTIAL: "possible",
    Fate.HELD: "held",
    Fate.FREE: "held at no cost",
}


@dataclass(frozen=True, slots=True)
class HazardGroup:
    """Pairs alike: how many, their times together, and the row of the one that took longest."""

    fate: Fate
    count: int
    cost_ps: int
    worst: int


def hazard_groups(index: TimelineIndex, hazards: HazardIndex) -> tuple[HazardGroup, ...]:
    """Violated, potential, held, held at no cost; the costliest first within each. One pass over the
    table.
    """
    rows = hazards.by_weight
    if not len(rows):
        return ()
    table = hazards.table
    labels = len(index.timeline.trace.strings) + 1
    key = hazards.fates[rows].astype(np.int64) * KINDS_ROOM + table.kind[rows]
    for handles in (table.earlier_handle, table.later_handle):
        key = key * labels + _labels(index, table.pe[rows], handles[rows])
    _, first, group, counts = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    costs = sums_by_place(group, table.cost_ps[rows], len(first))
    worst, fate = rows[first], hazards.fates[rows[first]]
    order = np.lexsort((worst, -counts, -costs, fate))
    columns = (fate[order], counts[order], costs[order], worst[order])
    found = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(HazardGroup(Fate(one), *figures) for one, *figures in found)


def _labels(index: TimelineIndex, pes: Int32s, handles: Int32s) -> Int64s:
    """Per row the number of the handle's name and one, 0 for none."""
    trace = index.timeline.trace
    streams = np.array([pe.stream for pe in trace.pes], dtype=np.int64)[pes]
    found = np.zeros(len(handles), dtype=np.int64)
    for number in np.unique(streams).tolist():
        mine = np.flatnonzero((streams == number) & (handles >= 0))
        found[mine] = trace.streams[number].labels[handles[mine]] + 1
    return found


def groups_words(hazards: HazardIndex, groups: Sequence[HazardGroup]) -> list[str]:
    """A sentence each: `RAW on m: held 63 times, 31.01 µs in all, the longest 492.0 ns`, times alike."""
    worst = hazards.table.cost_ps[[group.worst for group in groups]].tolist()
    costs = [group.cost_ps for group in groups]
    told = times.alike([*costs, *worst])
    listed = zip(groups, told[: len(costs)], told[len(costs) :], strict=True)
    return [_words(hazards, *one) for one in listed]


def _words(hazards: HazardIndex, group: HazardGroup, in_all: str, longest: str) -> str:
    what = f"{hazards.kind(group.worst).value} on {hazards.handle_words(group.worst)}"
    count = "once" if group.count == 1 else f"{group.count:,} times"
    words = f"{what}: {VERBS[group.fate]} {count}"
    if not group.cost_ps:
        return words
    if group.count == 1:
        return f"{words}, {longest}"
    return f"{words}, {in_all} in all, the longest {longest}"
