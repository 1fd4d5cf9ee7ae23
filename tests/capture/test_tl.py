"""tl's verbs: the commands that they record and what they compute."""

from collections.abc import Callable
from math import inf

import numpy as np
import pytest
from capture_bench import BF16, F16, F32, I32, machine, normal, record
from kerntape.capture.tensors import HbmTensor
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.handles import Space

# -- commands


def test_a_small_kernel_records_exactly_these_commands() -> None:
    def kernel(x, y, *, tl):
        a = tl.load(x)
        b = tl.exp(a)
        tl.store(y, b)

    found = record(kernel, normal(4, 8), normal(4, 8))
    load, exp, store = found.commands()
    assert (load.kind, exp.kind, store.kind) == (
        CommandKind.LOAD,
        CommandKind.MATH,
        CommandKind.STORE,
    )
    assert found.ops() == ["load", "exp", "store"]
    assert found.waits() == [(), (0,), ()]
    x, a = load.handles
    assert (x.label, x.geometry.space, x.tensor, x.address) == ("x", Space.HBM, 0, 0)
    assert (a.label, a.geometry.space, a.tensor, a.address) == ("a", Space.TCM, -1, 0)
    # exp's result is scratch: the last MiB of 4 MiB
    assert [handle.label for handle in exp.handles] == ["a", "b"]
    assert exp.handles[1].address == 3 << 20
    assert [handle.label for handle in store.handles] == ["b", "y"]
    assert [handle.id for handle in (x, a, *exp.handles, *store.handles)] == [0, 1, 1, 2, 2, 3]


def test_every_command_counts_the_bytes_of_one_op() -> None:
    # 2 (opcode, scope) + 1 + 8 an operand + 8 for an output + 1 + 4 a scalar
    def kernel(x, y, *, tl):
        a = tl.load(x)  # one operand, one output: 20
        b = tl.zeros((4, 4))  # an output and a scalar: 16
        tl.dot(a, b)  # two operands, an output, m k n: 40
        tl.overhead(7)  # a scalar: 8
        tl.wait()  # nothing: 4
        tl.arange(8)  # an output, start and end: 20
        tl.store(y, a)  # 20

    found = record(kernel, normal(4, 4), normal(4, 4))
    assert [command.form.logical_bytes for command in found.commands()] == [
        *(20, 16, 40, 8, 4, 20, 20)
    ]


def test_overhead_records_its_cycles() -> None:
    def kernel(*, tl):
        tl.overhead(25)

    (command,) = record(kernel).commands()
    assert command.form.ops[0].integer("cycles") == 25


def test_a_reference_and_a_view_are_no_commands() -> None:
    def kernel(x, *, tl):
        tl.ref(x[:, 1:3])
        a = tl.empty((4, 4))
        tl.trans(tl.view(a, (2, 8)))
        tl.broadcast(a[0:1], (4, 4))

    assert record(kernel, normal(4, 4)).commands() == []


def test_a_number_in_an_operators_place_is_a_scalar_of_the_command() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)
        a * 2.0
        1 - a

    _, times, minus = record(kernel, normal(4)).commands()
    assert times.form.ops[0].operands == ("src",)
    assert times.form.ops[0].extra == (("other", 2.0),)
    assert minus.form.ops[0].operands == ("other",)
    assert minus.form.ops[0].extra == (("src", 1),)


def test_out_writes_into_the_named_handle_and_allocates_nothing() -> None:
    def kernel(*, tl):
        total = tl.zeros((8,))
        tl.add(total, 1.0, out=total)

    fill, add = record(kernel).commands()
    assert fill.handles[0] == add.handles[0] == add.handles[1]


def test_program_id_counts_pes_cubes_and_sips() -> None:
    seen = []

    def kernel(*, tl):
        seen.append([tl.program_id(axis) for axis in range(3)])
        seen.append([tl.num_programs(axis) for axis in range(3)])

    record(kernel, topology=machine(2))
    assert seen == [[0, 0, 0], [2, 1, 1], [1, 0, 0], [2, 1, 1]]


def test_a_reduction_axis_is_recorded_from_the_end() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)
        tl.max(a, axis=1)
        tl.max(a)

    _, first, second = record(kernel, normal(4, 8)).commands()
    assert first.form is second.form
    assert first.form.ops[0].extra == (("reduce_axis", -1),)


def test_a_comparison_of_handles_issues_a_command_and_a_handle_stays_hashable() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)
        assert len({a, a}) == 1
        for each in (a < 0, a <= 0, a > 0, a >= 0, a == a, a != a):
            assert each.dtype == "bool"
        (a < 0) & ~(a > 1) | (a == 0)

    found = record(kernel, normal(4))
    assert found.ops()[1:] == [
        *("lt", "le", "gt", "ge", "eq", "ne"),
        *("lt", "gt", "not", "and", "eq", "or"),
    ]


# -- values

A, B, POSITIVE = normal(4, 6), normal(4, 6, seed=1), np.abs(normal(4, 6, seed=2)) + F32.type(0.5)


