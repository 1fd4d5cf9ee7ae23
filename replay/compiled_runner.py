"""The quick runner: a stage graph as the flat columns of `engine.Law`, and its results back.

Times are equal to the SimPy runner's, stage by stage. Where the engine was not compiled (no C
compiler when the package was built) the same source runs on lists, slower, and says so once: of a
sweep's processes the one that the user started.
"""

import sys
from collections.abc import Iterator
from functools import cache
from multiprocessing import parent_process
from typing import Any

import numpy as np
import numpy.typing as npt

from ..schemas.errors import KerntapeError
from . import engine, engine_layout, native, order_layout, order_pass, slack_pass
from .engine_records import Record, ReleaseRecord, ServerRecord, StageRecord, c_struct
from .stage_graph import Durations, StageGraph
from .times import Times

NOT_COMPILED = (
    "the replay engine is not compiled (no C compiler when kerntape was installed); replays are up to"
    " a hundred times slower"
)

WITH_THE_ENGINE = (order_layout, order_pass, slack_pass)
"""Compiled with it, or not at all: who looks at a timeline or sweeps needs them as quick."""

EVENTS_A_TURN = 10_000
"""How many stages end, or releases happen, before other threads, and ^C, may have a turn: a millisecond."""

STAGES_A_TURN = 50_000
"""How many stages are laid out, or their times taken, likewise."""


def is_compiled() -> bool:
    """Whether the engine runs as machine code, as it does with its layout or not at all."""
    return native.is_compiled(engine) and native.is_compiled(engine_layout)


def run(graph: StageGraph, durations: Durations) -> Times:
    """Runs the graph until nothing is left to happen; what a cycle holds up stays at −1.

    The graph is as `lower` makes them, the durations are as stage_graph.Durations says: neither is
    checked here, and machine code trusts them. Raises KerntapeError as check_engine does.
    """
    check_engine()
    law = _law(graph, durations)
    law.begin()
    while law.go_on(EVENTS_A_TURN):
        pass
    return _times(len(graph), law)


@cache
def check_engine() -> None:
    """Says once that an uncompiled engine is slow. Raises KerntapeError for a stale one, or for one that
    was compiled in part, what is compiled with it included.

    A worker process says nothing: whoever starts workers calls this first.
    """
    modules = (engine, engine_layout, *WITH_THE_ENGINE)
    for module in modules:
        native.refuse_stale(module)
    if len(set(map(native.is_compiled, modules))) > 1:
        raise KerntapeError(
            "the replay engine is compiled in part; run 'pip install -e .' again, and look at what the"
            " compiler says"
        )
    if not is_compiled() and parent_process() is None:
        print(f"kerntape: {NOT_COMPILED}", file=sys.stderr)


def _law(graph: StageGraph, durations: Durations) -> engine.Law:
    """The graph laid out: queues are its duration classes, then its lag classes."""
    queue_ps = np.concatenate([durations.stage_ps, durations.lag_ps])
    first_lag = len(durations.stage_ps)
    stage = _new_records(StageRecord, len(graph) + 1)
    row = _new_records(ReleaseRecord, len(graph.releases.releaser))
    events = _new32(len(queue_ps))
    rooms = _new32(len(graph)), _new32(len(graph))
    _lay_out(graph, first_lag, stage, row, events, rooms)
    return engine.Law(
        stage,
        row,
        _new_records(ServerRecord, len(graph.engines)),
        _column(queue_ps, np.int64),
        events,
        first_lag,
        *rooms,
        _new32,
        _new64,
    )


def _lay_out(
    graph: StageGraph, first_lag: int, stage: Any, row: Any, events: Any, rooms: tuple[Any, Any]
) -> None:
    """Fills `stage`, `row` and `events` in; what is in `rooms` does not matter before or after."""
    serves = np.array([each.arbitrates for each in graph.engines], dtype=np.int8)
    stages, releases = graph.stages, graph.releases
    layout = engine_layout.Layout(
        _column(serves, np.int8),
        _column(stages.engine, np.int32),
        _column(stages.duration_class, np.int32),
        first_lag,
        _column(releases.offsets, np.int64),
        _column(releases.releaser, np.int32),
        _column(releases.from_start, np.int8),
        _column(releases.lag_class, np.int32),
        stage,
        row,
        events,
        *rooms,
    )
    for step in (layout.count, layout.lay_stages, layout.lay_releases):
        for first, past in _turns(len(graph)):
            step(first, past)


def _times(stages: int, law: engine.Law) -> Times:
    """The law's results."""
    ready_ps, start_ps, end_ps, cause = (*(_new64(stages) for _ in range(3)), _new32(stages))
    for first, past in _turns(stages):
        law.take_times(first, past, ready_ps, start_ps, end_ps, cause)
    return Times(
        ready_ps=np.asarray(ready_ps, dtype=np.int64),
        start_ps=np.asarray(start_ps, dtype=np.int64),
        end_ps=np.asarray(end_ps, dtype=np.int64),
        cause=np.asarray(cause, dtype=np.int32),
    )


def _turns(stages: int) -> Iterator[tuple[int, int]]:
    """From which stage to before which, turn by turn; without stages one turn of none."""
    for first in range(0, max(1, stages), STAGES_A_TURN):
        yield first, min(first + STAGES_A_TURN, stages)


def _column(values: npt.NDArray[Any], dtype: type[np.integer]) -> Any:
    return native.column(engine, values, dtype)


def _new_records(record: Record, length: int) -> Any:
    if is_compiled():
        return np.empty(length, dtype=c_struct(record))
    return [record() for _ in range(length)]


def _new32(length: int) -> Any:
    return native.new_room(engine, length, np.int32)


def _new64(length: int) -> Any:
    return native.new_room(engine, length, np.int64)
