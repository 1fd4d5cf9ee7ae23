"""Launches of several PEs: messages, the order of running, deadlocks, and errors of the kernel's own."""

import re

import greenlet
import numpy as np
import pytest
from capture_bench import BF16, F32, machine, normal, record, refusal
from kerntape.capture.messages import UnreceivedMessageError
from kerntape.capture.runner import Launch, Program, run_kernel
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import (
    CaptureDeadlockError,
    ConfigError,
    KernelError,
    KernelRaisedError,
)
from kerntape.schemas.trace import STREAM_COLUMNS

X = normal(4, 8)


def line_numbers_replaced(text: object) -> str:
    return re.sub(r"test_runner\.py:\d+", "L", str(text))


# -- messages


def test_a_message_carries_the_values_to_the_neighbour() -> None:
    def kernel(x, y, *, tl):
        pe = tl.program_id(0)
        a = tl.load(x) * float(pe + 1)
        if pe == 0:
            tl.send("E", tl.trans(a))
        else:
            tl.store(y, tl.recv("W", (8, 4), "f32") * 10.0)

    found = record(kernel, X, np.zeros((8, 4), F32), topology=machine(2))
    np.testing.assert_allclose(found.value(1, pe=1), 10 * X.T)
    send, recv = found.commands(0)[-1], found.commands(1)[2]
    assert (send.kind, send.form.direction, len(send.handles)) == (CommandKind.SEND, "E", 1)
    assert (recv.kind, recv.form.direction, len(recv.handles)) == (CommandKind.RECV, "W", 1)
    assert [command.form.logical_bytes for command in (send, recv)] == [12, 12]


def test_messages_of_one_queue_are_received_in_the_order_in_which_receives_were_issued() -> None:
    def kernel(x, y, *, tl):
        if tl.program_id(0) == 0:
            for row in x:
                tl.send("E", tl.load(row))
            return
        first, second = (tl.recv_async("W", (8,), "f32") for _ in range(2))
        third = tl.recv("W", (8,), "f32")
        tl.wait(second)  # awaited before the first, and still the second message
        for place, row in enumerate((first, second, third, tl.recv("W", (8,), "f32"))):
            tl.store(y[place], row)

    found = record(kernel, X, np.zeros_like(X), topology=machine(2))
    np.testing.assert_array_equal(found.value(1, pe=1), X)


def test_a_ring_passes_blocks_around_both_ways() -> None:
    # 2 × 2 PEs: E, S, W, N around the square; each PE sums every block once
    def kernel(x, y, *, tl):
        pe = tl.program_id(0)
        onward = {0: "E", 1: "S", 3: "W", 2: "N"}[pe]
        back = {0: "S", 1: "W", 3: "N", 2: "E"}[pe]
        block = tl.load(x) + float(pe)
        total = tl.copy(block)
        for _ in range(3):
            tl.send(onward, block)
            block = tl.wait(tl.recv_async(back, (4, 8), "f32"))
            tl.add(total, block, out=total)
        tl.store(y, total)

    found = record(kernel, X, np.zeros_like(X), topology=machine(2, 2))
    for pe in range(4):
        np.testing.assert_allclose(found.value(1, pe), 4 * X + 6, rtol=1e-6)


def test_pes_run_in_rank_order_and_switch_only_to_wait() -> None:
    happened = []

    def kernel(x, *, tl):
        pe = tl.program_id(0)
        happened.append(f"{pe} starts")
        if pe < 2:
            tl.recv("E", (4, 8), "f32")
        if pe > 0:
            tl.send("W", tl.load(x))
        happened.append(f"{pe} ends")

    record(kernel, X, topology=machine(3))
    assert happened == ["0 starts", "1 starts", "2 starts", "2 ends", "1 ends", "0 ends"]


def test_the_least_rank_that_can_go_on_goes_on_first() -> None:
    ended = []

    def kernel(x, *, tl):
        pe = tl.program_id(0)
        if pe == 2:
            a = tl.load(x)
            tl.send("E", a)
            tl.send("W", a)
        elif pe in (1, 3):
            tl.recv("E" if pe == 1 else "W", (4, 8), "f32")
        ended.append(pe)

    record(kernel, X, topology=machine(4))
    assert ended == [0, 2, 1, 3]


