"""Executes a timeline's stages in the order of their times.

A stage reads at its start and its result appears at its end; what is written to HBM appears where it
arrives, a latency after its HBM_WRITE, whether or not the PE that wrote it knows of that yet. At one
instant results appear, in the order of stage ids, before anything reads.
"""

import numpy as np

from ...schemas.columns import Int64s
from ...schemas.stages import StageKind
from ...schemas.timeline import Timeline
from ..components.pe_dma import HBM_ARRIVAL
from ..durations import picoseconds
from .execution import Execution


def appears_ps(timeline: Timeline) -> Int64s:
    """Per stage, when its result appears: int64 [stages]."""
    writes = timeline.stages.kind == StageKind.HBM_WRITE
    return timeline.end_ps + np.where(writes, _hbm_latency_ps(timeline), 0)


def _hbm_latency_ps(timeline: Timeline) -> int:
    """From the end of a write in the HBM channel to its arrival."""
    return picoseconds(HBM_ARRIVAL, timeline.calibration)


def run_in_time_order(execution: Execution, timeline: Timeline, through: int | None = None) -> None:
    """Executes every stage, or all that happens until the result of stage `through` appears."""
    count = len(timeline.stages)
    stages = np.tile(np.arange(count), 2)
    starts = np.repeat([False, True], count)
    at_ps = np.concatenate([appears_ps(timeline), timeline.start_ps])
    order = np.lexsort((stages, starts, at_ps))
    for stage, is_start in zip(stages[order].tolist(), starts[order].tolist(), strict=True):
        if is_start:
            execution.start(stage)
        else:
            execution.end(stage)
            if stage == through:
                return
