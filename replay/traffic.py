"""What crossed each link, and how far reads and writes of HBM went. Knows no terminal.

Bytes add up: over all links they are, message by message and remote access by remote access, its
bytes times the links on its way. A message is on one link.
"""

from dataclasses import dataclass

import numpy as np

from ..schemas.columns import Bools, Int64s
from ..schemas.stages import Block, StageKind
from ..schemas.timeline import Timeline


@dataclass(frozen=True, slots=True)
class LinkUse:
    """One directed link: what crossed it in how many transfers, and for how long it was taken.

    `utilisation` is busy time over makespan, 0 to 1.
    """

    bytes: int
    transfers: int
    busy_ps: int
    utilisation: float


@dataclass(frozen=True, slots=True)
class Accesses:
    """Reads or writes of HBM that other PEs own: how many there are, and their bytes."""

    count: int
    bytes: int


def link_uses(timeline: Timeline) -> dict[str, LinkUse]:
    """Per link that something crossed (`cube.0>1`), in the order of the engines. In a timeline that
    stopped in a deadlock there may be others, that nothing reached.
    """
    links = [n for n, engine in enumerate(timeline.engines) if engine.block is Block.NOC]
    if not links:
        return {}
    stages = np.flatnonzero(timeline.stages.kind == StageKind.LINK)
    engine, count = timeline.stages.engine[stages], len(timeline.engines)
    lasting = timeline.end_ps[stages] - timeline.start_ps[stages]
    moved, busy = _sums(engine, stage_bytes(timeline, stages), count), _sums(engine, lasting, count)
    transfers = np.bincount(engine, minlength=count)
    makespan = timeline.makespan_ps or 1
    return {
        timeline.engines[link].channel: LinkUse(
            int(moved[link]),
            int(transfers[link]),
            int(busy[link]),
            round(int(busy[link]) / makespan, 6),
        )
        for link in links
        if transfers[link]
    }


def remote_reads(timeline: Timeline) -> Accesses:
    """Reads from other PEs' HBM."""
    return _away(timeline, StageKind.HBM_READ)


def remote_writes(timeline: Timeline) -> Accesses:
    """Writes to other PEs' HBM."""
    return _away(timeline, StageKind.HBM_WRITE)


def stage_bytes(timeline: Timeline, stages: Int64s) -> Int64s:
    """The quantities of stages that move bytes."""
    quantity = np.array([each.quantity for each in timeline.duration_classes], dtype=np.int64)
    moved: Int64s = quantity[timeline.stages.duration_class[stages]]
    return moved


def is_away(timeline: Timeline, stages: Int64s) -> Bools:
    """Per stage, whether it runs on an engine of another PE than its command's."""
    owners = np.array([engine.rank for engine in timeline.engines], dtype=np.int64)
    ranks = np.array([pe.rank for pe in timeline.trace.pes], dtype=np.int64)
    owner = owners[timeline.stages.engine[stages]]
    away: Bools = (owner >= 0) & (owner != ranks[timeline.stages.pe[stages]])
    return away


def _away(timeline: Timeline, kind: StageKind) -> Accesses:
    if all(owner == pe.rank for pe in timeline.trace.pes for owner in pe.owners):
        return Accesses(0, 0)
    stages = np.flatnonzero(timeline.stages.kind == kind)
    away = stages[is_away(timeline, stages)]
    return Accesses(len(away), int(stage_bytes(timeline, away).sum()))


def _sums(groups: np.ndarray[tuple[int], np.dtype[np.int32]], values: Int64s, count: int) -> Int64s:
    sums = np.zeros(count, dtype=np.int64)
    np.add.at(sums, groups, values)
    return sums