@pytest.mark.parametrize(
    ("verb", "exact"),
    [
        (lambda tl, a, b, c: tl.exp(a), lambda a, b, c: np.exp(a)),
        (lambda tl, a, b, c: tl.neg(a), lambda a, b, c: -a),
        (lambda tl, a, b, c: -a, lambda a, b, c: -a),
        (lambda tl, a, b, c: tl.copy(a), lambda a, b, c: a),
        (lambda tl, a, b, c: tl.sqrt(c), lambda a, b, c: np.sqrt(c)),
        (lambda tl, a, b, c: tl.rsqrt(c), lambda a, b, c: 1 / np.sqrt(c)),
        (lambda tl, a, b, c: tl.relu(a), lambda a, b, c: np.maximum(a, 0)),
        (lambda tl, a, b, c: tl.sigmoid(a), lambda a, b, c: 1 / (1 + np.exp(-a))),
        (
            lambda tl, a, b, c: tl.gelu(a),
            lambda a, b, c: a / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (a + 0.044715 * a**3))),
        ),
        (lambda tl, a, b, c: a + b, lambda a, b, c: a + b),
        (lambda tl, a, b, c: a - b, lambda a, b, c: a - b),
        (lambda tl, a, b, c: a * b, lambda a, b, c: a * b),
        (lambda tl, a, b, c: a / c, lambda a, b, c: a / c),
        (lambda tl, a, b, c: 2 - a, lambda a, b, c: 2 - a),
        (lambda tl, a, b, c: 2 / c, lambda a, b, c: 2 / c),
        (lambda tl, a, b, c: 0.5 * a + 1, lambda a, b, c: 0.5 * a + 1),
        (lambda tl, a, b, c: a / 2, lambda a, b, c: a / 2),
        (lambda tl, a, b, c: tl.add(a, b), lambda a, b, c: a + b),
        (lambda tl, a, b, c: tl.sub(1.5, b), lambda a, b, c: 1.5 - b),
        (lambda tl, a, b, c: tl.mul(a, 3), lambda a, b, c: a * 3),
        (lambda tl, a, b, c: tl.div(a, c), lambda a, b, c: a / c),
        (lambda tl, a, b, c: tl.maximum(a, b), lambda a, b, c: np.maximum(a, b)),
        (lambda tl, a, b, c: tl.minimum(a, 0), lambda a, b, c: np.minimum(a, 0)),
        (lambda tl, a, b, c: tl.exp_diff(a, b), lambda a, b, c: np.exp(a - b)),
        (lambda tl, a, b, c: tl.fma(a, b, c), lambda a, b, c: a * b + c),
        (lambda tl, a, b, c: tl.scale(a, 0.3), lambda a, b, c: a * 0.3),
        (lambda tl, a, b, c: tl.bias(a, b[0]), lambda a, b, c: a + b[0]),
        (lambda tl, a, b, c: tl.mul_bcast(a, b[:, 2]), lambda a, b, c: a * b[:, 2:3]),
        (
            lambda tl, a, b, c: tl.exp_diff(a, b[:, 1], bcast_axis=0),
            lambda a, b, c: np.exp(a - b[:, 1:2]),
        ),
        (
            lambda tl, a, b, c: tl.div(a, tl.sum(c), bcast_axis=1),
            lambda a, b, c: a / c.sum(1, keepdims=True),
        ),
        (lambda tl, a, b, c: tl.softmax(a), lambda a, b, c: np.exp(a) / np.exp(a).sum(1)[:, None]),
        (
            lambda tl, a, b, c: a - tl.max(a, axis=0),
            lambda a, b, c: a - a.max(0),
        ),
        (
            lambda tl, a, b, c: a - tl.min(a, keepdims=True),
            lambda a, b, c: a - a.min(1, keepdims=True),
        ),
        (
            lambda tl, a, b, c: a + tl.sum(a, axis=0, keepdims=True),
            lambda a, b, c: a + a.sum(0, keepdims=True),
        ),
        (lambda tl, a, b, c: tl.where(a < b, a, b), lambda a, b, c: np.minimum(a, b)),
        (lambda tl, a, b, c: tl.where(a >= 0, a, 0.0), lambda a, b, c: np.maximum(a, 0)),
        (
            lambda tl, a, b, c: tl.where((a > 0) & ~(b > 0) | tl.eq(a, b), 1.0, a),
            lambda a, b, c: np.where((a > 0) & (b <= 0), 1.0, a),
        ),
        (
            lambda tl, a, b, c: tl.where(tl.arange(6) < 4, a, -inf),
            lambda a, b, c: np.where(np.arange(6) < 4, a, -np.inf),
        ),
    ],
)
def test_a_verb_computes_its_formula(verb: Callable, exact: Callable) -> None:
    def kernel(x, y, z, out, *, tl):
        tl.store(out, verb(tl, tl.load(x), tl.load(y), tl.load(z)))

    found = record(kernel, A, B, POSITIVE, np.zeros_like(A))
    wanted = exact(*(array.astype(np.float64) for array in (A, B, POSITIVE)))
    np.testing.assert_allclose(found.value(3), wanted, rtol=2e-6, atol=1e-6)


