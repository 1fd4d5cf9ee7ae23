"""tl.composite: the descriptors that it makes and what they compute."""

from collections.abc import Callable

import numpy as np
import pytest
from capture_bench import BF16, DTYPES, F16, F32, normal, record
from hypothesis import given, settings
from hypothesis import strategies as st
from kerntape.capture.recipes import (
    EngineOp,
    PrimaryOutSpec,
    RecipeDescriptor,
    ScratchSlot,
)
from kerntape.schemas.commands import CommandKind, Scope
from kerntape.schemas.tiling import gemm_steps
from kerntape.schemas.topology import Tile
from kerntape.schemas.trace import Command
from kerntape.schemas.values import evaluate, round_to, tile_product

Q, K, V = normal(8, 128, dtype=BF16), normal(128, 64, dtype=BF16), normal(64, 128, dtype=BF16)
SCALE = 0.088


def only_composite(kernel: Callable, *arrays, **options) -> Command:
    """The kernel's one composite."""
    found = [
        command
        for command in record(kernel, *arrays, **options).commands()
        if command.kind is CommandKind.COMPOSITE
    ]
    assert len(found) == 1
    return found[0]


def wide(array):
    return array.astype(np.float64)


# -- the byte anchors of DDD-0065


def test_a_bare_gemm_is_46_bytes() -> None:
    # framing 4, counted ops 1 + (2 + 1 + 2·8 + 8 + 1 + 3·4 = 40), counted rw handles 1
    def kernel(q, k, *, tl):
        tl.composite(op="gemm", a=tl.load(q), b=tl.ref(k))

    command = only_composite(kernel, Q, K)
    assert command.form.logical_bytes == 46
    assert command.form.ops[0].extra == (("m", 8), ("k", 128), ("n", 64))


def test_a_gemm_with_scale_is_70_bytes() -> None:
    # 46 and 2 + 1 + 8 (src) + 8 (out) + 1 + 4 (factor) = 24
    def kernel(q, k, *, tl):
        tl.composite(
            op="gemm", a=tl.load(q), b=tl.ref(k), epilogue=[{"op": "scale", "factor": SCALE}]
        )

    command = only_composite(kernel, Q, K)
    assert command.form.logical_bytes == 70
    scale = command.form.ops[1]
    assert (scale.operands, scale.has_out, scale.scope) == (("src",), True, Scope.OUTPUT_TILE)
    assert command.op_operands(1)["src"] == command.op_out(1) == command.op_out(0)
    assert command.rw_handles == ()


def opt2_tile(q, k, v, *, tl):
    a = tl.load(q)
    m, l, O = tl.full((8,), -9.0), tl.zeros((8,)), tl.zeros((8, 128))  # noqa: E741, N806
    scale = [{"op": "scale", "factor": SCALE}]
    s = tl.composite(op="gemm", a=a, b=tl.ref(k), epilogue=scale, out_dtype="f32")
    merge = {"op": "softmax_merge", "s": s, "m": m, "l": l, "O": O}
    add = {"op": "add", "other": O}
    tl.composite(op="gemm", b=tl.ref(v), out=O, prologue=[merge], epilogue=[add])


def test_the_opt2_tile_is_two_commands_of_392_bytes() -> None:
    commands = record(opt2_tile, Q, K, V).commands()[-2:]
    assert [command.form.logical_bytes for command in commands] == [70, 322]


def test_the_opt3_tile_is_ten_commands_of_348_bytes() -> None:
    def kernel(q, k, v, *, tl):
        a = tl.load(q)
        m, m_new = tl.full((8,), -9.0), tl.empty((8,))
        l, O = tl.zeros((8,)), tl.zeros((8, 128))  # noqa: E741, N806
        scale = [{"op": "scale", "factor": SCALE}]
        s = tl.composite(op="gemm", a=a, b=tl.ref(k), epilogue=scale, out_dtype="f32")
        tl.maximum(m, tl.max(s), out=m_new)
        corr = tl.exp_diff(m, m_new)
        p = tl.exp_diff(s, m_new, bcast_axis=0, dtype="bf16")
        tl.fma(l, corr, tl.sum(p), out=l)
        tl.mul_bcast(O, corr, out=O)
        tl.add(O, tl.composite(op="gemm", a=p, b=tl.ref(v), out_dtype="f32"), out=O)

    found = record(kernel, Q, K, V)
    tile = found.commands()[-10:]
    assert found.ops()[-10:] == [
        *("gemm+scale", "rmax", "max_elem", "exp_diff", "exp_diff", "rsum", "fma"),
        *("mul_bcast", "gemm", "add"),
    ]
    assert [command.form.logical_bytes for command in tile] == [
        *(70, 24, 28, 28, 32, 24, 36, 32, 46, 28)
    ]
    assert sum(command.form.logical_bytes for command in tile) == 348


