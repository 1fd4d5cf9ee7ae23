"""A replay in a few numbers: what `replay --json` prints and sweeps record. Knows no terminal."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..schemas.columns import Int64s
from ..schemas.hazards import Outcome
from ..schemas.stages import Engine, StageKind
from ..schemas.timeline import Timeline
from ..schemas.trace_facts import commands_by_kind
from .hazards.shared import shared_tensors
from .traffic import link_uses, remote_reads, remote_writes


@dataclass(frozen=True, slots=True)
class BlockUse:
    """One kind of hardware block, summed over the launched PEs.

    `utilisation` is busy time over makespan times the number of such engines, 0 to 1.
    """

    busy_ps: int
    utilisation: float


def block_uses(timeline: Timeline) -> dict[str, BlockUse]:
    """Per kind of block that the machine model has, how long all its engines worked."""
    return _uses(timeline, lambda engine: str(engine.block))


def channel_uses(timeline: Timeline) -> dict[str, BlockUse]:
    """The same for each channel of a block (pe_dma.read, pe_dma.write); all links are one, `noc`, and
    traffic.link_uses tells them apart.
    """
    return _uses(timeline, lambda engine: engine.title if engine.rank >= 0 else str(engine.block))


def _uses(timeline: Timeline, name_of: Callable[[Engine], str]) -> dict[str, BlockUse]:
    lasting = timeline.end_ps - timeline.start_ps
    busy = np.zeros(len(timeline.engines), dtype=np.int64)
    np.add.at(busy, timeline.stages.engine, lasting)
    engines_of: dict[str, list[int]] = {}
    for number, engine in enumerate(timeline.engines):
        engines_of.setdefault(name_of(engine), []).append(number)
    uses = {}
    for name, engines in engines_of.items():
        busy_ps = int(busy[engines].sum())
        available_ps = timeline.makespan_ps * len(engines)
        uses[name] = BlockUse(busy_ps, round(busy_ps / available_ps, 6) if available_ps else 0.0)
    return uses


def dispatch_ps(timeline: Timeline) -> int:
    """The time all PE_CPUs spend dispatching, overhead commands included."""
    return _sum_of(timeline, StageKind.DISPATCH)


def dma_reads(timeline: Timeline) -> tuple[int, int]:
    """How many DMA reads there are (loads included), and their bytes."""
    reads = timeline.stages.kind == StageKind.DMA_READ
    quantity = np.array([d.quantity for d in timeline.duration_classes], dtype=np.int64)
    return int(reads.sum()), int(quantity[timeline.stages.duration_class[reads]].sum())


def hazard_totals(timeline: Timeline) -> dict[str, int]:
    """Pairs held, the time they were held, and pairs that went wrong, of a replay that ended."""
    hazards = timeline.hazards
    held = hazards.outcome == Outcome.HELD
    return {
        "held": int(held.sum()),
        "held_ps": _exact_sum(hazards.cost_ps[held]),
        "violations": hazards.count(Outcome.VIOLATED),
    }


def _exact_sum(times_ps: Int64s) -> int:
    """Of times of which several may run at once, so that their sum can pass 2^63."""
    high, low = times_ps >> 32, times_ps & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())


NOT_EVALUATED = {"held": None, "held_ps": None, "violations": None}
"""The hazards of a replay that stopped: what had not happened yet may still have gone wrong."""


def summary(timeline: Timeline, *, trace: str, runner: str, op_log_sha256: str) -> dict[str, Any]:
    """The object that `replay --json` prints. Keys are stable (docs/model.md lists them)."""
    reads, read_bytes = dma_reads(timeline)
    far_reads, far_writes = remote_reads(timeline), remote_writes(timeline)
    ended = timeline.deadlock is None
    return {
        "status": str(timeline.status),
        "trace": trace,
        "topology": timeline.topology.name,
        "calibration": timeline.calibration.name,
        "policy": timeline.policy.name,
        "runner": runner,
        "makespan_ps": timeline.makespan_ps,
        "stages": len(timeline.stages),
        "commands": timeline.trace.command_count,
        "op_log_sha256": op_log_sha256,
        "dispatch_ps": dispatch_ps(timeline),
        "commands_by_kind": commands_by_kind(timeline.trace),
        "engines": {
            block: {"busy_ps": use.busy_ps, "utilisation": use.utilisation}
            for block, use in block_uses(timeline).items()
        },
        "dma_reads": reads,
        "dma_read_bytes": read_bytes,
        "remote_reads": far_reads.count,
        "remote_read_bytes": far_reads.bytes,
        "remote_writes": far_writes.count,
        "remote_write_bytes": far_writes.bytes,
        "links": {link: asdict(use) for link, use in link_uses(timeline).items()},
        "hazards": hazard_totals(timeline) if ended else NOT_EVALUATED,
        "shared_tensors": len(shared_tensors(timeline.trace)),
        "deadlock": asdict(timeline.deadlock) if timeline.deadlock else None,
    }


def _sum_of(timeline: Timeline, kind: StageKind) -> int:
    of_kind = timeline.stages.kind == kind
    return int((timeline.end_ps[of_kind] - timeline.start_ps[of_kind]).sum())
