"""The quick runner: a stage graph as the flat columns of `engine.Law`, and its results back.

Times are equal to the SimPy runner's, stage by stage. Where the engine was not compiled (no C
compiler when the package was built) the same source runs on lists, slower, and says so once.
"""

import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..schemas.columns import Int64s, offsets_of
from . import engine, native
from .native import NONE
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
    return Times(
        ready_ps=np.asarray(law.ready_ps, dtype=np.int64),
        start_ps=np.asarray(law.start_ps, dtype=np.int64),
        end_ps=np.asarray(law.end_ps, dtype=np.int64),
        cause=np.asarray(law.cause, dtype=np.int32),
    )


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
    serves = np.array([each.arbitrates for each in graph.engines], dtype=np.bool_)
    stages, releases = graph.stages, graph.releases
    released = np.repeat(np.arange(len(graph), dtype=np.int32), np.diff(releases.offsets))
    lag_queue = releases.lag_class + np.int32(len(durations.stage_ps))
    at_once = durations.lag_ps[releases.lag_class] == 0
    from_start = releases.from_start == 1
    by_end = _by_releaser(graph, np.flatnonzero(~from_start))
    by_start = _by_releaser(graph, np.flatnonzero(from_start))
    end_queue = np.where(at_once, np.int32(NONE), lag_queue)
    return engine.Law(
        len(graph.engines),
        _column(np.where(serves[stages.engine], stages.engine, NONE), np.int32),
        _column(stages.duration_class, np.int32),
        _column(np.concatenate([durations.stage_ps, durations.lag_ps]), np.int64),
        _column(np.diff(releases.offsets), np.int32),
        _column(by_end.offsets, np.int64),
        _column(releases.releaser[by_end.rows], np.int32),
        _column(released[by_end.rows], np.int32),
        _column(end_queue[by_end.rows], np.int32),
        _column(by_start.offsets, np.int64),
        _column(releases.releaser[by_start.rows], np.int32),
        _column(released[by_start.rows], np.int32),
        _column(lag_queue[by_start.rows], np.int32),
        lambda length: _new(length, np.int32),
        lambda length: _new(length, np.int64),
    )


@dataclass(frozen=True, slots=True)
class _ByReleaser:
    """Rows of the release columns, grouped by who releases; `offsets` has one entry a stage and one."""

    rows: Int64s
    offsets: Int64s


def _by_releaser(graph: StageGraph, rows: Int64s) -> _ByReleaser:
    releaser = graph.releases.releaser[rows]
    return _ByReleaser(
        rows=rows[np.argsort(releaser, kind="stable")],
        offsets=offsets_of(np.bincount(releaser, minlength=len(graph))),
    )


def _column(values: npt.NDArray[Any], dtype: type[np.integer]) -> Any:
    return native.column(engine, values, dtype)


def _new(length: int, dtype: type[np.integer]) -> Any:
    return native.new_column(engine, length, dtype)