def test_the_same_handle_counts_wherever_it_stands() -> None:
    # DDD-0065 §10: three references and one rw entry more are 3·8 + 8 = 32 bytes more
    def kernel(x, y, *, tl):
        a, o = tl.load(x), tl.empty((8, 8))
        tl.composite(op="gemm", a=a, b=tl.ref(y), out=o)
        tl.composite(op="gemm", a=a, b=tl.ref(y), out=o, epilogue=[{"op": "add", "other": o}])

    bare, accumulating = record(kernel, normal(8, 8), normal(8, 8)).commands()[-2:]
    add_without_handles = 2 + 1 + 1
    grown = accumulating.form.logical_bytes - bare.form.logical_bytes
    assert grown == 32 + add_without_handles


# -- structure


def test_softmax_merge_unfolds_into_eight_ops_before_the_gemm() -> None:
    command = record(opt2_tile, Q, K, V).commands()[-1]
    assert command.op_kinds == (
        *("rmax", "max_elem", "exp_diff", "exp_diff", "rsum", "fma", "mul_bcast", "copy"),
        *("gemm", "add"),
    )
    spelled = [
        (
            [handle.label for handle in command.op_operands(index).values()],
            command.op_out(index).label,
            op.extra,
            op.scope,
        )
        for index, op in enumerate(command.form.ops)
    ]
    rows, per_row, sizes = (("reduce_axis", -1),), "bcast_axis", (("m", 8), ("k", 64), ("n", 128))
    assert spelled == [
        (["s"], "m_loc", rows, Scope.KERNEL),
        (["m", "m_loc"], "m_new", (), Scope.KERNEL),
        (["m", "m_new"], "corr", (), Scope.KERNEL),
        (["s", "m_new"], "P", ((per_row, 0),), Scope.KERNEL),
        (["P"], "l_loc", rows, Scope.KERNEL),
        (["l", "corr", "l_loc"], "l", (), Scope.KERNEL),
        (["O", "corr"], "O", ((per_row, 1),), Scope.KERNEL),
        (["m_new"], "m", (), Scope.KERNEL),
        (["P", "v"], "O", sizes, Scope.KERNEL),
        (["O", "O"], "O", (), Scope.OUTPUT_TILE),
    ]
    assert [handle.label for handle in command.rw_handles] == ["m", "l", "O"]


def test_p_has_the_storage_dtype_and_the_state_stays_f32() -> None:
    command = record(opt2_tile, Q, K, V).commands()[-1]
    dtypes = {handle.label: handle.geometry.dtype for handle in command.handles}
    assert dtypes == {
        **dict.fromkeys(("s", "m", "l", "O", "m_loc", "m_new", "corr", "l_loc"), "f32"),
        "P": "bf16",
        "v": "bf16",
    }


def test_the_output_has_the_dtype_of_a_unless_another_is_asked_for() -> None:
    def kernel(q, k, *, tl):
        a = tl.load(q)
        assert tl.composite(op="gemm", a=a, b=tl.ref(k)).dtype == "bf16"
        assert tl.composite(op="gemm", a=a, b=tl.ref(k), out_dtype="f32").dtype == "f32"

    record(kernel, Q, K)


def test_the_output_may_lie_in_hbm() -> None:
    def kernel(q, k, y, *, tl):
        tl.composite(op="gemm", a=tl.load(q), b=tl.ref(k), out=tl.ref(y))
        tl.wait()

    found = record(kernel, Q, K, np.zeros((8, 64), BF16))
    np.testing.assert_allclose(found.value(2), wide(Q) @ wide(K), rtol=2**-7, atol=1e-2)


