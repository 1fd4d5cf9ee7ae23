"""The quick runner: a stage graph as the flat columns of `engine.Law`, and its results back.

Times are equal to the SimPy runner's, stage by stage. Where the engine was not compiled (no C
compiler when the package was built) the same source runs on lists, slower, and says so once.
"""

import sys
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from . import engine, native
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
    return _times(graph, durations, law)


@cache
def check_engine() -> None:
    """Refuses a stale compiled engine; says once that an uncompiled one is slow."""
    native.refuse_stale(engine)
    if not is_compiled():
        print(
            "kerntape: the replay engine is not compiled (no C compiler when kerntape was installed);"
            " replays are about a hundred times slower",
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
        lambda count, length: native.new_columns(engine, count, length, np.int32),
        lambda count, length: native.new_columns(engine, count, length, np.int64),
    )


def _times(graph: StageGraph, durations: Durations, law: engine.Law) -> Times:
    """The law's results, each a column of its own. What has started has ended."""
    ready_ps, end_ps = (
        np.array(column, dtype=np.int64)[: len(graph)] for column in (law.ready_ps, law.end_ps)
    )
    lasting = durations.stage_ps[graph.stages.duration_class]
    return Times(
        ready_ps=ready_ps,
        start_ps=np.where(end_ps < 0, native.NONE, end_ps - lasting),
        end_ps=end_ps,
        cause=np.array(law.cause, dtype=np.int32)[: len(graph)],
    )


def _column(values: npt.NDArray[Any], dtype: type[np.integer]) -> Any:
    return native.column(engine, values, dtype)
