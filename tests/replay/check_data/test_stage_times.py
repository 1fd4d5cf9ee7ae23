"""When each kind of stage reads and when its result appears: both sides of every edge.

A trace is replayed, then one command is moved by hand to the edge, and to a picosecond off it. A long
overhead keeps whatever follows out of the way. x is f16 1, 2, 3 …; what is wrong is NaN or another
of those.
"""

from math import isnan

import numpy as np
import pytest
from kerntape.replay.check_data.check import in_program_order
from kerntape.replay.check_data.findings import Fault
from kerntape.replay.check_data.program import Program
from kerntape.schemas.commands import CommandKind, OpForm, Scope
from kerntape.schemas.handles import Space
from kerntape.schemas.stages import StageKind

HBM_READ, DMA_READ = StageKind.HBM_READ, StageKind.DMA_READ
DMA_WRITE, HBM_WRITE, FINISH = StageKind.DMA_WRITE, StageKind.HBM_WRITE, StageKind.FINISH
FETCH, GEMM, MATH = StageKind.FETCH, StageKind.GEMM, StageKind.MATH
SEND, RECV = StageKind.SEND, StageKind.RECV

LATER = 10_000
HBM_LATENCY_PS = 100_000
OUT_AT = 256


@pytest.fixture
def stored(build, hbm):
    """Stores a handle into x when all is over."""

    def store(handle: int, shape=(4, 4), at: int = OUT_AT) -> None:
        build.overhead(LATER)
        build.store(handle, hbm(build, shape, at))

    return store


def test_a_load_has_written_its_target_at_the_end_of_its_dma_read(build, timed, hbm, math, stored):
    a, b = build.handle((4, 4)), build.handle((4, 4))
    build.load(hbm(build, (4, 4), 0), a)
    math(build, "copy", [a], b)
    stored(b)
    run = timed(build)
    arrived = run.end(DMA_READ)
    assert run.moved(MATH, start=arrived).check().right
    early = run.moved(MATH, start=arrived - 1).check()
    # nobody has written a: the copy and the 16 elements of the output are NaN
    assert not early.right
    assert early.outputs[0].wrong_elements == 16
    assert isnan(early.outputs[0].max_abs_difference)


def test_a_load_reads_its_source_at_the_start_of_its_hbm_read(build, timed, hbm, stored):
    a, b = build.handle((4, 4)), build.handle((4, 4))
    build.load(hbm(build, (4, 4), 0), a)
    build.wait(0)
    build.store(a, hbm(build, (4, 4), 64))
    build.load(hbm(build, (4, 4), 64), b)
    build.wait(3)
    stored(b)
    run = timed(build)
    store_arrived = run.end(FINISH)
    assert run.moved(HBM_READ, 1, start=store_arrived).check().right
    early = run.moved(HBM_READ, 1, start=store_arrived - 1).check()
    # x[32:48] is 33 … 48 where 1 … 16 were to be
    assert early.outputs[0].max_abs_difference == 32
    assert early.first_wrong.because.fault is Fault.NOT_YET_WRITTEN


def test_a_store_reads_its_source_at_the_start_of_its_dma_write(build, timed, hbm, math):
    a, b = build.handle((4, 4)), build.handle((4, 4))
    for at, target in ((0, a), (64, b)):
        build.load(hbm(build, (4, 4), at), target)
    build.wait(0, 1)
    build.store(a, hbm(build, (4, 4), OUT_AT))
    math(build, "copy", [b], a)
    run = timed(build)
    read = run.start(DMA_WRITE)
    assert run.moved(MATH, end=read + 1).check().right
    # at one instant results appear before reads
    overwritten = run.moved(MATH, end=read).check()
    assert overwritten.outputs[0].max_abs_difference == 32
    assert overwritten.first_wrong.because.fault is Fault.OVERWRITTEN_TOO_EARLY