def test_a_receive_that_nobody_waited_for_still_gets_its_message() -> None:
    def kernel(x, *, tl):
        if tl.program_id(0) == 0:
            tl.recv_async("E", (4, 8), "f32")
        else:
            tl.send("W", tl.load(x))

    assert record(kernel, X, topology=machine(2)).ops(0) == ["recv_async"]


# -- what is shared


def test_equal_pes_share_a_stream_and_others_do_not() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)
        if tl.program_id(0) == 2:
            tl.exp(a)

    found = record(kernel, X, topology=machine(4))
    assert [pe.stream for pe in found.trace.pes] == [0, 0, 1, 0]
    assert len(found.trace.streams) == 2


def exchange(x, y, *, tl):
    pe = tl.program_id(0)
    with tl.scratch_scope(slots=2):
        a = tl.load(x)
        tl.send("EW"[pe], a * 2.0)
        s = tl.composite(op="gemm", a=a, b=tl.trans(tl.ref(x)), epilogue=[{"op": "relu"}])
        tl.store(y, s + tl.sum(tl.recv("EW"[pe], (4, 8), "f32")))


def test_two_captures_are_equal_and_without_values_too() -> None:
    arrays = X, np.zeros((4, 4), F32)
    first, second, bare = (
        record(exchange, *arrays, topology=machine(2), data=data).trace
        for data in (True, True, False)
    )
    for other in (second, bare):
        assert (other.strings, other.forms, other.lines, other.geometries) == (
            first.strings,
            first.forms,
            first.lines,
            first.geometries,
        )
        assert other.pes == first.pes
        for one, another in zip(first.streams, other.streams, strict=True):
            for column in STREAM_COLUMNS:
                np.testing.assert_array_equal(getattr(one, column), getattr(another, column))


# -- messages that go wrong


def test_a_direction_that_does_not_exist_names_the_nearest() -> None:
    def kernel(x, *, tl):
        tl.send("EE", tl.load(x))  # here

    assert refusal(kernel, X, topology=machine(2)) == "no direction 'EE'; known: E, W"


def test_a_direction_off_the_machine_is_named() -> None:
    def kernel(*, tl):
        tl.recv("W", (4,), "f32")  # here

    assert refusal(kernel, topology=machine(2)) == (
        "direction 'W' leads off the machine from pe 0 of cube 0 of sip 0"
    )


def test_a_neighbour_that_was_not_launched_is_named() -> None:
    def kernel(*, tl):
        tl.recv("E", (4,), "f32")

    launch = Launch(kernel, (1, 1, 1), machine(2), (Program(0, (0, 0, 0)),))
    with pytest.raises(KernelError) as error:
        run_kernel(launch)
    assert line_numbers_replaced(error.value) == (
        "direction 'E' leads to PE 1, which is not part of this launch (L)"
    )


@pytest.mark.parametrize(
    ("shape", "dtype", "asked"),
    [
        ((4, 4), "f32", "[4, 4] f32"),
        ((4, 8), "bf16", "[4, 8] bf16"),
        ((8, 4), "f32", "[8, 4] f32; tl.view it then"),  # as many bytes, in another order
        ((32,), "f32", "[32] f32; tl.view it then"),
    ],
)
def test_a_message_of_another_shape_or_dtype_names_both_lines(shape, dtype, asked) -> None:
    def kernel(x, *, tl):
        if tl.program_id(0) == 0:
            tl.send("E", tl.load(x))
        else:
            tl.recv("W", shape, dtype)

    with pytest.raises(KernelError) as error:
        record(kernel, X, topology=machine(2))
    assert line_numbers_replaced(error.value) == (
        "the message from 'W' is [4, 8] f32, sent by PE 0 at L, and must be received as such, not"
        f" as {asked} (PE 1, L)"
    )


