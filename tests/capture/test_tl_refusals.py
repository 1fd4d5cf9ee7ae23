"""What tl refuses, each with the line that the author reads."""

from collections.abc import Callable
from typing import Any

import pytest
from capture_bench import BF16, machine, normal, record, refusal
from kerntape.capture.handles import TensorHandle
from kerntape.capture.tl import Tl
from kerntape.schemas.errors import KernelError

A = normal(4, 6)


def test_a_verb_that_tl_has_not_gets_the_nearest_one() -> None:
    def kernel(x, *, tl):
        tl.laod(x)  # here

    assert refusal(kernel, A) == "tl has no 'laod'; did you mean 'load'?"


def test_a_kernel_may_ask_whether_tl_has_a_verb() -> None:
    def kernel(x, *, tl):
        assert hasattr(tl, "load")
        assert not hasattr(tl, "try_recv")

    record(kernel, A)


def test_a_shape_that_does_not_broadcast_names_both_shapes() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)
        a - tl.max(a)  # here

    assert refusal(kernel, A) == "tl.sub: shapes [4, 6] and [4] do not broadcast"


def test_an_output_of_another_shape_is_refused() -> None:
    def kernel(x, *, tl):
        tl.exp(tl.load(x), out=tl.empty((4,)))  # here

    assert refusal(kernel, A) == "tl.exp: out must be [4, 6], not [4]"


def test_a_truth_value_cannot_be_stored_as_a_float_without_a_cast() -> None:
    def kernel(x, *, tl):
        tl.lt(tl.load(x), 0.0, dtype="f32")  # here

    assert (
        refusal(kernel, A) == "tl.lt: the result is bool and must not be stored as f32; tl.cast it"
    )


def test_a_math_operand_in_hbm_is_refused() -> None:
    def kernel(x, *, tl):
        tl.exp(tl.ref(x))  # here

    assert refusal(kernel, A) == (
        "tl.exp: MATH operand must be TCM, and src is a reference into HBM; tl.load it"
    )


def test_an_output_in_hbm_is_refused() -> None:
    def kernel(x, *, tl):
        tl.exp(tl.load(x), out=tl.ref(x))  # here

    assert refusal(kernel, A) == "tl.exp: out must be in TCM, not a reference into HBM; tl.store it"


def test_a_tensor_is_no_operand() -> None:
    def kernel(x, *, tl):
        tl.load(x) + x  # here

    assert (
        refusal(kernel, A)
        == "tl.add: other must be a handle or a number, not HbmTensor; tl.load it"
    )


def test_a_tensor_cannot_be_stored() -> None:
    def kernel(x, y, *, tl):
        tl.store(y, x)  # here

    assert refusal(kernel, A, A) == (
        "tl.store: must be given a handle, not tensor 'x' [4, 6] f32 in HBM; tl.load gives one"
    )


def test_a_tensor_cannot_be_waited_for() -> None:
    def kernel(x, *, tl):
        tl.load(x)
        tl.wait(x)  # here

    assert refusal(kernel, A) == (
        "tl.wait: must be given a handle, not tensor 'x' [4, 6] f32 in HBM; tl.load gives one"
    )


def test_a_tensor_is_no_operand_of_a_composite() -> None:
    def kernel(x, *, tl):
        tl.composite(op="gemm", a=tl.load(x), b=x)  # here

    assert refusal(kernel, A) == (
        "gemm: b must be a handle, not tensor 'x' [4, 6] f32 in HBM; tl.load gives one"
    )


def test_two_numbers_are_no_command() -> None:
    def kernel(*, tl):
        tl.add(1, 2)  # here

    assert refusal(kernel) == "tl.add: src or other must be a handle, not a number"


def test_a_handle_has_no_truth_value() -> None:
    def kernel(x, *, tl):
        small = tl.load(x) < 0
        if small:  # here
            tl.wait()

    assert refusal(kernel, A) == (
        "'small' [4, 6] bool has no truth value: a kernel's flow cannot depend on computed"
        " values; use tl.where"
    )


def test_a_dot_of_shapes_that_do_not_multiply_is_refused() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)
        tl.dot(a, a)  # here

    assert refusal(kernel, A) == "tl.dot: a must be [m, k] and b [k, n], not [4, 6] and [4, 6]"


def test_a_dot_of_two_dtypes_is_refused() -> None:
    def kernel(x, y, *, tl):
        tl.dot(tl.load(x), tl.trans(tl.load(y)))  # here

    assert refusal(kernel, A, normal(4, 6, dtype=BF16)) == (
        "tl.dot: a and b must have one float dtype, not f32 and bf16; tl.cast one"
    )