def test_trans_really_transposes() -> None:
    def kernel(x, y, *, tl):
        tl.store(y, tl.copy(tl.trans(tl.load(x))))

    found = record(kernel, A, np.zeros((6, 4), F32))
    np.testing.assert_array_equal(found.value(1), A.T)


def test_a_broadcast_repeats_without_copying() -> None:
    def kernel(x, y, *, tl):
        row = tl.load(x[1])
        wide = tl.broadcast(row, (4, 6))
        assert wide.geometry.strides == (0, 4)
        tl.store(y, wide)

    found = record(kernel, A, np.zeros_like(A))
    np.testing.assert_array_equal(found.value(1), np.tile(A[1], (4, 1)))


def test_slices_views_and_rows_reach_the_elements_that_numpy_reaches() -> None:
    def kernel(x, y, *, tl):
        a = tl.load(x)
        parts = (a[1:3, 2:5], a[::2, ::2], a[-1], a.view(2, 12)[:, 3:6], a[..., 5:, None][:, 0])
        for row, part in zip(y, parts, strict=True):
            flat = tl.view(tl.copy(part), (-1,))
            tl.store(row[: len(flat)], flat)

    found = record(kernel, A, np.zeros((5, 6), F32))
    last_column = [*A[:, 5], 0, 0]
    wanted = [A[1:3, 2:5].ravel(), A[::2, ::2].ravel(), A[-1], A.reshape(2, 12)[:, 3:6].ravel()]
    np.testing.assert_array_equal(found.value(1), [*wanted, last_column])


def test_loads_and_stores_follow_slices_and_offsets_of_hbm_tensors() -> None:
    def kernel(x, y, *, tl):
        columns = tl.load(x[:, 1:4])
        assert columns.geometry.is_contiguous
        tl.store(y[0:4, 0:3], columns)
        tl.store(y + 12, tl.load(x + 6, (2, 6)))

    found = record(kernel, A, np.zeros((4, 6), F32))
    wanted = np.zeros((4, 6), F32)
    wanted[:, 0:3] = A[:, 1:4]
    wanted[2:4] = A[1:3]  # 12 elements are two rows of 6
    np.testing.assert_array_equal(found.value(1), wanted)


@pytest.mark.parametrize("stored", [F16, BF16, F32])
def test_a_dot_agrees_with_float64_in_every_dtype(stored) -> None:
    a, b = normal(40, 70, dtype=stored), normal(70, 50, dtype=stored, seed=1)

    def kernel(x, y, z, *, tl):
        tl.store(z, tl.dot(tl.load(x), tl.load(y), dtype="f32"))

    found = record(kernel, a, b, np.zeros((40, 50), F32))
    np.testing.assert_allclose(
        found.value(2), a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=1e-5
    )


def test_a_dot_takes_a_transposed_view() -> None:
    def kernel(x, z, *, tl):
        a = tl.load(x)
        tl.store(z, tl.dot(a, tl.trans(a)))

    found = record(kernel, A, np.zeros((4, 4), F32))
    np.testing.assert_allclose(found.value(1), A.astype(np.float64) @ A.T, rtol=1e-5)


def test_a_result_is_rounded_to_the_dtype_that_it_is_stored_in() -> None:
    def kernel(x, y, z, *, tl):
        a = tl.load(x)
        tl.store(y, tl.exp(a, dtype="bf16"))
        tl.store(z, tl.cast(a, "i32"))

    found = record(kernel, A, np.zeros((4, 6), BF16), np.zeros((4, 6), I32))
    exact = np.exp(A.astype(np.float64))
    np.testing.assert_allclose(found.value(1), exact, rtol=2**-8)
    assert not np.array_equal(found.value(1), exact.astype(F32))
    np.testing.assert_array_equal(found.value(2), np.trunc(A))


def test_a_sum_of_low_precision_values_is_f32_unless_asked_otherwise() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)
        assert tl.sum(a).dtype == "f32"
        assert tl.sum(a, dtype="bf16").dtype == "bf16"
        assert tl.max(a).dtype == "bf16"

    record(kernel, normal(4, 8, dtype=BF16))


def test_memory_that_nobody_wrote_is_no_number() -> None:
    def kernel(y, *, tl):
        tl.store(y, tl.empty((4,)))

    assert np.isnan(record(kernel, np.zeros(4, F32)).value(0)).all()


def test_an_op_may_write_into_its_own_operand() -> None:
    def kernel(x, y, *, tl):
        a = tl.load(x)
        tl.add(a, tl.trans(a), out=a)
        tl.store(y, a)

    square = normal(5, 5)
    found = record(kernel, square, np.zeros_like(square))
    np.testing.assert_array_equal(found.value(1), square + square.T)


def test_tensors_are_given_to_a_kernel_without_their_values() -> None:
    def kernel(x, *, tl):
        assert isinstance(x, HbmTensor)
        assert (x.shape, x.dtype, x.name, len(x)) == ((4, 6), "f32", "x", 4)
        assert [row.shape for row in x] == [(6,)] * 4

    record(kernel, A)
