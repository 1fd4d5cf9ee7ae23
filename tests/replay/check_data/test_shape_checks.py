"""Ops whose shapes do not fit are refused before anything is computed, each with its place and its words."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kerntape.replay.check_data.shape_checks import check_shapes
from kerntape.schemas.commands import CommandKind, OpForm, Scope
from kerntape.schemas.dtypes import DType
from kerntape.schemas.errors import KerntapeError
from kerntape.schemas.op_table import OPS

REMEDY = "mend what wrote the trace, or replay it without --check-data"

Handles = list[tuple[tuple[int, ...], DType]]
"""What fills an op's slots: shapes and dtypes, the output last."""

F16, F32, I32, BOOL = DType.F16, DType.F32, DType.I32, DType.BOOL
ROWS, WIDE, FLAT = ((4,), F16), ((4, 8), F16), ((8,), F16)

RIGHT: dict[str, tuple[OpForm, Handles]] = {}
"""Every op of the table, with handles that fit: [4, 8] in f16 where nothing else is asked."""

for _kind, _row in OPS.items():
    _scalars = {"value": 0.5, "start": 2, "end": 10, "factor": 2.0, "reduce_axis": 1}
    _scalars |= {"bcast_axis": 1}
    _extra = tuple((name, _scalars[name]) for name in _row.scalars)
    _op = OpForm(_kind, _row.operands, True, _extra)
    _operand = ((4, 8), BOOL) if F16 not in _row.accepts else WIDE
    _out = {"arange": ((8,), I32), "rmax": ROWS, "rmin": ROWS, "rsum": ROWS}.get(_kind, WIDE)
    RIGHT[_kind] = (_op, [_operand] * len(_row.operands) + [_out])
RIGHT["mul_bcast"][1][1] = ROWS
RIGHT["where"][1][0] = ((4, 8), BOOL)


def math(build: Any, op: OpForm, handles: Handles) -> Any:
    """A math command behind another; returns the builder."""
    build.overhead(1)
    ids = [build.handle(shape, dtype=dtype) for shape, dtype in handles]
    build.command(CommandKind.MATH, (op,), ids)
    return build


def tile_op(build: Any, op: OpForm, handles: Handles) -> Any:
    """A [4, 4] × [4, 8] composite with the op on its tiles; `handles` beside the tile, and the output."""
    a, b, out = (build.handle(shape, dtype=F32) for shape in ((4, 4), (4, 8), (4, 8)))
    gemm = OpForm("gemm", ("a", "b"), True, (("m", 4), ("k", 4), ("n", 8)))
    ids = [build.handle(shape, dtype=dtype) for shape, dtype in handles]
    build.command(CommandKind.COMPOSITE, (gemm, op), [a, b, out, *[out] * bool(op.operands), *ids])
    return build


def refusal(trace: Any) -> str:
    """What the check says, without the remedy."""
    with pytest.raises(KerntapeError) as caught:
        check_shapes(trace)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(f"; {REMEDY}")
    return message.removesuffix(f"; {REMEDY}")


@pytest.mark.parametrize("kind", OPS)
def test_every_op_of_the_table_has_a_value_on_handles_that_fit(kind, build, timed):
    op, handles = RIGHT[kind]
    assert timed(math(build, op, handles)).check().right


@pytest.mark.parametrize("kind", [kind for kind in OPS if kind != "fill"])
def test_no_op_of_the_table_writes_to_another_shape_than_its_own(kind, build, topology):
    op, handles = RIGHT[kind]
    *operands, (shape, dtype) = handles
    trace = math(build, op, [*operands, ((3, *shape), dtype)]).trace(topology)
    assert refusal(trace) == (
        f"PE 0 command 1 math {kind} (tiny.py:1): {kind}: out must be {list(shape)},"
        f" not {[3, *shape]}"
    )


def test_a_fill_has_the_shape_of_whatever_it_fills(build, timed):
    assert timed(math(build, RIGHT["fill"][0], [((3, 1, 2), F32)])).check().right


ADD = OpForm("add", ("src", "other"), True)
EXP = OpForm("exp", ("src",), True)
RMAX = OpForm("rmax", ("src",), True, (("reduce_axis", 2),))
ROWWISE = OpForm("sub", ("src", "other"), True, (("bcast_axis", 0),))


