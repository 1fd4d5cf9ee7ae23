"""What a parameter or an engine is worth: the makespan of the same graph with other durations.

Everything here is measured by replaying, not estimated from the critical path: in a system with
queues a faster engine can make a run longer (a scheduling anomaly), and then the answer says so.
"""

from dataclasses import dataclass
from decimal import Context
from fractions import Fraction

import numpy as np

from ..schemas.calibration import Calibration
from ..schemas.columns import Bools
from ..schemas.errors import ConfigError
from ..schemas.stages import Block
from . import compiled_runner
from .durations import durations
from .parameters import changed, value_of
from .stage_graph import Durations, StageGraph

STEP_PERCENT = 10

_FIFTEEN_DIGITS = Context(prec=15)
"""As many as a calibration's number may have."""


@dataclass(frozen=True, slots=True)
class Effect:
    """How much longer (or, negative, shorter) the run gets with 10 % more and 10 % less of a number.

    None where that number would not be allowed.
    """

    more_ps: int | None
    less_ps: int | None


def makespan_ps(graph: StageGraph, lasting: Durations) -> int:
    """The end of the last stage that ends; 0 without one. Runs the compiled engine."""
    return max(int(compiled_runner.run(graph, lasting).end_ps.max(initial=0)), 0)


def effect(graph: StageGraph, calibration: Calibration, path: str) -> Effect:
    """Replays with the number at `path` 10 % above and 10 % below; three replays in all."""
    now = makespan_ps(graph, durations(graph, calibration))
    return Effect(
        _difference(graph, calibration, path, 100 + STEP_PERCENT, now),
        _difference(graph, calibration, path, 100 - STEP_PERCENT, now),
    )


def _difference(
    graph: StageGraph, calibration: Calibration, path: str, percent: int, now_ps: int
) -> int | None:
    value = _FIFTEEN_DIGITS.multiply(value_of(calibration, path), percent)
    scaled = value.scaleb(-2, _FIFTEEN_DIGITS).normalize()
    try:
        lasting = durations(graph, changed(calibration, {path: scaled}))
    except ConfigError:
        return None
    return makespan_ps(graph, lasting) - now_ps


def blocks_at_work(graph: StageGraph, lasting: Durations) -> tuple[Block, ...]:
    """The blocks on which any stage lasts any time, in the order of schemas.stages.Block."""
    lasts = lasting.stage_ps[graph.stages.duration_class] > 0
    busy = set(np.unique(graph.stages.engine[lasts]).tolist())
    found = {graph.engines[engine].block for engine in busy}
    return tuple(block for block in Block if block in found)


def sped_up_ps(graph: StageGraph, lasting: Durations, block: Block, factor: Fraction) -> int:
    """The makespan if every stage on the engines of a block took 1/factor of its time.

    Rounded up to whole picoseconds; nothing that lasts becomes free. Latencies stay as they are.
    Classes are scaled, so a block whose classes another block shares would speed that up too: no two
    blocks of the model share one but the class of no time.
    """
    mine = _classes_of(graph, block).tolist()
    stage_ps = [
        max(min(ps, 1), -(-ps * factor.denominator // factor.numerator)) if is_mine else ps
        for ps, is_mine in zip(lasting.stage_ps.tolist(), mine, strict=True)
    ]
    return makespan_ps(graph, Durations(np.array(stage_ps, dtype=np.int64), lasting.lag_ps))


def _classes_of(graph: StageGraph, block: Block) -> Bools:
    """Per duration class, whether a stage on an engine of the block has it."""
    of_block = np.array([engine.block is block for engine in graph.engines], dtype=np.bool_)
    mine = np.zeros(len(graph.duration_classes), dtype=np.bool_)
    mine[np.unique(graph.stages.duration_class[of_block[graph.stages.engine]])] = True
    return mine
