"""tl.composite: the descriptors it makes, what they compute, and what it refuses."""

from collections.abc import Callable

import numpy as np
import pytest
from capture_bench import BF16, F32, machine, normal, record, refusal
from kerntape.capture.recipes import (
    EngineOp,
    PrimaryOutSpec,
    RecipeDescriptor,
    ScratchSlot,
)
from kerntape.schemas.commands import CommandKind, Scope
from kerntape.schemas.errors import KernelError
from kerntape.schemas.trace import Command

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


# -- refusals


def state(tl):
    return {"m": tl.zeros((8,)), "l": tl.zeros((8,)), "O": tl.zeros((8, 128))}


MERGE = {"op": "softmax_merge"}


@pytest.mark.parametrize(
    ("issue", "message"),
    [
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", a=q, b=v, prologue=[{**MERGE, "s": tl.zeros((8, 64)), **state(tl)}]
            ),
            "composite: auto-bind conflict: softmax_merge binds its output to the GEMM's a, and a="
            " is given too; leave one out",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", b=v, prologue=[{**MERGE, "s": tl.zeros((8, 64)), **state(tl)}] * 2
            ),
            "composite: auto-bind conflict: softmax_merge and softmax_merge both bind their output"
            " to the GEMM's a; keep one",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="math", math_op="exp", a=k),
            "exp: MATH operand must be TCM, and src is a reference into HBM; tl.load it",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", a=q, b=k, epilogue=[{"op": "add", "other": k}]
            ),
            "add: MATH operand must be TCM, and other is a reference into HBM; tl.load it",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", b=v, prologue=[{**MERGE, "s": k, **state(tl)}]
            ),
            "softmax_merge, at m_loc = rmax(s): rmax: MATH operand must be TCM, and src is a"
            " reference into HBM; tl.load it",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", b=v, prologue=[{**MERGE, "s": tl.zeros((8, 64)), **state(tl), "O": v}]
            ),
            "softmax_merge: O is read and written (RW), so it must be a handle in TCM, not a"
            " reference (tl.ref)",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="gemm", b=v, prologue=[{**MERGE, **state(tl)}]),
            "softmax_merge: the operand 's' is missing",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm",
                b=v,
                prologue=[{**MERGE, "s": tl.zeros((8, 64)), **state(tl), "mm": q}],
            ),
            "softmax_merge: no operand 'mm'; did you mean 'm'?",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", b=v, prologue=[{**MERGE, "s": tl.zeros((4, 64)), **state(tl)}]
            ),
            "softmax_merge, at m_loc = rmax(s): rmax: out must be [4], not [8]",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="gemm", b=v, prologue=[{**MERGE, "s": 1.0}]),
            "softmax_merge: s must be a handle, not float",
        ),
        (
            lambda tl, q, k, v: tl.composite(ops=[{**MERGE, "s": tl.zeros((8, 64)), **state(tl)}]),
            "softmax_merge: P takes its dtype from the GEMM's b, and no GEMM follows",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", a=q, b=k, epilogue=[{**MERGE, "s": tl.zeros((8, 64)), **state(tl)}]
            ),
            "composite: softmax_merge must stand before the GEMM, not after it",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="gemm", a=q, b=k, prologue=[{"op": "softmx"}]),
            "composite: unknown op 'softmx'; did you mean 'softmax'?",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="gem", a=q, b=k),
            "composite: unknown op 'gem'; did you mean 'gemm'?",
        ),
        (
            lambda tl, q, k, v: tl.composite(ops=[{"op": "gemm", "a": q, "b": k}] * 2),
            "composite: must have at most one GEMM; issue two composites",
        ),
        (
            lambda tl, q, k, v: tl.composite(ops=[]),
            "composite: must have at least one op",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", a=q, b=k, prologue=[{"op": "scale", "factor": 2.0, "scope": "K_TILE"}]
            ),
            "composite: scale has scope K_TILE, so it must directly follow the GEMM, and stands"
            " before the GEMM",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm",
                a=q,
                b=k,
                epilogue=[{"op": "relu", "scope": "KERNEL"}, {"op": "relu"}],
            ),
            "composite: relu has scope OUTPUT_TILE, so it must directly follow the GEMM, and stands"
            " after a KERNEL op",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", a=q, b=k, epilogue=[{"op": "softmax", "reduce_axis": -1}]
            ),
            "softmax: cannot run on a GEMM's tile; give it scope KERNEL",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", a=q, b=k, epilogue=[{"op": "relu", "out": tl.zeros((8, 64))}]
            ),
            "relu: a tile op reads and writes the GEMM's tile; leave src and out away",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", a=q, b=k, epilogue=[{"op": "relu", "scope": "TILE"}]
            ),
            "composite: no scope 'TILE'; did you mean 'K_TILE'?",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", a=q, b=k, epilogue=[{"op": "bias", "bias": tl.zeros((8,))}]
            ),
            "bias: shapes [8, 64] and [8] do not broadcast",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", a=q, b=k, epilogue=[{"op": "add", "other": tl.zeros((2, 8, 64))}]
            ),
            "add: must broadcast to the GEMM's output [8, 64]",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="gemm", a=q, b=k, epilogue=[{"op": "scale"}]),
            "scale: the scalar 'factor' is missing",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="gemm", a=q, b=k, epilogue=[{"op": "add"}]),
            "add: the operand 'other' is missing",
        ),
        (
            lambda tl, q, k, v: tl.composite(
                op="gemm", a=q, b=k, epilogue=[{"op": "scale", "factr": 1.0}]
            ),
            "scale: no operand 'factr'; did you mean 'factor'?",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="gemm", a=q),
            "gemm: the operand 'b' is missing",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="gemm", a=q, b=v),
            "gemm: a must be [m, k] and b [k, n], not [8, 128] and [64, 128]",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="gemm", a=tl.zeros((8, 128)), b=k),
            "gemm: a and b must have one float dtype, not f32 and bf16; tl.cast one",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="gemm", a=q, b=k, out=tl.zeros((8, 8))),
            "gemm: out must be [8, 64] of a float dtype, not [8, 8] f32",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="gemm", a=q, b=k, epi=[]),
            "composite: unknown argument 'epi'; did you mean 'epilogue'?",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="math", a=q),
            "composite: op='math' needs math_op=, the name of a math op",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="exp", a=q, b=q),
            "composite: exp takes 1 operand, and b= is a second",
        ),
        (
            lambda tl, q, k, v: tl.composite(op="gemm", a=q, b=k, epilogue=["scale"]),
            "composite: an item must be a dict with an 'op', not 'scale'",
        ),
    ],
)
def test_what_the_hardware_cannot_be_handed_is_refused(issue, message) -> None:
    def kernel(q, k, v, *, tl):
        issue(tl, tl.load(q), tl.ref(k), tl.ref(v))

    with pytest.raises(KernelError) as error:
        record(kernel, Q, K, V)
    assert str(error.value).rpartition(" (")[0] == message


def test_a_recipe_that_uses_an_unknown_name_is_refused() -> None:
    wrong = RecipeDescriptor("wrong", (("x", "R"),), (EngineOp("exp", ("y",), "x"),))

    def kernel(x, *, tl):
        tl.composite(ops=[{"op": wrong, "x": tl.load(x)}])  # here

    assert refusal(kernel, Q) == (
        "wrong: exp uses 'y', which must be an operand or a scratch slot; known: x"
    )


def test_a_composite_over_the_cap_that_cannot_be_cut_is_refused() -> None:
    def kernel(q, k, *, tl):
        tl.composite(op="gemm", a=tl.load(q), b=tl.ref(k), epilogue=[{"op": "relu"}])  # here

    assert refusal(kernel, Q, K, topology=machine(cap_bytes=64)) == (
        "composite: the gemm with its tile ops needs a descriptor of 66 bytes, over the topology's"
        " cap of 64 (pe.composite_cap_bytes), and cannot be cut"
    )