@pytest.mark.parametrize(
    ("op", "handles", "message"),
    [
        (ADD, [WIDE, ROWS, WIDE], "add: shapes [4, 8] and [4] do not broadcast"),
        (
            OpForm("fma", ("src_a", "src_b", "src_c"), True),
            [WIDE, ((3, 1), F16), WIDE, WIDE],
            "fma: shapes [4, 8] and [3, 1] and [4, 8] do not broadcast",
        ),
        (
            ROWWISE,
            [WIDE, FLAT, WIDE],
            "sub: with bcast_axis the last operand must have one value a row of [4, 8],"
            " shape [4], not [8]",
        ),
        (RMAX, [WIDE, ROWS], "rmax: reduce_axis must be an axis of [4, 8], not 2"),
        (
            OpForm("rsum", ("src",), True, (("reduce_axis", 1),)),
            [((4, 0), F16), ROWS],
            "rsum: reduce_axis must be an axis with elements, and axis 1 of [4, 0] has none",
        ),
        (
            OpForm("softmax", ("src",), True, (("reduce_axis", -3),)),
            [WIDE, WIDE],
            "softmax: reduce_axis must be an axis of [4, 8], not -3",
        ),
        (
            OpForm("arange", (), True, (("start", 8), ("end", 8))),
            [((8,), I32)],
            "arange: must run from a start to a later end, not from 8 to 8",
        ),
        (
            OpForm("neg", ("src",), True),
            [((4, 8), BOOL), WIDE],
            "neg: src must be bf16, f16, f32 or i32, not bool; tl.cast it",
        ),
        # names and scalars, which decide how many shapes there are
        (OpForm("exps", ("src",), True), [WIDE, WIDE], "unknown op 'exps'; did you mean 'exp'?"),
        (
            OpForm("add", ("src", "othr"), True),
            [WIDE, WIDE, WIDE],
            "add: no operand 'othr'; did you mean 'other'?",
        ),
        (OpForm("add", ("src",), True), [WIDE, WIDE], "add: other is missing"),
        (OpForm("scale", ("src",), True), [WIDE, WIDE], "scale: factor is missing"),
        (
            OpForm("exp", ("src",), True, (("reduce_axis", 1),)),
            [WIDE, WIDE],
            "exp: no scalar 'reduce_axis'",
        ),
        (
            OpForm("scale", ("src",), True, (("factor", "half"),)),
            [WIDE, WIDE],
            "scale: factor must be a number, not 'half'",
        ),
        (
            OpForm("add", ("src",), True, (("other", 1 << 31),)),
            [((4,), I32), ((4,), I32)],
            "add: other must fit 32 bits, not 2147483648",
        ),
    ],
)
def test_a_math_op_says_what_does_not_fit(op, handles, message, build, topology):
    trace = math(build, op, handles).trace(topology)
    assert refusal(trace) == f"PE 0 command 1 math {op.kind} (tiny.py:1): {message}"


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((8, 4), (8, 2), (4, 2)), "gemm: a must be [4, 8], not [8, 4]"),
        (((4, 8), (2, 8), (4, 2)), "gemm: b must be [8, 2], not [2, 8]"),
        (((4, 8), (8, 2), (8,)), "gemm: out must be [4, 2], not [8]"),
    ],
)
@pytest.mark.parametrize("kind", [CommandKind.DOT, CommandKind.COMPOSITE])
def test_a_gemm_says_which_operand_does_not_fit(shapes, message, kind, build, topology):
    # each has the elements that m 4, k 8 and n 2 say, so it can be timed and read
    build.gemm(4, 8, 2, *map(build.handle, shapes), kind=kind)
    name = "dot" if kind is CommandKind.DOT else "composite gemm"
    assert refusal(build.trace(topology)) == f"PE 0 command 0 {name} (tiny.py:1): {message}"


def on_tile(kind: str, operands: tuple[str, ...] = ("src",), **scalars: float) -> OpForm:
    return OpForm(kind, operands, True, tuple(scalars.items()), Scope.OUTPUT_TILE)


@pytest.mark.parametrize(
    ("op", "handles"),
    [
        (on_tile("gelu"), [((4, 8), F16)]),
        (on_tile("bias", ("src", "bias")), [((8,), F16), ((4, 8), F32)]),
        (on_tile("mul", ("src", "other"), bcast_axis=0), [((4,), F32), ((4, 8), F32)]),
        (on_tile("add", other=1.5), [((4, 8), F32)]),
    ],
)
def test_an_op_on_the_tiles_has_a_value_where_its_operand_meets_the_output(
    op, handles, build, timed
):
    assert timed(tile_op(build, op, handles)).check().right