def test_equal_structures_share_a_form_and_other_scalars_make_another() -> None:
    def kernel(q, k, *, tl):
        a, b = tl.load(q), tl.load(k)
        for factor in (0.5, 0.5, 2, 2.0):
            tl.composite(op="gemm", a=a, b=b, epilogue=[{"op": "scale", "factor": factor}])

    commands = record(kernel, Q, K).commands()[2:]
    factors = [command.form.ops[1].extra[0][1] for command in commands]
    assert [repr(factor) for factor in factors] == ["0.5", "0.5", "2", "2.0"]
    assert commands[0].form is commands[1].form
    assert len({id(command.form) for command in commands}) == 3


def test_a_call_that_repeats_a_handle_has_its_own_plan() -> None:
    # the same geometries, but once a and the bias are one handle
    def kernel(x, *, tl):
        a, b = tl.load(x), tl.load(x)
        tl.composite(op="gemm", a=a, b=a, epilogue=[{"op": "add", "other": b}])
        tl.composite(op="gemm", a=a, b=b, epilogue=[{"op": "add", "other": b}])

    first, second = record(kernel, normal(8, 8)).commands()[2:]
    a, b = (first.op_operands(0)["a"], second.op_operands(0)["b"])
    assert list(first.op_operands(0).values()) == [a, a]
    assert list(second.op_operands(0).values()) == [a, b]
    assert first.op_operands(1)["other"] == second.op_operands(1)["other"] == b


# -- the other forms


def test_a_math_composite_runs_its_ops_once_and_epilogue_ops_go_on_in_place() -> None:
    def kernel(x, y, *, tl):
        e = tl.composite(
            op="math",
            math_op="exp",
            a=tl.load(x),
            epilogue=[{"op": "add", "other": 1.0}, {"op": "rsqrt"}],
        )
        tl.store(y, e)

    found = record(kernel, normal(4, 4), np.zeros((4, 4), F32))
    command = found.commands()[1]
    assert command.op_kinds == ("exp", "add", "rsqrt")
    assert {op.scope for op in command.form.ops} == {Scope.KERNEL}
    assert len({command.op_out(index).id for index in range(3)}) == 1
    np.testing.assert_allclose(
        found.value(1), 1 / np.sqrt(np.exp(wide(normal(4, 4))) + 1), rtol=1e-6
    )


def test_a_math_composite_may_be_named_by_its_op() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)
        tl.composite(op="exp_diff", a=a, b=a[0:1])
        tl.composite(op="fma", src_a=a, src_b=2.0, src_c=a, out=a)

    found = record(kernel, normal(4, 4))
    assert found.ops()[1:] == ["exp_diff", "fma"]
    assert [handle.label for handle in found.commands()[2].rw_handles] == ["a"]


def test_the_flat_form_says_the_same_as_prologue_and_epilogue() -> None:
    def flat(q, k, v, *, tl):
        a = tl.load(q)
        m, l, O = tl.full((8,), -9.0), tl.zeros((8,)), tl.zeros((8, 128))  # noqa: E741, N806
        s = tl.composite(
            ops=[
                {"op": "gemm", "a": a, "b": tl.ref(k), "dtype": "f32"},
                {"op": "scale", "factor": SCALE, "scope": "OUTPUT_TILE"},
            ]
        )
        tl.composite(
            ops=[
                {"op": "softmax_merge", "s": s, "m": m, "l": l, "O": O},
                {"op": "gemm", "b": tl.ref(v), "out": O},
                {"op": "add", "other": O, "scope": Scope.OUTPUT_TILE},
            ]
        )

    flat_forms = [command.form for command in record(flat, Q, K, V).commands()]
    assert flat_forms == [command.form for command in record(opt2_tile, Q, K, V).commands()]


def test_ops_after_the_loop_run_once_on_the_whole_output() -> None:
    def kernel(x, y, z, *, tl):
        o = tl.composite(
            op="gemm",
            a=tl.load(x),
            b=tl.load(y),
            epilogue=[
                {"op": "scale", "factor": 0.5},
                {"op": "softmax", "reduce_axis": -1, "scope": "kernel"},
            ],
        )
        tl.store(z, o)

    # 40 columns: two tiles of 32 and 8, so a softmax per tile would be another
    a, b = normal(8, 16), normal(16, 40)
    found = record(kernel, a, b, np.zeros((8, 40), F32))
    powers = np.exp(0.5 * (wide(a) @ wide(b)))
    np.testing.assert_allclose(
        found.value(2), powers / powers.sum(1, keepdims=True), rtol=1e-5, atol=1e-7
    )


