"""PE_SCHEDULER: phases of a composite, the in-flight limit, the queue, order of admission."""

from decimal import Decimal

from kerntape.schemas.commands import CommandKind, OpForm
from kerntape.schemas.handles import Space
from kerntape.schemas.stages import StageKind, Why

ADMIT, RETIRE = StageKind.ADMIT, StageKind.RETIRE


def small_gemm(build, **more):
    a, b, out = build.handle((4, 4)), build.handle((4, 4)), build.handle((4, 4))
    return build.gemm(4, 4, 4, a, b, out, **more)


def test_the_prologue_is_complete_before_the_first_read_of_the_tile_loop(build, run_trace):
    s, p = build.handle((4, 4)), build.handle((4, 4))
    v, out = build.handle((4, 4), space=Space.HBM), build.handle((4, 4))
    build.gemm(4, 4, 4, p, v, out, prologue=[("exp", [s], p), ("copy", [p], p)])
    replayed = run_trace(build)
    # two ops over 16 elements: 10–26, 26–42; then the read of V
    assert replayed.rows(StageKind.MATH) == [("math", 10, 26), ("math", 26, 42)]
    assert replayed.rows(StageKind.HBM_READ) == [("hbm_read", 42, 74)]


def test_the_epilogue_of_a_tile_follows_its_last_step(build, run_trace):
    small_gemm(build, epilogue=[("scale", []), ("add", [0])])
    # GEMM 74–138; 16 elements each
    assert run_trace(build).rows(StageKind.MATH) == [("math", 138, 154), ("math", 154, 170)]


def test_two_composites_are_in_flight_and_the_third_waits_for_the_first_to_retire(build, run_trace):
    for _ in range(3):
        small_gemm(build)
    replayed = run_trace(build)
    first_retired = replayed.rows(RETIRE)[0][1]
    assert [start for _, start, _ in replayed.rows(ADMIT)] == [10, 20, first_retired]
    assert replayed.causes(ADMIT)[2][1] is Why.IN_FLIGHT


def test_the_scheduler_queue_holds_the_dispatch_back(build, run_trace):
    for _ in range(4):
        small_gemm(build)
    replayed = run_trace(build, composites_in_flight=1, scheduler_queue=1)
    admitted = [start for _, start, _ in replayed.rows(ADMIT)]
    dispatched = [start for _, start, _ in replayed.rows(StageKind.DISPATCH)]
    # the dispatch of composite k waits for the admission of k − 1
    assert dispatched[1:] == [max(start, 10) for start in admitted[:-1]]


def test_composites_retire_in_order(build, run_trace):
    a, b, out = build.handle((16, 16)), build.handle((16, 16)), build.handle((16, 16))
    build.gemm(16, 16, 16, a, b, out)
    source, target = build.handle((4,)), build.handle((4,))
    build.command(CommandKind.COMPOSITE, (OpForm("exp", ("src",), True),), [source, target])
    replayed = run_trace(build)
    finished = [start for _, start, _ in replayed.rows(StageKind.FINISH)]
    retired = [start for _, start, _ in replayed.rows(RETIRE)]
    assert finished[1] < finished[0]
    assert retired == [finished[0], finished[0]]


def test_planning_costs_cycles_per_op_and_delays_everything_after_it(build, run_trace, calibration):
    small_gemm(build, epilogue=[("scale", [])])
    costs = calibration.pe_scheduler.model_copy(update={"plan_cycles_per_op": Decimal("1.5")})
    replayed = run_trace(build, calibration=calibration.model_copy(update={"pe_scheduler": costs}))
    # two ops · 1.5 cycles
    assert replayed.rows(StageKind.PLAN) == [("plan", 10, 13)]
    assert replayed.rows(StageKind.FETCH)[0][1] == 13
