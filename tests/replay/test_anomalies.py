"""Scheduling anomalies exist: a policy that holds less, or a faster PE_CPU, can end later.

The smallest found: three composites, A (exp of 64 elements), B (which reads A's result: neg of 64
elements, then a GEMM) and C (exp of 256 elements of something else). B's GEMM is what takes long, so
MATH should serve B before C. docs/hazards.md tells it with a kernel.
"""

from decimal import Decimal

import pytest
from kerntape.replay.policy import resolve_policy
from kerntape.schemas.commands import CommandKind, OpForm
from kerntape.schemas.stages import StageKind

MATH, GEMM = StageKind.MATH, StageKind.GEMM


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