# -- values

OTHER, COLUMN_BIAS, ROW_FACTOR = normal(40, 50, seed=5), normal(50, seed=6), normal(40, seed=7)


@pytest.mark.parametrize(
    ("epilogue", "exact"),
    [
        (lambda h: [], lambda c: c),
        (lambda h: [{"op": "scale", "factor": 0.3}], lambda c: 0.3 * c),
        (lambda h: [{"op": "bias", "bias": h["bias"]}], lambda c: c + COLUMN_BIAS),
        (lambda h: [{"op": "add", "other": h["other"]}], lambda c: c + OTHER),
        (lambda h: [{"op": "add", "other": 1.0}], lambda c: c + 1),
        (
            lambda h: [{"op": "mul_bcast", "other": h["rows"], "bcast_axis": 1}],
            lambda c: c * ROW_FACTOR[:, None],
        ),
        (
            lambda h: [
                {"op": "scale", "factor": 2.0},
                {"op": "bias", "bias": h["bias"]},
                {"op": "relu"},
                {"op": "sub", "other": h["other"]},
            ],
            lambda c: np.maximum(2 * c + COLUMN_BIAS, 0) - OTHER,
        ),
        (
            lambda h: [{"op": "scale", "factor": 0.5, "scope": "K_TILE"}, {"op": "relu"}],
            lambda c: np.maximum(0.5 * c, 0),
        ),
    ],
)
def test_tile_ops_act_on_every_tile_also_where_tiles_are_ragged(epilogue, exact) -> None:
    # 40 × 70 × 50 in tiles of 32 × 64 × 32: two ragged tiles along each axis
    def kernel(x, y, other, bias, rows, z, *, tl):
        handles = {"other": tl.load(other), "bias": tl.load(bias), "rows": tl.load(rows)}
        tl.store(z, tl.composite(op="gemm", a=tl.load(x), b=tl.ref(y), epilogue=epilogue(handles)))

    a, b = normal(40, 70), normal(70, 50, seed=1)
    found = record(kernel, a, b, OTHER, COLUMN_BIAS, ROW_FACTOR, np.zeros((40, 50), F32))
    np.testing.assert_allclose(found.value(5), exact(wide(a) @ wide(b)), rtol=1e-4, atol=1e-5)


def test_a_k_tile_op_acts_on_each_product_before_it_is_accumulated() -> None:
    # relu of each of the two k steps' products (k = 64 + 6), then their sum
    def kernel(x, y, z, *, tl):
        relu = [{"op": "relu", "scope": "K_TILE"}]
        tl.store(z, tl.composite(op="gemm", a=tl.load(x), b=tl.load(y), epilogue=relu))

    a, b = normal(4, 70), normal(70, 4, seed=1)
    found = record(kernel, a, b, np.zeros((4, 4), F32))
    parts = [wide(a)[:, part] @ wide(b)[part] for part in (slice(0, 64), slice(64, 70))]
    wanted = sum(np.maximum(part, 0) for part in parts)
    np.testing.assert_allclose(found.value(2), wanted, rtol=1e-4, atol=1e-5)


