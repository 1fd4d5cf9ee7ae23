"""What a composite refuses before the hardware could be handed it."""

import pytest
from capture_bench import BF16, machine, normal, record, refusal
from kerntape.capture.recipes import EngineOp, RecipeDescriptor
from kerntape.schemas.errors import KernelError

Q, K, V = normal(8, 128, dtype=BF16), normal(128, 64, dtype=BF16), normal(64, 128, dtype=BF16)


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
            "softmax_merge: no operand 'mm'; known: s, m, l, O",
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
            lambda tl, q, k, v: tl.composite(a=q, ops=[{"op": "gemm", "a": q, "b": k}]),
            "composite: ops= is the whole composite; a belongs into an item",
        ),
        (
            lambda tl, q, k, v: tl.composite(ops=[{"op": "exp", "src": q}], factor=2.0),
            "composite: ops= is the whole composite; factor belongs into an item",
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
            "composite: unknown argument 'epi'; known: a, b, out, prologue, epilogue,"
            " out_dtype, name",
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