def test_a_message_that_is_waited_for_elsewhere_names_three_lines() -> None:
    def kernel(x, *, tl):
        if tl.program_id(0) == 0:
            tl.send("E", tl.load(x))
        else:
            block = tl.recv_async("W", (4,), "f32")
            tl.wait(block)

    with pytest.raises(KernelError) as error:
        record(kernel, X, topology=machine(2))
    assert line_numbers_replaced(error.value) == (
        "the message from 'W' is [4, 8] f32, sent by PE 0 at L, and must be received as such, not"
        " as [4] f32 at L (PE 1, L)"
    )


def test_messages_that_nobody_received_are_an_error_of_their_own() -> None:
    def kernel(x, *, tl):
        if tl.program_id(0) == 0:
            a = tl.load(x)
            tl.send("E", a)
            tl.send("E", a)

    with pytest.raises(UnreceivedMessageError) as error:
        record(kernel, X, topology=machine(2))
    assert line_numbers_replaced(error.value) == (
        "2 messages were sent and never received; the first: [4, 8] f32 from PE 0 at L, which PE 1"
        " must receive from 'W'"
    )


# -- deadlocks


def test_a_deadlock_names_the_cycle_and_the_tail_on_it() -> None:
    def kernel(*, tl):
        pe = tl.program_id(0)
        if pe == 0:
            tl.recv("E", (4,), "f32")  # PE 0 and 1 wait for each other
        elif pe == 1:
            late = tl.recv_async("W", (4,), "f32")
            tl.exp(late)
        else:
            tl.recv("W", (4,), "f32")  # PE 2 waits on 1, PE 3 on 2

    with pytest.raises(CaptureDeadlockError) as error:
        record(kernel, topology=machine(4))
    code = kernel.__code__.co_firstlineno
    assert str(error.value) == (
        "capture deadlock: 4 of 4 PEs wait and none can go on;"
        f" cycle: PE 0 at test_runner.py:{code + 3} waits for message 1 from 'E' (PE 1)"
        f" → PE 1 at test_runner.py:{code + 6} waits for message 1 from 'W' (PE 0);"
        f" waiting on it: PE 2 at test_runner.py:{code + 8} waits for message 1 from 'W' (PE 1),"
        f" PE 3 at test_runner.py:{code + 8} waits for message 1 from 'W' (PE 2)"
    )


def test_after_a_deadlock_kernels_clean_up_and_cannot_wait_again() -> None:
    cleaned = []

    def kernel(*, tl):
        try:
            tl.recv("EW"[tl.program_id(0)], (4,), "f32")
        finally:
            cleaned.append(tl.program_id(0))
            tl.recv("EW"[tl.program_id(0)], (4,), "f32")
            cleaned.append("unreachable")

    def failing(*, tl):
        try:
            tl.recv("EW"[tl.program_id(0)], (4,), "f32")
        finally:
            raise ValueError("while it is being ended")

    with pytest.raises(CaptureDeadlockError):
        record(kernel, topology=machine(2))
    assert cleaned == [0, 1]
    with pytest.raises(CaptureDeadlockError):
        record(failing, topology=machine(2))


def test_a_wait_for_a_pe_that_has_finished_says_so() -> None:
    def kernel(x, *, tl):
        if tl.program_id(0) == 0:
            tl.send("E", tl.load(x))
        else:
            tl.recv("W", (4, 8), "f32")
            tl.recv("W", (4, 8), "f32")

    with pytest.raises(CaptureDeadlockError) as error:
        record(kernel, X, topology=machine(2))
    assert line_numbers_replaced(error.value) == (
        "capture deadlock: 1 of 2 PEs wait and none can go on; waiting in vain: PE 1 at L waits"
        " for message 2 from 'W' (PE 0, which has finished)"
    )


# -- errors of the kernel's own


def test_a_kernels_own_exception_comes_with_its_own_traceback() -> None:
    def helper(sizes):
        return sizes["d"]

    def kernel(*, tl):
        tl.zeros((4,))
        helper({})

    with pytest.raises(KernelRaisedError) as error:
        record(kernel)
    assert line_numbers_replaced(error.value) == "the kernel raised KeyError: 'd' (L)"
    shown = error.value.kernel_traceback
    assert shown.startswith("Traceback (most recent call last):\n")
    assert shown.count("  File ") == 2
    assert "in kernel\n    helper({})" in shown
    assert "in helper\n    return sizes" in shown
    assert "runner.py" not in shown.replace("test_runner.py", "")
    assert shown.endswith("KeyError: 'd'\n")