@given(st.integers(1, 70), st.integers(1, 130), st.integers(1, 70), st.sampled_from([F16, BF16]))
@settings(max_examples=25)
def test_re_executing_the_tiles_in_order_gives_the_same_bits(m, k, n, stored) -> None:
    def kernel(x, y, z, *, tl):
        scale = [{"op": "scale", "factor": 0.3}]
        tl.store(z, tl.composite(op="gemm", a=tl.load(x), b=tl.load(y), epilogue=scale))

    a, b = normal(m, k, dtype=stored), normal(k, n, dtype=stored, seed=1)
    found = record(kernel, a, b, np.zeros((m, n), stored))
    scale = found.commands()[2].form.ops[1]
    wanted = np.zeros((m, n), stored)
    sums: dict[int, np.ndarray] = {}
    for step in gemm_steps(m, k, n, Tile(m=32, k=64, n=32)):
        rows, inner, columns = (
            slice(step.m_from, step.m_to),
            slice(step.k_from, step.k_to),
            slice(step.n_from, step.n_to),
        )
        zero = np.zeros((step.m_to - step.m_from, step.n_to - step.n_from), F32)
        before = zero if step.first_k else sums[step.m_from]
        sums[step.m_from] = before + tile_product(a[rows, inner], b[inner, columns])
        if step.last_k:
            scaled = evaluate(scale, [sums[step.m_from]])
            wanted[rows, columns] = round_to(scaled, DTYPES[stored])
    np.testing.assert_array_equal(found.value(2), wide(wanted))


def test_an_output_is_rounded_once_after_its_tile_ops() -> None:
    # 3 × 86 = 258 has no bf16; halved before it is rounded, it has: 129
    def kernel(x, y, z, *, tl):
        half = [{"op": "scale", "factor": 0.5}]
        tl.store(z, tl.composite(op="gemm", a=tl.load(x), b=tl.load(y), epilogue=half))

    found = record(
        kernel, np.array([[3]], BF16), np.array([[86 + 1 / 3]], BF16), np.zeros((1, 1), BF16)
    )
    product = 3 * float(np.array(86 + 1 / 3).astype(BF16))
    assert found.value(2) == float(np.array(product / 2).astype(BF16))


def test_opt2_and_opt3_agree_with_float64_attention_over_several_tiles() -> None:
    k, v = normal(128, 192, dtype=BF16, seed=1), normal(192, 128, dtype=BF16, seed=2)

    def kernel(q, k, v, y, *, tl):
        a = tl.load(q)
        m, l, O = tl.full((8,), float("-inf")), tl.zeros((8,)), tl.zeros((8, 128))  # noqa: E741, N806
        for j in range(0, 192, 64):
            with tl.scratch_scope(slots=2):
                s = tl.composite(
                    op="gemm",
                    a=a,
                    b=tl.ref(k[:, j : j + 64]),
                    out_dtype="f32",
                    epilogue=[{"op": "scale", "factor": SCALE}],
                )
                tl.composite(
                    op="gemm",
                    b=tl.ref(v + j * 128, (64, 128)),
                    out=O,
                    prologue=[{"op": "softmax_merge", "s": s, "m": m, "l": l, "O": O}],
                    epilogue=[{"op": "add", "other": O}],
                )
        tl.store(y, tl.div(O, l, bcast_axis=1))

    found = record(kernel, Q, k, v, np.zeros((8, 128), F32))
    powers = np.exp(SCALE * (wide(Q) @ wide(k)))
    wanted = powers @ wide(v) / powers.sum(1, keepdims=True)
    np.testing.assert_allclose(found.value(3), wanted, atol=4e-3)


# -- a recipe of the kernel's own

CENTRED = RecipeDescriptor(
    name="centred",
    operands=(("x", "R"), ("mean", "R")),
    scratch=(),
    primary_out=PrimaryOutSpec(ScratchSlot("C", from_shape="x", from_dtype="b"), "trans"),
    engine_seq=(EngineOp("sub", ("x", "mean"), "C"),),
)


def test_a_kernel_may_bring_its_own_recipe_and_bind_its_output_transposed() -> None:
    def kernel(x, mean, b, y, *, tl):
        item = {"op": CENTRED, "x": tl.load(x), "mean": tl.load(mean)}
        tl.store(y, tl.composite(op="gemm", b=tl.load(b), prologue=[item]))

    x, mean, b = normal(16, 8), normal(8, seed=1), normal(16, 4, seed=2)
    found = record(kernel, x, mean, b, np.zeros((8, 4), F32))
    command = found.commands()[3]
    centred, a = command.op_out(0), command.op_operands(1)["a"]
    assert (a.address, a.geometry.shape, a.geometry.strides) == (centred.address, (8, 16), (4, 32))
    np.testing.assert_allclose(
        found.value(3), (wide(x) - wide(mean)).T @ wide(b), rtol=1e-4, atol=1e-5
    )