def test_a_math_op_reads_at_its_start_and_has_written_at_its_end(build, timed, hbm, math, stored):
    a, b, c = (build.handle((4, 4)) for _ in range(3))
    build.load(hbm(build, (4, 4), 0), a)
    math(build, "neg", [a], b, waits=[0])
    math(build, "neg", [b], c)
    stored(c)
    run = timed(build)
    assert run.moved(MATH, 1, start=run.end(MATH)).check().right
    assert not run.moved(MATH, 1, start=run.end(MATH) - 1).check().right


# -- tile loops. The tile is 4 × 4 × 4.


@pytest.fixture
def gemm(build, hbm):
    """Loads a [m, 4] and b [4, 4], multiplies them into out [m, 4] by a composite."""

    def add(m: int = 4, *, out_in: Space = Space.TCM, epilogue=None, b_in=Space.TCM):
        a, b = build.handle((m, 4), label="a"), build.handle((4, 4), label="b")
        build.load(hbm(build, (m, 4), 0), a)
        build.load(hbm(build, (4, 4), 64), b)
        build.wait(0, 1)
        if b_in is Space.HBM:
            b = hbm(build, (4, 4), 64)
        at = OUT_AT + 64 if out_in is Space.HBM else None
        out = build.handle((m, 4), space=out_in, at=at, label="out")
        build.gemm(m, 4, 4, a, b, out, epilogue=epilogue)
        return a, b, out

    return add


def overwriting(build, math, handle, shape):
    """A MATH that overwrites a handle with what nobody has written, after the composite in order."""
    return math(build, "copy", [build.handle(shape)], handle)


@pytest.mark.parametrize("operand", [0, 1])
def test_a_fetch_reads_tiles_in_tcm_at_its_start(build, timed, gemm, math, stored, operand):
    handles = gemm()
    overwriting(build, math, handles[operand], (4, 4))
    stored(handles[2])
    run = timed(build)
    fetched = run.start(FETCH)
    assert run.moved(MATH, end=fetched + 1).check().right
    assert not run.moved(MATH, end=fetched).check().right


def test_a_b_tile_in_tcm_is_read_by_the_fetch_of_its_first_rows_only(
    build, timed, gemm, math, stored
):
    _, b, out = gemm(8)
    overwriting(build, math, b, (4, 4))
    stored(out, (8, 4))
    run = timed(build)
    # before the second rows' fetch, after the first's
    assert run.moved(MATH, end=run.start(FETCH, 1)).check().right
    assert not run.moved(MATH, end=run.start(FETCH, 0)).check().right


def test_an_a_tile_in_tcm_is_read_by_every_fetch(build, timed, gemm, math, stored):
    a, _, out = gemm(8)
    overwriting(build, math, a, (8, 4))
    stored(out, (8, 4))
    run = timed(build)
    late = run.moved(MATH, end=run.start(FETCH, 1)).check()
    # the second rows only: 4 × 4 elements
    assert late.outputs[0].wrong_elements == 16
    assert late.first_wrong.because.operand == "a"
    # rows 4 to 8 of a: 4 rows of 8 bytes from byte 32 on
    assert (late.first_wrong.because.byte_from, late.first_wrong.because.byte_to) == (32, 64)


def test_a_tile_in_hbm_is_read_at_the_start_of_its_hbm_read(build, timed, gemm, hbm, stored):
    _, _, out = gemm(b_in=Space.HBM)
    build.store(build.handle((4, 4)), hbm(build, (4, 4), 64))
    stored(out)
    run = timed(build)
    read = run.start(HBM_READ, 2)
    assert run.moved(FINISH, 1, end=read + 1).check().right
    overwritten = run.moved(FINISH, 1, end=read).check()
    assert overwritten.first_wrong.because.operand == "b"
    assert overwritten.first_wrong.because.fault is Fault.OVERWRITTEN_TOO_EARLY