def test_an_exception_under_a_verb_keeps_the_kernels_frames_only() -> None:
    class Unknown:
        def __index__(self) -> int:
            raise ValueError("nobody knows")

    def kernel(*, tl):
        tl.zeros(Unknown())

    with pytest.raises(KernelRaisedError) as error:
        record(kernel)
    assert line_numbers_replaced(error.value) == "the kernel raised ValueError: nobody knows (L)"
    assert error.value.kernel_traceback.count("  File ") == 2


def test_a_kernel_that_exits_has_raised() -> None:
    def kernel(*, tl):
        raise SystemExit(3)

    with pytest.raises(KernelRaisedError) as error:
        record(kernel, topology=machine(2))
    assert line_numbers_replaced(error.value) == "the kernel raised SystemExit: 3 (PE 0, L)"


def test_a_keyboard_interrupt_is_not_the_kernels() -> None:
    def kernel(*, tl):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(kernel)


def test_a_kernel_that_cannot_be_called_as_it_is_launched_is_refused_before_it_runs() -> None:
    def kernel(x, y, *, tl):
        raise AssertionError("must not run")

    with pytest.raises(ConfigError) as error:
        record(kernel, X)
    assert str(error.value) == (
        "kernel cannot be called as it is launched: missing a required argument: 'y'"
    )


def test_low_precision_messages_keep_their_bits() -> None:
    low = normal(4, 8, dtype=BF16)

    def kernel(x, y, *, tl):
        if tl.program_id(0) == 0:
            tl.send("E", tl.load(x))
        else:
            tl.store(y, tl.recv("W", (4, 8), "bf16"))

    found = record(kernel, low, np.zeros((4, 8), BF16), topology=machine(2))
    np.testing.assert_array_equal(found.value(1, pe=1), low.astype(np.float64))


# -- what is no kernel, and what a kernel may raise


def test_a_kernel_that_has_not_run_when_it_returns_is_refused() -> None:
    def generator(x, *, tl):
        yield tl.load(x)

    async def coroutine(x, *, tl):
        tl.load(x)

    async def async_generator(x, *, tl):
        yield tl.load(x)

    def returns_one(x, *, tl):
        return coroutine(x, tl=tl)

    kinds = {
        generator: "generator",
        coroutine: "coroutine",
        async_generator: "async generator",
        returns_one: "coroutine",
    }
    for kernel, kind in kinds.items():
        with pytest.raises(KernelError) as error:
            record(kernel, X)
        assert str(error.value) == (
            "the kernel must be a plain function that runs when it is called, and returned a"
            f" {kind}; take its async, await and yield out"
        )


class OfItsOwn(BaseException):
    """What no `except Exception` catches."""


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (greenlet.GreenletExit(), "GreenletExit"),
        (OfItsOwn("boo"), "OfItsOwn: boo"),
        (SystemExit(3), "SystemExit: 3"),
        (GeneratorExit(), "GeneratorExit"),
    ],
)
def test_whatever_a_kernel_raises_is_its_own_error(raised: BaseException, told: str) -> None:
    def kernel(x, *, tl):
        if tl.program_id(0) == 1:
            raise raised
        tl.recv("E", (4, 8), "f32")

    with pytest.raises(KernelRaisedError) as error:
        record(kernel, X, topology=machine(2))
    shown = line_numbers_replaced(error.value)
    assert shown == f"the kernel raised {told} (PE 1, L)"


def test_ctrl_c_in_a_kernel_is_none_of_its_errors() -> None:
    def kernel(x, *, tl):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(kernel, X)


def test_what_a_kernel_raises_while_it_is_being_ended_hides_nothing() -> None:
    def kernel(x, *, tl):
        if tl.program_id(0) == 1:
            raise ValueError("first")
        try:
            tl.recv("E", (4, 8), "f32")
        finally:
            raise OfItsOwn("second")

    with pytest.raises(KernelRaisedError, match=r"^the kernel raised ValueError: first"):
        record(kernel, X, topology=machine(2))