@pytest.mark.parametrize(
    ("op", "handles", "message"),
    [
        (
            on_tile("bias", ("src", "bias")),
            [((4,), F32), ((4, 8), F32)],
            "bias: shapes [4, 8] and [4] do not broadcast",
        ),
        (
            on_tile("add", ("src", "other")),
            [((2, 4, 8), F32), ((4, 8), F32)],
            "add: must broadcast to the GEMM's output [4, 8]",
        ),
        (
            on_tile("mul", ("src", "other"), bcast_axis=0),
            [((8,), F32), ((4, 8), F32)],
            "mul: with bcast_axis the last operand must have one value a row of [4, 8],"
            " shape [4], not [8]",
        ),
        (on_tile("exp"), [((8, 4), F32)], "exp: out must be [4, 8], not [8, 4]"),
        (
            on_tile("rmax", reduce_axis=1),
            [((4,), F32)],
            "rmax: cannot run on a GEMM's tile; give it scope KERNEL",
        ),
        (
            on_tile("add", ("other",), src=1.0),
            [((4, 8), F32)],
            "add: its first operand must be src, the GEMM's tile",
        ),
    ],
)
def test_an_op_on_the_tiles_says_what_does_not_fit(op, handles, message, build, topology):
    trace = tile_op(build, op, handles).trace(topology)
    place = f"PE 0 command 0 composite gemm, {op.kind} (tiny.py:1)"
    assert refusal(trace) == f"{place}: {message}"


def test_a_load_and_a_store_change_neither_shape_nor_dtype(build, topology, hbm):
    build.load(hbm(build, (4, 8), 0), build.handle((8, 4)))
    assert refusal(build.trace(topology)) == (
        "PE 0 command 0 load (tiny.py:1): load: out must be [4, 8] f16 as src is, not [8, 4] f16"
    )


def test_the_first_command_that_does_not_fit_is_named_and_the_pe_that_runs_it(new_build, pair):
    # PE 0's are right; of PE 1's three, alike but for the second's operand, the second is told
    one, two = new_build(), new_build()
    for build, shapes in ((one, [(8,)] * 3), (two, [(8,), (4,), (4,)])):
        for shape in shapes:
            ids = [build.handle(each) for each in (shape, (8,))]
            build.command(CommandKind.MATH, (EXP,), ids)
    trace = one.trace(pair, two)
    assert refusal(trace) == "PE 1 command 1 math exp (tiny.py:1): exp: out must be [4], not [8]"


def test_what_is_no_op_of_the_table_is_timed_all_the_same(build, timed):
    run = timed(math(build, OpForm("quux", ("in",), True), [FLAT, ((3,), F16)]))
    assert run.timeline.makespan_ps > 0
    with pytest.raises(KerntapeError, match="unknown op 'quux'"):
        run.check()


SHAPES = st.sampled_from([(), (1,), (4,), (8,), (1, 8), (4, 1), (4, 8), (8, 4), (2, 4, 8), (0, 8)])
HANDLES = st.tuples(st.just((4, 8)) | SHAPES, st.sampled_from([F32, F32, F16, I32, BOOL]))
NUMBERS = st.sampled_from([0, 1, -1, 2, 0.5, float("inf"), 1 << 40, "x"])


@st.composite
def ops(draw):
    """An op of the table whose names are right, with any numbers, and handles that may fit."""
    kind = draw(st.sampled_from(list(OPS)))
    row = OPS[kind]
    numbers = draw(st.sets(st.sampled_from(row.operands))) if row.operands else ()
    numbers = [*numbers, *row.scalars, *(name for name in row.optional if draw(st.booleans()))]
    operands = tuple(name for name in row.operands if name not in numbers)
    extra = tuple((name, draw(NUMBERS)) for name in numbers)
    op = OpForm(kind, operands, True, extra, draw(st.sampled_from(Scope)))
    return op, [draw(HANDLES) for _ in (*operands, "out")]


@given(drawn=ops())
# the fixtures are types and frozen records: nothing of one example is left for the next
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_an_op_is_given_it_has_a_value_or_is_refused_in_one_line(drawn, new_build, timed):
    op, handles = drawn
    is_whole = op.scope is Scope.KERNEL
    own = handles if is_whole or not op.operands else handles[1:]
    run = timed((math if is_whole else tile_op)(new_build(), op, own))
    refusal = ""
    try:
        check_shapes(run.timeline.trace)
    except KerntapeError as error:
        refusal = str(error)
    if refusal:
        assert refusal.startswith(("PE 0 command 0 ", "PE 0 command 1 "))
        assert refusal.endswith(f"; {REMEDY}")
        assert refusal.isprintable()
    else:
        run.check()