def test_both_operands_in_hbm_are_told_apart(build, timed, hbm, stored):
    a, b = hbm(build, (8, 4), 0), hbm(build, (4, 8), 64)
    out = build.handle((8, 8), label="out")
    build.gemm(8, 4, 8, a, b, out)
    build.wait(0)
    stored(out, (8, 8))
    assert timed(build).check().right


def test_an_output_tile_in_tcm_appears_at_the_end_of_its_gemm(build, timed, gemm, math, stored):
    _, _, out = gemm()
    copied = build.handle((4, 4))
    math(build, "copy", [out], copied)
    stored(copied)
    run = timed(build)
    assert run.moved(MATH, start=run.end(GEMM)).check().right
    assert not run.moved(MATH, start=run.end(GEMM) - 1).check().right


def test_an_output_tile_appears_at_the_end_of_the_last_op_on_it(build, timed, gemm, math, stored):
    _, _, out = gemm(epilogue=[("relu", []), ("relu", [])])
    copied = build.handle((4, 4))
    math(build, "copy", [out], copied)
    stored(copied)
    run = timed(build)
    # MATH 0 and 1 are the ops on the tile, 2 is the copy
    assert run.moved(MATH, 2, start=run.end(MATH, 1)).check().right
    assert not run.moved(MATH, 2, start=run.end(MATH, 1) - 1).check().right


def test_an_output_tile_in_hbm_appears_a_latency_after_its_hbm_write(
    build, timed, gemm, hbm, stored
):
    gemm(out_in=Space.HBM)
    again = build.handle((4, 4))
    build.load(hbm(build, (4, 4), OUT_AT + 64), again)
    stored(again)
    run = timed(build)
    arrived = run.end(HBM_WRITE) + HBM_LATENCY_PS
    assert run.moved(HBM_READ, 2, start=arrived).check().right
    assert not run.moved(HBM_READ, 2, start=arrived - 1).check().right


@pytest.mark.parametrize("scope", [Scope.K_TILE, Scope.OUTPUT_TILE])
def test_an_op_on_a_tile_reads_its_other_operand_at_its_start(
    build, timed, hbm, math, stored, scope
):
    a, b, out = (build.handle((4, 4), label=label) for label in ("a", "b", "out"))
    bias = build.handle((4,), label="bias")
    for at, target, shape in ((0, a, (4, 4)), (64, b, (4, 4)), (128, bias, (4,))):
        build.load(hbm(build, shape, at), target)
    build.wait(0, 1, 2)
    product = OpForm("gemm", ("a", "b"), True, (("m", 4), ("k", 4), ("n", 4)))
    add = OpForm("add", ("src", "other"), True, scope=scope)
    build.command(CommandKind.COMPOSITE, (product, add), [a, b, out, out, bias, out])
    overwriting(build, math, bias, (4,))
    stored(out)
    run = timed(build)
    # MATH 0 is the op on the tile, 1 the overwriting
    read = run.start(MATH, 0)
    assert run.moved(MATH, 1, end=read + 1).check().right
    overwritten = run.moved(MATH, 1, end=read).check()
    assert overwritten.first_wrong.because.label == "bias"
    assert overwritten.first_wrong.because.operand == "other"


