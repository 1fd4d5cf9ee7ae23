"""Traces small enough to sweep in no time, in which engines are queued for and policies hold."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from kerntape.replay.sweep.axes import Axis, Span
from kerntape.replay.sweep.plan import SweepPlan
from kerntape.replay.sweep.planning import Sampling, plan_sweep
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.handles import Space
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_file import write_trace

MakePlan = Callable[..., SweepPlan]


@pytest.fixture
def tiled(build, topology) -> Trace:
    """Six tiles like decode's: a composite over an operand in HBM, then one that reads its result and
    adds to an accumulator. Operand reads of the next tile compete for HBM with those of this one, the
    accumulator's conflicts are held by some policies and let through by others.
    """
    q, o = build.handle((4, 8)), build.handle((4, 8))
    for tile in range(6):
        k = build.handle((8, 8), space=Space.HBM, at=1024 * tile)
        v = build.handle((8, 8), space=Space.HBM, at=8192 + 1024 * tile)
        s = build.handle((4, 8), at=4096)
        build.gemm(4, 8, 8, q, k, s, epilogue=[("scale", [])])
        build.gemm(4, 8, 8, s, v, o, prologue=[("exp", [s], s)], rw=[o])
        if tile % 2:
            build.math("add", [q, q], q)
    return build.trace(topology)


@pytest.fixture
def shorter(build, topology) -> Trace:
    """One command: a math op."""
    other = type(build)()
    x = other.handle((64,))
    other.math("exp", [x], x)
    return other.trace(topology)


@pytest.fixture
def deadlocked(build, pair) -> Trace:
    """Two PEs that both receive first."""
    here, there = type(build)(), type(build)()
    for pe, direction in ((here, "E"), (there, "W")):
        pe.message(CommandKind.RECV, direction, pe.handle((8,)))
        pe.message(CommandKind.SEND, direction, pe.handle((8,)))
    return here.trace(pair, there)


@pytest.fixture
def stored(tmp_path: Path) -> Callable[..., Path]:
    """Writes a trace where a sweep can read it."""

    def write(trace: Trace, name: str = "x.ktrace") -> Path:
        write_trace(tmp_path / name, trace)
        return tmp_path / name

    return write


@pytest.fixture
def plan_of(stored) -> MakePlan:
    """The plan of a sweep of some traces."""

    def make(
        traces: Trace | dict[str, Trace],
        *varied: Axis | Span,
        policies: Sequence[str] = ("strict_fifo",),
        sampling: Sampling | None = None,
        op_logs: bool = False,
    ) -> SweepPlan:
        named = traces if isinstance(traces, dict) else {"x.ktrace": traces}
        paths = [stored(trace, name) for name, trace in named.items()]
        return plan_sweep(paths, varied, policies=policies, sampling=sampling, op_logs=op_logs)

    return make
