"""The quick runner: a stage graph as the flat columns of `engine.Law`, and its results back.

Times are equal to the SimPy runner's, stage by stage. Where the engine was not compiled (no C
compiler when the package was built) the same source runs on lists, slower, and says so once: of a
sweep's processes the one that the user started.
"""

import sys
from functools import cache, partial
from multiprocessing import parent_process
from typing import Any

import numpy as np
import numpy.typing as npt

from . import engine, native
from .engine_records import Record, ReleaseRecord, ServerRecord, StageRecord, c_struct
from .stage_graph import Durations, StageGraph
from .times import Times


def is_compiled() -> bool:
    """Whether the engine runs as machine code."""
    return native.is_compiled(engine)


def run(graph: StageGraph, durations: Durations) -> Times:
    """Runs the graph until nothing is left to happen; what a cycle holds up stays at −1.

    Raises KerntapeError where the compiled engine was built from another source than the one beside
    it.
    """
    check_engine()
    law = _law(graph, durations)
    law.run()
    return _times(len(graph), law)


@cache
def check_engine() -> None:
    """Refuses a stale compiled engine; says once that an uncompiled one is slow.

    A worker process says nothing: whoever starts workers calls this first.
    """
    native.refuse_stale(engine)
    if not is_compiled() and parent_process() is None:
        print(
            "kerntape: the replay engine is not compiled (no C compiler when kerntape was installed);"
            " replays are an order of magnitude slower",
            file=sys.stderr,
        )


def _law(graph: StageGraph, durations: Durations) -> engine.Law:
    """The graph's columns: queues are its duration classes, then its lag classes."""
    serves = np.array([each.arbitrates for each in graph.engines], dtype=np.int8)
    stages, releases = graph.stages, graph.releases
    return engine.Law(
        _column(serves, np.int8),
        _column(stages.engine, np.int32),
        _column(stages.duration_class, np.int32),
        _column(np.concatenate([durations.stage_ps, durations.lag_ps]), np.int64),
        len(durations.stage_ps),
        _column(releases.offsets, np.int64),
        _column(releases.releaser, np.int32),
        _column(releases.from_start, np.int8),
        _column(releases.lag_class, np.int32),
        partial(_new_records, StageRecord),
        partial(_new_records, ReleaseRecord),
        partial(_new_records, ServerRecord),
        _new32,
        _new64,
    )


def _times(stages: int, law: engine.Law) -> Times:
    """The law's results."""
    ready_ps, start_ps, end_ps, cause = (*(_new64(stages) for _ in range(3)), _new32(stages))
    law.take_times(ready_ps, start_ps, end_ps, cause)
    return Times(
        ready_ps=np.asarray(ready_ps, dtype=np.int64),
        start_ps=np.asarray(start_ps, dtype=np.int64),
        end_ps=np.asarray(end_ps, dtype=np.int64),
        cause=np.asarray(cause, dtype=np.int32),
    )


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
