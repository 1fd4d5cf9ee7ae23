"""Scheduling anomalies exist: a policy that holds less, or a faster engine, can end later.

The smallest found for a policy: three composites, A (exp of 64 elements), B (which reads A's result:
neg of 64 elements, then a GEMM) and C (exp of 256 elements of something else). B's GEMM is what takes
long, so MATH should serve B before C. docs/hazards.md tells it with a kernel. For an engine two
composites are enough.
"""

from decimal import Decimal

import pytest
from kerntape.replay.policy import resolve_policy
from kerntape.schemas.commands import CommandKind, OpForm
from kerntape.schemas.handles import Space
from kerntape.schemas.stages import StageKind

FETCH, FINISH, GEMM, MATH = StageKind.FETCH, StageKind.FINISH, StageKind.GEMM, StageKind.MATH


def exp(build, shape: tuple[int, int]) -> int:
    """A composite; returns the handle that it writes."""
    source, out = build.handle(shape), build.handle(shape)
    build.command(CommandKind.COMPOSITE, (OpForm("exp", ("src",), True),), [source, out])
    return out


@pytest.fixture
def makespan(build, run_trace, calibration):
    """MATH and GEMM stages, and the last end, under a policy and a dispatch cost in ns."""
    first = exp(build, (4, 16))
    negated, weights, out = build.handle((4, 16)), build.handle((16, 4)), build.handle((4, 4))
    build.gemm(4, 16, 4, negated, weights, out, prologue=[("neg", [first], negated)])
    exp(build, (16, 16))

    def replayed(policy: str, dispatch_ns: int = 10):
        cpu = calibration.pe_cpu.model_copy(update={"fixed_cycles": Decimal(dispatch_ns)})
        found = run_trace(
            build,
            policy=resolve_policy(policy),
            calibration=calibration.model_copy(update={"pe_cpu": cpu}),
            composites_in_flight=3,
        )
        return found.rows(MATH), max(end for _, _, end in found.rows(GEMM, MATH))

    return replayed


def test_letting_an_independent_composite_pass_can_end_later(makespan):
    # C waits behind B, which waits for A until 74: B's neg and C's exp are ready together, B is first
    # B: neg 74–138, fetch 138–202, four steps of the GEMM 202–458; C: 138–394
    in_order, ends = makespan("byte_range")
    assert in_order == [("math", 10, 74), ("math", 74, 138), ("math", 138, 394)]
    assert ends == 458
    # C passes: admitted at 30, it is the first in MATH's queue at 74
    # C: 74–330; B: neg 330–394, fetch 394–458, GEMM 458–714
    passing, ends = makespan("rw_aware")
    assert passing == [("math", 10, 74), ("math", 330, 394), ("math", 74, 330)]
    assert ends == 714


def test_a_faster_pe_cpu_can_end_later(makespan):
    # at 40 ns a dispatch C is admitted at 120, and B's neg is served at 104, when A is done
    # B: neg 104–168, fetch 168–232, GEMM 232–488; C: 168–424
    slow, ends = makespan("rw_aware", dispatch_ns=40)
    assert slow == [("math", 40, 104), ("math", 104, 168), ("math", 168, 424)]
    assert ends == 488 < makespan("rw_aware", dispatch_ns=10)[1]


def test_a_faster_math_engine_can_end_later(build, run_trace, calibration):
    # the first composite: exp, then a GEMM; the second: a GEMM whose result goes to HBM, 32 + 100 ns
    s, p, b, out = (build.handle((4, 4)) for _ in range(4))
    build.gemm(4, 4, 4, p, b, out, prologue=[("exp", [s], p)])
    build.gemm(
        4, 4, 4, build.handle((4, 4)), build.handle((4, 4)), build.handle((4, 4), space=Space.HBM)
    )
    slow = run_trace(build)
    # exp 10–26: TCM serves the second at 20, then the first
    assert slow.rows(FETCH, GEMM) == [
        *(("fetch", 84, 148), ("gemm", 148, 212)),
        *(("fetch", 20, 84), ("gemm", 84, 148)),
    ]
    assert slow.rows(FINISH) == [("finish", 212, 212), ("finish", 280.001, 280.001)]
    twice_as_fast = calibration.model_copy(
        update={"pe_math": calibration.pe_math.model_copy(update={"vector_width": Decimal(2)})}
    )
    fast = run_trace(build, calibration=twice_as_fast)
    # exp 10–18: TCM serves the first at 18, and the long way to HBM begins 62 ns later
    assert fast.rows(FETCH, GEMM) == [
        *(("fetch", 18, 82), ("gemm", 82, 146)),
        *(("fetch", 82, 146), ("gemm", 146, 210)),
    ]
    assert fast.rows(FINISH) == [("finish", 146, 146), ("finish", 342.001, 342.001)]
