"""PE_CPU: dispatch cost, program order, blocking, overhead, and waits."""

from decimal import Decimal

import pytest
from kerntape.schemas.calibration import Calibration
from kerntape.schemas.handles import Space
from kerntape.schemas.stages import StageKind, Why

DISPATCH = StageKind.DISPATCH


def with_cpu(calibration: Calibration, fixed: str, per_byte: str) -> Calibration:
    costs = calibration.pe_cpu.model_copy(
        update={"fixed_cycles": Decimal(fixed), "cycles_per_byte": Decimal(per_byte)}
    )
    return calibration.model_copy(update={"pe_cpu": costs})


def bare_gemm(build):
    a, b, out = build.handle((4, 4)), build.handle((4, 4)), build.handle((4, 4))
    return build.gemm(4, 4, 4, a, b, out)


def test_a_bare_gemm_composite_is_dispatched_in_42_875_ns(build, run_trace, calibration):
    bare_gemm(build)
    # 40 + 46 bytes · 0.0625 = 42.875 cycles of 1 ns
    replayed = run_trace(build, calibration=with_cpu(calibration, "40", "0.0625"))
    assert replayed.rows(DISPATCH) == [("dispatch", 0, 42.875)]


def test_a_dispatch_is_not_rounded_to_whole_cycles_but_up_to_whole_picoseconds(
    build, run_trace, calibration
):
    bare_gemm(build)
    # 46 bytes · 0.00001 cycles = 0.00046 ns = 0.46 ps, rounded up to 1 ps
    replayed = run_trace(build, calibration=with_cpu(calibration, "0", "0.00001"))
    assert replayed.rows(DISPATCH) == [("dispatch", 0, 0.001)]


def test_composites_are_dispatched_one_after_the_other_without_waiting(build, run_trace):
    bare_gemm(build)
    bare_gemm(build)
    replayed = run_trace(build)
    assert replayed.rows(DISPATCH) == [("dispatch", 0, 10), ("dispatch", 10, 20)]
    assert replayed.causes(DISPATCH) == [(-1, Why.NOTHING), (0, Why.PROGRAM_ORDER)]


def test_a_math_command_blocks_until_it_has_finished(build, run_trace):
    source, out = build.handle((6,)), build.handle((6,))
    build.math("exp", [source], out)
    build.math("exp", [source], out)
    # dispatch 10, then 6 elements at 1 a ns
    replayed = run_trace(build)
    assert replayed.rows() == [
        ("dispatch", 0, 10),
        ("math", 10, 16),
        ("dispatch", 16, 26),
        ("math", 26, 32),
    ]
    assert replayed.causes(DISPATCH)[1] == (1, Why.BLOCKED)


def test_an_overhead_command_pays_its_own_cycles_and_nothing_else(build, run_trace):
    build.overhead(7)
    build.overhead(0)
    assert run_trace(build).rows() == [("dispatch", 0, 7), ("dispatch", 7, 7)]


def test_a_command_is_not_dispatched_before_what_it_waits_for_has_finished(build, run_trace):
    q, staged, out = build.handle((4,), space=Space.HBM), build.handle((4,)), build.handle((4,))
    load = build.load(q, staged)
    build.math("exp", [staged], out, waits=[load])
    replayed = run_trace(build)
    # the load's 8 bytes: HBM channel 10–18, DMA 100 ns behind it, 110–118
    assert replayed.rows(DISPATCH) == [("dispatch", 0, 10), ("dispatch", 118, 128)]
    assert replayed.causes(DISPATCH)[1][1] is Why.WAITED


def test_a_wait_command_is_dispatched_when_everything_it_waits_for_is_done(build, run_trace):
    first, second = bare_gemm(build), bare_gemm(build)
    build.wait(first, second)
    replayed = run_trace(build)
    finishes = replayed.rows(StageKind.FINISH)
    assert replayed.rows(DISPATCH)[2][1] == max(end for _, _, end in finishes)


@pytest.mark.parametrize("clock", ["0.5", "2"])
def test_the_clock_scales_cycles(build, run_trace, calibration, clock):
    build.overhead(8)
    slower = calibration.model_copy(update={"clock_ghz": Decimal(clock)})
    assert run_trace(build, calibration=slower).rows() == [("dispatch", 0, 8 / float(clock))]


def test_free_dispatch_of_a_long_stream_takes_no_time_and_no_recursion(
    build, run_trace, calibration
):
    for _ in range(3000):
        build.wait()
    replayed = run_trace(build, calibration=with_cpu(calibration, "0", "0"))
    assert set(replayed.rows()) == {("dispatch", 0, 0)}
