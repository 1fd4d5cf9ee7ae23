"""A composite over the descriptor cap: its parts are ordered by the hazard rule of every policy but none."""

from collections.abc import Callable
from pathlib import Path

import pytest
from capture_bench import machine, normal, record
from hypothesis import given, settings
from hypothesis import strategies as st
from kerntape.capture.capture import capture
from kerntape.replay.check_data.check import check_data
from kerntape.replay.hazards.potential import potential_hazards
from kerntape.replay.policy import resolve_policy, shipped_policies
from kerntape.replay.replay import replay
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Trace
from kerntape.topologies.loader import resolve_topology

POLICIES = {name: resolve_policy(name) for name in shipped_policies()}
HOLDING = tuple(name for name in POLICIES if name != "none")

KERNELS = """\
import numpy as np
from kerntape.capture.recipes import EngineOp, PrimaryOutSpec, RecipeDescriptor, ScratchSlot

SQUARED = RecipeDescriptor(
    name="squared",
    operands=(("x", "R"),),
    primary_out=PrimaryOutSpec(ScratchSlot("S", from_shape="x", from_dtype="x"), "trans"),
    engine_seq=(EngineOp("mul", ("x", "x"), "S"),),
)


def merge(x, w, y, *, tl):
    s, (m, l, O) = tl.load(x), (tl.full(shape, 0.0) for shape in ((8,), (8,), (8, 8)))
    state = {"op": "softmax_merge", "s": s, "m": m, "l": l, "O": O}
    add = {"op": "add", "other": O}
    tl.composite(op="gemm", b=tl.ref(w), out=O, prologue=[state], epilogue=[add])
    tl.store(y, O)


def transposed(x, w, y, *, tl):
    squared = {"op": SQUARED, "x": tl.load(x)}
    tl.store(y, tl.composite(op="gemm", b=tl.ref(w), prologue=[squared]))


def overwritten(x, w, y, *, tl):
    a, b, out = tl.load(x), tl.load(w), tl.empty((8, 8))
    exp = {"op": "softmax", "src": a, "reduce_axis": 1, "out": out}
    tl.composite(ops=[exp, {"op": "copy", "src": b, "out": a}])
    tl.wait()
    tl.store(y, out)


def seen_twice(x, w, y, *, tl):
    buffer, out = tl.full((16, 8), 0.0), tl.empty((8, 8))
    exp = {"op": "exp", "src": tl.load(x), "out": buffer[0:8]}
    tl.composite(ops=[exp, {"op": "neg", "src": buffer.view(2, 8, 8)[0], "out": out}])
    tl.store(y, out)


def softmax(s):
    exponentials = np.exp(s - s.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


RESULTS = {
    merge: lambda x, w: np.exp(x - np.maximum(x.max(axis=1, keepdims=True), 0)) @ w,
    transposed: lambda x, w: (x * x).T @ w,
    overwritten: lambda x, w: softmax(x),
    seen_twice: lambda x, w: -np.exp(x),
}


def launch(rt, kernel: str):
    run = globals()[kernel]
    x, w, y = rt.random((8, 8), "f32"), rt.random((8, 8), "f32"), rt.empty((8, 8), "f32")
    rt.output(y, reference=lambda: RESULTS[run](x.values, w.values))
    rt.launch(run, (1, 1, 1), x, w, y)
"""
CAPS = {"merge": 140, "transposed": 65, "overwritten": 50, "seen_twice": 45}
"""Of each kernel, a cap under which its one composite becomes two or more."""
SLOW_MATH = ["pe_math.vector_width=1"]


def with_cap(cap_bytes: int) -> Topology:
    topology = resolve_topology("single_pe")
    pe = topology.pe.model_copy(update={"composite_cap_bytes": cap_bytes})
    return topology.model_copy(update={"pe": pe})


@pytest.fixture
def cut_trace(tmp_path: Path) -> Callable[[str], Trace]:
    """The kernel captured under its cap, with its inputs; right, and in several composites."""

    def run(kernel: str) -> Trace:
        (tmp_path / "mine.py").write_text(KERNELS)
        topology = with_cap(CAPS[kernel])
        found = capture(f"{tmp_path}/mine.py", topology, {"kernel": kernel}, keep_inputs=True)
        assert found.outputs["y"].is_right
        assert len(composites(found.trace)) > 1
        return found.trace

    return run


def composites(trace: Trace) -> list[int]:
    commands = trace.commands(trace.streams[0])
    return [command.index for command in commands if command.kind is CommandKind.COMPOSITE]


def unordered(trace: Trace, topology: Topology, policy: str) -> list[tuple[int, int]]:
    found = potential_hazards(trace, topology, POLICIES[policy])
    return list(zip(found.earlier.tolist(), found.later.tolist(), strict=True))


@pytest.mark.parametrize("kernel", CAPS)
@pytest.mark.parametrize("policy", HOLDING)
def test_no_pair_of_parts_is_unordered_and_the_result_is_right(cut_trace, kernel, policy) -> None:
    trace = cut_trace(kernel)
    assert unordered(trace, with_cap(CAPS[kernel]), policy) == []
    for costs in ([], SLOW_MATH):
        assert check_data(replay(trace, policy=policy, settings=costs)).right


@pytest.mark.parametrize("kernel", CAPS)
def test_under_none_parts_are_unordered(cut_trace, kernel) -> None:
    trace = cut_trace(kernel)
    parts = composites(trace)
    found = unordered(trace, with_cap(CAPS[kernel]), "none")
    assert any(earlier in parts and later in parts for earlier, later in found)


def test_under_none_a_cut_softmax_merge_is_right_by_luck_alone(cut_trace) -> None:
    # at 40 ns a dispatch each part is done before the next arrives; with slow math it is not
    timelines = [
        replay(cut_trace("merge"), policy="none", settings=costs) for costs in ([], SLOW_MATH)
    ]
    assert [check_data(timeline).right for timeline in timelines] == [True, False]


# -- any composite of math ops

NAMES = ("a", "b", "c", "upper", "lower")
"""Three buffers, and two views of a fourth that overlap."""

ops = st.tuples(st.sampled_from(("exp", "neg", "copy")), *[st.sampled_from(NAMES)] * 2)


@given(st.lists(ops, min_size=2, max_size=7), st.integers(58, 120))
@settings(max_examples=80)
def test_however_a_composite_is_cut_every_holding_policy_orders_its_parts(ops, cap_bytes) -> None:
    def kernel(x, *, tl):
        buffers = {name: tl.load(x) for name in ("a", "b", "c")}
        fourth = tl.full((12, 8), 1.0)
        buffers |= {"upper": fourth[0:8], "lower": fourth[4:12]}
        tl.wait()
        items = [{"op": op, "src": buffers[src], "out": buffers[out]} for op, src, out in ops]
        tl.composite(ops=items)
        tl.wait()

    topology = machine(cap_bytes=cap_bytes)
    trace = record(kernel, normal(8, 8), topology=topology, data=False).trace
    for policy in HOLDING:
        assert unordered(trace, topology, policy) == [], policy