def test_a_dot_reads_tcm_only() -> None:
    def kernel(x, *, tl):
        tl.dot(tl.load(x), tl.trans(tl.ref(x)))  # here

    assert refusal(kernel, A) == (
        "tl.dot: 'x' [6, 4] f32 must be in TCM, not a reference into HBM; tl.load it"
    )


def test_a_store_must_have_the_targets_shape_and_dtype() -> None:
    def kernel(x, y, *, tl):
        tl.store(y, tl.load(x))  # here

    assert refusal(kernel, A, normal(4, 6, dtype=BF16)) == (
        "tl.store: the value must be as its target 'y' [4, 6] bf16, not 'x' [4, 6] f32; tl.cast it"
    )
    assert refusal(kernel, A, normal(6, 4)) == (
        "tl.store: the value must be as its target 'y' [6, 4] f32, not 'x' [4, 6] f32"
    )


def test_an_offset_needs_a_shape_and_stays_inside_the_tensor() -> None:
    def unshaped(x, *, tl):
        tl.load(x + 4)  # here

    def outside(x, *, tl):
        tl.load(x + 20, (5,))  # here

    def strided(x, *, tl):
        tl.load(x[:, 1:3] + 1, (2,))  # here

    assert refusal(unshaped, A) == "tl.load: a tensor with an offset needs a shape"
    assert refusal(outside, A) == "elements 20 to 25 lie outside 'x', which has 24"
    assert (
        refusal(strided, A) == "an offset needs a contiguous tensor, and 'x' is strided; slice it"
    )


def test_a_load_of_something_else_is_refused() -> None:
    def kernel(*, tl):
        tl.load(3)  # here

    assert refusal(kernel) == "tl.load: must be given a tensor in HBM, not int"


def test_slices_outside_or_empty_are_refused() -> None:
    def beyond(x, *, tl):
        tl.load(x[4])  # here

    def empty(x, *, tl):
        tl.load(x)[:, 3:3]  # here

    def backwards(x, *, tl):
        tl.load(x)[::-1]  # here

    def deep(x, *, tl):
        tl.load(x)[0, 0, 0]  # here

    def wrong(x, *, tl):
        tl.load(x)["a"]  # here

    assert refusal(beyond, A) == "tensor 'x': index 4 is outside extent 4"
    assert refusal(empty, A) == "'x' [4, 6] f32: the slice 3:3 of extent 6 is empty"
    assert refusal(backwards, A) == "'x' [4, 6] f32: a slice's step must be positive, not -1"
    assert refusal(deep, A) == "'x' [4, 6] f32: too many indexes for shape [4, 6]"
    assert (
        refusal(wrong, A)
        == "'x' [4, 6] f32: an index must be an int, a slice, None or ..., not str"
    )


def test_a_view_must_keep_the_elements_and_be_contiguous() -> None:
    def other_count(x, *, tl):
        tl.view(tl.load(x), (5, 5))  # here

    def strided(x, *, tl):
        tl.trans(tl.load(x)).view(24)  # here

    assert refusal(other_count, A) == (
        "tl.view: 'x' [4, 6] f32: [4, 6] has 24 elements and cannot be viewed as [5, 5]"
    )
    assert refusal(strided, A) == (
        "'x' [6, 4] f32: must be contiguous to be viewed in another shape; tl.copy it"
    )


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (lambda tl, v: tl.reshape(v, (5, 5)), "tl.reshape: 'v' [4, 6] f32: [4, 6] has 24 elements"),
        (lambda tl, v: tl.reshape(v, "a"), "tl.reshape: a shape must be ints, not 'a'"),
        (lambda tl, v: tl.maximum(v, v[:, :4]), "tl.maximum: shapes [4, 6] and [4, 4] do not"),
        (lambda tl, v: tl.sum(v, out=v), "tl.sum: out must be [4], not [4, 6]"),
        (lambda tl, v: tl.min(3), "tl.min: must be given a handle, not int"),
        (lambda tl, v: tl.scale(v, v), "tl.scale: factor must be a number, not TensorHandle"),
        (
            lambda tl, v: tl.exp(v, dtype="f61"),
            "tl.exp: no dtype 'f61'; known: f16, bf16, f32, i32, bool",
        ),
        (lambda tl, v: tl.full((4,), v), "tl.full: the value must be a number, not TensorHandle"),
        (lambda tl, v: tl.arange(4, 4), "tl.arange: must run from a start to a later end"),
        (lambda tl, v: v & v, "&: src must be bool, not f32; tl.cast it"),
    ],
)
def test_a_message_begins_with_the_verb_that_was_written(
    mistake: Callable[[Any, Any], object], text: str
) -> None:
    def kernel(x, *, tl):
        v = tl.load(x)
        mistake(tl, v)

    with pytest.raises(KernelError) as error:
        record(kernel, A)
    assert str(error.value).startswith(text)