def test_partial_sums_are_added_over_k_in_f32(build, timed, hbm, stored):
    # of a = [2048, 0 …] each k-tile adds one: 2048 + 1 is no f16 number and 2048 + 1 + 1 is
    x = np.zeros(256)
    x[[0, 7, 11]] = 2048, 1, 1
    x[12:24] = 1
    a, b = build.handle((1, 12)), build.handle((12, 1))
    out = build.handle((1, 1))
    build.load(hbm(build, (1, 12), 0), a)
    build.load(hbm(build, (12, 1), 24), b)
    build.wait(0, 1)
    build.gemm(1, 12, 1, a, b, out)
    build.wait(3)
    stored(out, (1, 1))
    run = timed(build, x=x)
    assert run.check().right
    assert final_x(run)[OUT_AT // 2] == 2050


def final_x(run):
    """x when the kernel has run in program order."""
    timeline = run.timeline
    program = Program(timeline.trace, timeline.topology, timeline.stages)
    memory = in_program_order(program, timeline.trace.inputs).memory
    return memory.image((0, 0)).view(np.float16)


# -- messages. Slots are 64 bytes: 32 elements of f16.


@pytest.fixture
def message(build, timed, hbm, math, pair):
    """PE 0 loads 48 elements and sends them in two fragments; PE 1 receives and stores them."""
    there = type(build)()
    source, target = build.handle((48,), label="sent"), there.handle((48,), label="received")
    build.load(hbm(build, (48,), 0), source)
    build.wait(0)
    build.message(CommandKind.SEND, "E", source)
    overwriting(build, math, source, (48,))
    there.message(CommandKind.RECV_ASYNC, "W", target)
    copied = there.handle((48,))
    math(there, "copy", [target], copied, waits=[0])
    there.overhead(LATER)
    there.store(copied, hbm(there, (48,), OUT_AT))
    return timed(build, there, machine=pair)


def test_a_send_reads_each_fragment_at_its_own_start(message):
    first, second = message.start(SEND, 0), message.start(SEND, 1)
    assert first < second
    assert message.moved(MATH, 0, end=second + 1).check().right
    # the second fragment is 16 elements, the first 32
    late = message.moved(MATH, 0, end=second).check().outputs[0]
    assert (late.wrong_elements, late.ranks, late.wrong_ranks) == (16, (0, 1), (1,))
    assert message.moved(MATH, 0, end=first).check().outputs[0].wrong_elements == 48


def test_a_fragment_is_in_its_target_at_the_end_of_its_receive(message):
    message = message.moved(MATH, 0, end=message.start(SEND, 1) + 1)
    arrived = message.end(RECV, 1)
    assert message.moved(MATH, 1, start=arrived).check().right
    early = message.moved(MATH, 1, start=arrived - 1).check()
    assert early.outputs[0].wrong_elements == 16


def test_a_wrong_message_is_traced_back_to_its_sender(message):
    wrong = message.moved(MATH, 0, end=message.start(SEND, 0)).check().first_wrong
    assert (wrong.writer.rank, wrong.writer.verb) == (1, "recv_async W")
    assert (wrong.because.reader.rank, wrong.because.reader.verb) == (0, "send E")
    assert wrong.because.found.verb == "math copy"
    assert wrong.because.label == "sent"


def test_a_fragment_may_end_in_the_middle_of_an_element(build, timed, hbm, pair):
    odd = pair.model_copy(update={"ipcq": pair.ipcq.model_copy(update={"slot_bytes": 5})})
    there = type(build)()
    source, target = build.handle((8,)), there.handle((8,))
    build.load(hbm(build, (8,), 0), source)
    build.wait(0)
    build.message(CommandKind.SEND, "E", source)
    there.message(CommandKind.RECV, "W", target)
    there.store(target, hbm(there, (8,), OUT_AT))
    run = timed(build, there, machine=odd)
    assert int((run.timeline.stages.kind == SEND).sum()) == 4
    assert run.check().right


# -- one instant


def test_results_of_one_instant_appear_in_the_order_of_stage_ids(build, timed, hbm, math, stored):
    a, b, out = (build.handle((4, 4)) for _ in range(3))
    for at, target in ((0, a), (64, b)):
        build.load(hbm(build, (4, 4), at), target)
    build.wait(0, 1)
    math(build, "copy", [a], out)
    math(build, "copy", [b], out)
    stored(out)
    run = timed(build)
    second = run.end(MATH, 1)
    assert run.moved(MATH, 0, end=second).check().right
    # a picosecond later the first write is the last
    swapped = run.moved(MATH, 0, end=second + 1).check()
    assert swapped.outputs[0].max_abs_difference == 32
    assert swapped.first_wrong.because.fault is Fault.OVERWRITTEN_TOO_LATE