def test_trans_needs_two_axes_and_broadcast_a_shape_that_fits() -> None:
    def flat(x, *, tl):
        tl.trans(tl.load(x[0]))  # here

    def wide(x, *, tl):
        tl.broadcast(tl.load(x), (4, 7))  # here

    assert refusal(flat, A) == "tl.trans: 'x' [6] f32: trans needs two axes, not shape [6]"
    assert refusal(wide, A) == ("tl.broadcast: 'x' [4, 6] f32: [4, 6] does not broadcast to [4, 7]")


def test_an_unknown_dtype_names_the_nearest() -> None:
    def kernel(*, tl):
        tl.zeros((4,), "bf61")  # here

    assert refusal(kernel) == "tl.zeros: no dtype 'bf61'; did you mean 'bf16'?"


def test_shapes_are_ints_of_at_least_one() -> None:
    def empty(*, tl):
        tl.zeros((4, 0))  # here

    def floats(*, tl):
        tl.empty((4, 2.0))  # here

    assert refusal(empty) == "tl.zeros: every extent must be at least 1, not [4, 0]"
    assert refusal(floats) == "tl.empty: a shape must be ints, not (4, 2.0)"


def test_a_whole_number_fills_integers() -> None:
    def kernel(*, tl):
        tl.full((4,), 1.5, "i32")  # here

    assert refusal(kernel) == "tl.full: the value of i32 must be whole, not 1.5"


def test_an_axis_is_0_1_or_2() -> None:
    def kernel(*, tl):
        tl.program_id(3)  # here

    assert refusal(kernel) == "axis must be 0 (PE), 1 (CUBE) or 2 (SIP), not 3"


def test_overhead_and_slots_are_counts() -> None:
    def cycles(*, tl):
        tl.overhead(-1)  # here

    def slots(*, tl):
        tl.scratch_scope(slots=0)  # here

    def too_many(*, tl):
        tl.overhead(10**12 + 1)  # here

    must = "tl.overhead: cycles must be an int from 0 to 1000000000000"
    assert refusal(cycles) == f"{must}, not -1"
    assert refusal(too_many) == f"{must}, not 1000000000001"
    assert refusal(slots) == "tl.scratch_scope: slots must be an int of at least 1, not 0"


def test_a_reduction_over_an_axis_that_is_not_there_is_refused() -> None:
    def kernel(x, *, tl):
        tl.max(tl.load(x), axis=5)  # here

    def before_the_first(x, *, tl):
        tl.softmax(tl.load(x), axis=-3)  # here

    assert refusal(kernel, A) == "tl.max: axis must be an axis of [4, 6], not 5"
    assert refusal(before_the_first, A) == "tl.softmax: axis must be an axis of [4, 6], not -3"


def test_a_handle_of_another_pe_is_refused() -> None:
    kept: list[TensorHandle] = []

    def kernel(*, tl):
        kept.append(tl.zeros((4,)))
        tl.exp(kept[0])  # here

    assert refusal(kernel, topology=machine(2)) == (
        "'zeros' [4] f32 belongs to another PE; only tl.send and tl.recv carry data between PEs"
    )


def test_a_tl_and_a_handle_work_in_their_own_kernel_only() -> None:
    kept: list[object] = []

    def by_verb(*, tl):
        kept.append(tl)
        kept[0].zeros((4,))  # here

    def by_operator(*, tl):
        kept.append(tl.zeros((4,)))
        kept[0] + 1.0  # here

    def by_scope(*, tl):
        kept.append(tl)
        kept[0].scratch_scope()  # here

    for kernel in (by_verb, by_operator, by_scope):
        kept.clear()
        assert refusal(kernel, topology=machine(2)) in (
            "PE 0's tl and handles must be used by its own kernel while it runs, not by another"
            " PE's, after its end or in a thread; use the tl that the kernel is given"
        )


def test_a_tl_is_of_no_use_after_its_kernel_has_returned() -> None:
    kept: list[Tl] = []

    def kernel(*, tl):
        kept.append(tl)

    record(kernel)
    with pytest.raises(KernelError, match=r"^PE 0's tl and handles must be used by its own kernel"):
        kept[0].overhead(1)


def test_what_another_pe_sees_of_a_tensor_is_refused() -> None:
    kept: list[object] = []

    def kernel(x, *, tl):
        kept.append(x)
        tl.load(kept[0][0:2])  # here

    assert refusal(kernel, A, topology=machine(2)) == (
        "tensor 'x' is what PE 0 sees of it, and PE 1 uses it; use the kernel's own argument, or"
        " tl.part_of with it"
    )


def test_an_integer_number_must_fit_32_bits() -> None:
    def kernel(*, tl):
        tl.arange(4) + 2**31  # here

    assert refusal(kernel) == "tl.add: other must fit 32 bits, not 2147483648"
