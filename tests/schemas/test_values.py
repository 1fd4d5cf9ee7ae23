"""What every op computes, in which shape and dtype, and how results are stored."""

from collections.abc import Callable
from math import erf, inf, nan

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.schemas.commands import OpForm, Scope
from kerntape.schemas.dtypes import DType
from kerntape.schemas.errors import KernelError
from kerntape.schemas.op_rules import broadcast_shapes
from kerntape.schemas.op_table import OPS, find_op, result_dtype, result_shape
from kerntape.schemas.tiling import gemm_steps
from kerntape.schemas.topology import Tile
from kerntape.schemas.values import (
    NUMPY_DTYPES,
    Array,
    evaluate,
    round_to,
    tile_operand,
    tile_product,
)

BF16 = ml_dtypes.bfloat16
RANDOM = np.random.default_rng(7)
X = RANDOM.standard_normal((3, 5)).astype(np.float32)
Y = RANDOM.standard_normal((3, 5)).astype(np.float32)
POSITIVE = np.abs(X) + np.float32(0.25)
ROWS = np.array([0.5, -2.0, 3.0], dtype=np.float32)
COLUMNS = np.array([1.0, 2.0, -1.0, 0.5, 4.0], dtype=np.float32)
TRUTH = X > 0


def run(kind: str, *operands: Array, **scalars: float) -> Array:
    """The op over handles only, its scalars by name."""
    names = OPS[kind].operands[: len(operands)]
    return evaluate(OpForm(kind, names, True, tuple(scalars.items())), operands)


def wide(array: Array) -> Array:
    return array.astype(np.float64)


def float64_softmax(x: Array, axis: int) -> Array:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


Case = tuple[str, tuple[Array, ...], dict[str, float], Callable[..., Array]]

# op, operands, scalars, what it computes in float64
CASES: list[Case] = [
    ("copy", (X,), {}, lambda x: x),
    ("cast", (X,), {}, lambda x: x),
    ("neg", (X,), {}, lambda x: -x),
    ("exp", (X,), {}, np.exp),
    ("sqrt", (POSITIVE,), {}, np.sqrt),
    ("rsqrt", (POSITIVE,), {}, lambda x: 1 / np.sqrt(x)),
    ("relu", (X,), {}, lambda x: np.where(x > 0, x, 0)),
    ("sigmoid", (X,), {}, lambda x: 1 / (1 + np.exp(-x))),
    ("scale", (X,), {"factor": 0.37}, lambda x: x * 0.37),
    ("bias", (X, COLUMNS), {}, lambda x, b: x + b),
    ("add", (X, Y), {}, np.add),
    ("add", (X, COLUMNS), {}, np.add),
    ("add", (X, ROWS), {"bcast_axis": 1}, lambda x, r: x + r[:, None]),
    ("sub", (X, Y), {}, np.subtract),
    ("sub", (X, ROWS), {"bcast_axis": 1}, lambda x, r: x - r[:, None]),
    ("mul", (X, Y), {}, np.multiply),
    ("div", (X, POSITIVE), {}, np.divide),
    ("div", (X, ROWS), {"bcast_axis": 1}, lambda x, r: x / r[:, None]),
    ("max_elem", (X, Y), {}, np.maximum),
    ("min_elem", (X, Y), {}, np.minimum),
    ("exp_diff", (X, Y), {}, lambda x, y: np.exp(x - y)),
    ("exp_diff", (X, ROWS), {"bcast_axis": 0}, lambda x, r: np.exp(x - r[:, None])),
    ("mul_bcast", (X, ROWS), {"bcast_axis": 1}, lambda x, r: x * r[:, None]),
    ("fma", (X, Y, COLUMNS), {}, lambda a, b, c: a * b + c),
    ("rmax", (X,), {"reduce_axis": -1}, lambda x: x.max(-1)),
    ("rmin", (X,), {"reduce_axis": -2}, lambda x: x.min(-2)),
    ("rsum", (X,), {"reduce_axis": -1}, lambda x: x.sum(-1)),
    ("softmax", (X,), {"reduce_axis": -1}, lambda x: float64_softmax(x, -1)),
    ("softmax", (X,), {"reduce_axis": -2}, lambda x: float64_softmax(x, -2)),
    ("where", (TRUTH, X, Y), {}, lambda c, x, y: np.where(c, x, y)),
    ("lt", (X, Y), {}, np.less),
    ("le", (X, X), {}, np.less_equal),
    ("gt", (X, Y), {}, np.greater),
    ("ge", (X, X), {}, np.greater_equal),
    ("eq", (X, X), {}, np.equal),
    ("ne", (X, Y), {}, np.not_equal),
    ("and", (TRUTH, Y > 0), {}, np.logical_and),
    ("or", (TRUTH, Y > 0), {}, np.logical_or),
    ("not", (TRUTH,), {}, np.logical_not),
]


@pytest.mark.parametrize(("kind", "operands", "scalars", "exact"), CASES)
def test_every_op_computes_in_f32_what_its_formula_says(kind, operands, scalars, exact) -> None:
    found = run(kind, *operands, **scalars)
    wanted = exact(*(x if x.dtype == np.bool_ else wide(x) for x in operands))
    assert found.dtype == (np.bool_ if wanted.dtype == np.bool_ else np.float32)
    np.testing.assert_allclose(found, wanted, rtol=4e-7, atol=1e-7)


def test_gelu_is_within_a_thousandth_of_the_exact_one() -> None:
    x = np.linspace(-5, 5, 101).astype(np.float32)
    exact = [0.5 * value * (1 + erf(value / 2**0.5)) for value in x.tolist()]
    np.testing.assert_allclose(run("gelu", x), exact, atol=1e-3)


def test_every_op_of_the_table_is_covered_here() -> None:
    assert {case[0] for case in CASES} | {"gelu", "fill", "arange"} == set(OPS)


def test_a_fill_is_its_number_and_an_arange_counts_in_i32() -> None:
    assert run("fill", value=-inf) == -inf
    counted = run("arange", start=3, end=7)
    assert counted.dtype == np.int32
    assert counted.tolist() == [3, 4, 5, 6]


def test_a_number_takes_the_place_of_the_operand_that_it_is_named_after() -> None:
    one_minus_x = evaluate(OpForm("sub", ("other",), True, (("src", 1.0),)), [X])
    x_minus_one = evaluate(OpForm("sub", ("src",), True, (("other", 1.0),)), [X])
    np.testing.assert_array_equal(one_minus_x, np.float32(1) - X)
    np.testing.assert_array_equal(x_minus_one, X - np.float32(1))


def test_integers_stay_exact_where_f32_would_round_them() -> None:
    large = np.array([2**24 + 1, -(2**24) - 3], dtype=np.int32)
    found = evaluate(OpForm("add", ("src",), True, (("other", 2),)), [large])
    assert found.dtype == np.int32
    assert found.tolist() == [2**24 + 3, -(2**24) - 1]
    assert run("rsum", large, reduce_axis=-1) == -2


def test_an_integer_with_a_float_is_computed_in_f32() -> None:
    whole = np.array([1, 2], dtype=np.int32)
    assert run("mul", whole, np.array([0.5, 0.25], dtype=BF16)).dtype == np.float32
    half = evaluate(OpForm("mul", ("src",), True, (("other", 0.5),)), [whole])
    assert half.tolist() == [0.5, 1.0]


def test_low_precision_operands_are_computed_in_f32() -> None:
    # 256 + 1 has no bf16 (8 significand bits), and is exact in f32
    found = run("add", np.array([256.0], dtype=BF16), np.array([1.0], dtype=BF16))
    assert found.dtype == np.float32
    assert found.tolist() == [257.0]


def test_with_bcast_axis_a_square_operand_is_taken_by_rows_and_not_by_columns() -> None:
    square, vector = np.ones((2, 2), dtype=np.float32), np.array([1.0, 3.0], dtype=np.float32)
    assert run("mul", square, vector).tolist() == [[1.0, 3.0], [1.0, 3.0]]
    assert run("mul_bcast", square, vector, bcast_axis=1).tolist() == [[1.0, 1.0], [3.0, 3.0]]


@pytest.mark.parametrize("kind", ["exp", "rsum", "softmax", "rmax"])
def test_a_view_gives_the_bits_of_its_contiguous_copy(kind: str) -> None:
    base = RANDOM.standard_normal((64, 48)).astype(np.float32)
    scalars = {} if kind == "exp" else {"reduce_axis": -1}
    strided = base.T[::2, 3:]
    np.testing.assert_array_equal(
        run(kind, strided, **scalars), run(kind, strided.copy(order="C"), **scalars)
    )


def test_nothing_warns_where_values_overflow_or_are_no_numbers() -> None:
    assert np.isinf(run("exp", np.array([1e9], dtype=np.float32)))
    assert np.isnan(run("sub", np.array([-inf], np.float32), np.array([-inf], np.float32)))
    assert round_to(np.array([1e9], dtype=np.float32), DType.F16) == inf


# -- storage


@pytest.mark.parametrize(
    ("dtype", "value", "stored"),
    [
        # f16 has 10 fraction bits: 1 + 2⁻¹¹ is halfway, and goes to the even neighbour, 1
        (DType.F16, 1 + 2**-11, 1.0),
        (DType.F16, 1 + 3 * 2**-11, 1 + 2**-9),
        # bf16 has 7: 1 + 2⁻⁸ is halfway to 1, 1 + 3·2⁻⁸ halfway to 1 + 2⁻⁶
        (DType.BF16, 1 + 2**-8, 1.0),
        (DType.BF16, 1 + 3 * 2**-8, 1 + 2**-6),
        (DType.F32, 1 + 2**-23, 1 + 2**-23),
        (DType.I32, -1.75, -1),
        (DType.BOOL, 0.5, True),
    ],
)
def test_storing_rounds_to_nearest_even_and_integers_towards_zero(dtype, value, stored) -> None:
    found = round_to(np.array([value], dtype=np.float32), dtype)
    assert found.dtype == NUMPY_DTYPES[dtype]
    assert found.dtype.itemsize == dtype.size_bytes
    assert found.astype(np.float64)[0] == stored


def test_all_ones_bytes_are_no_number_in_every_float_type() -> None:
    for dtype in (DType.F16, DType.BF16, DType.F32):
        unwritten = np.full(4, 0xFF, dtype=np.uint8).view(NUMPY_DTYPES[dtype])
        assert np.isnan(unwritten.astype(np.float64)).all()


# -- shapes and dtypes


@pytest.mark.parametrize(
    ("kind", "shapes", "scalars", "wanted"),
    [
        ("add", [(8, 64), (64,)], {}, (8, 64)),
        ("add", [(8, 1), (1, 64)], {}, (8, 64)),
        ("add", [(8, 64), ()], {}, (8, 64)),
        ("exp_diff", [(8, 64), (8,)], {"bcast_axis": 0}, (8, 64)),
        ("mul_bcast", [(8, 128), (8,)], {"bcast_axis": 1}, (8, 128)),
        ("fma", [(8,), (8,), (8,)], {}, (8,)),
        ("where", [(64,), (8, 64), ()], {}, (8, 64)),
        ("rmax", [(8, 64)], {"reduce_axis": -1}, (8,)),
        ("rsum", [(8, 64)], {"reduce_axis": 0}, (64,)),
        ("rsum", [(64,)], {"reduce_axis": -1}, ()),
        ("softmax", [(8, 64)], {"reduce_axis": -1}, (8, 64)),
        ("arange", [], {"start": 2, "end": 6}, (4,)),
    ],
)
def test_the_result_has_the_shape_that_the_rule_gives(kind, shapes, scalars, wanted) -> None:
    assert result_shape(kind, shapes, scalars) == wanted


@given(st.lists(st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=3).map(tuple), max_size=3))
def test_shapes_broadcast_exactly_where_and_as_numpys_do(shapes: list[tuple[int, ...]]) -> None:
    try:
        wanted = np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(KernelError):
            broadcast_shapes(shapes)
    else:
        assert broadcast_shapes(shapes) == wanted


@pytest.mark.parametrize(
    ("kind", "shapes", "scalars", "message"),
    [
        ("sub", [(8, 64), (8,)], {}, "sub: shapes [8, 64] and [8] do not broadcast"),
        (
            "exp_diff",
            [(8, 64), (64,)],
            {"bcast_axis": 0},
            "exp_diff: with bcast_axis the last operand must have one value a row of [8, 64],"
            " shape [8], not [64]",
        ),
        (
            "mul",
            [(8, 64), (8,)],
            {"bcast_axis": 2},
            "mul: bcast_axis must be 0 or 1, not 2",
        ),
        (
            "rmax",
            [(8, 64)],
            {"reduce_axis": 2},
            "rmax: reduce_axis must be an axis of [8, 64], not 2",
        ),
        (
            "rsum",
            [(8, 0)],
            {"reduce_axis": -1},
            "rsum: reduce_axis must be an axis with elements, and axis -1 of [8, 0] has none",
        ),
        (
            "arange",
            [],
            {"start": 4, "end": 4},
            "arange: must run from a start to a later end, not from 4 to 4",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_refused(kind, shapes, scalars, message) -> None:
    with pytest.raises(KernelError) as error:
        result_shape(kind, shapes, scalars)
    assert str(error.value) == message


F16, BF, F32, I32, BOOL = DType.F16, DType.BF16, DType.F32, DType.I32, DType.BOOL


@pytest.mark.parametrize(
    ("kind", "dtypes", "wanted"),
    [
        ("add", [BF, BF], BF),
        ("add", [F32, BF], F32),
        ("add", [F16, BF], F32),
        ("add", [I32, BF], BF),
        ("add", [I32, int], I32),
        ("add", [I32, float], F32),
        ("add", [BF, float], BF),
        ("add", [BF, int], BF),
        ("rsum", [BF], F32),
        ("rsum", [I32], I32),
        ("rmax", [BF], BF),
        ("lt", [F16, float], BOOL),
        ("where", [BOOL, BF, float], BF),
        ("where", [BOOL, float, float], F32),
        ("where", [BOOL, int, int], I32),
        ("not", [BOOL], BOOL),
        ("arange", [], I32),
    ],
)
def test_the_result_has_the_widest_dtype_of_its_operands(kind, dtypes, wanted) -> None:
    assert result_dtype(kind, dtypes) is wanted


@pytest.mark.parametrize(
    ("kind", "dtypes", "message"),
    [
        ("exp", [I32], "exp: src must be bf16, f16 or f32, not i32; tl.cast it"),
        ("add", [F32, BOOL], "add: other must be bf16, f16, f32 or i32, not bool; tl.cast it"),
        ("where", [F32, F32, F32], "where: condition must be bool, not f32; tl.cast it"),
    ],
)
def test_a_dtype_that_the_op_does_not_take_is_refused(kind, dtypes, message) -> None:
    with pytest.raises(KernelError) as error:
        result_dtype(kind, dtypes)
    assert str(error.value) == message


def test_an_unknown_op_names_the_nearest() -> None:
    with pytest.raises(KernelError) as error:
        find_op("exp_dif")
    assert str(error.value) == "unknown op 'exp_dif'; did you mean 'exp_diff'?"


# -- tiles


def test_a_gemm_step_multiplies_f32_copies() -> None:
    a, b = X.astype(BF16), Y.T.astype(BF16)
    np.testing.assert_allclose(tile_product(a, b), wide(a) @ wide(b), rtol=1e-6)


def test_a_gemm_step_does_not_depend_on_strides() -> None:
    a = RANDOM.standard_normal((64, 32)).astype(np.float32).T
    b = RANDOM.standard_normal((64, 128)).astype(np.float32)[:, ::4]
    np.testing.assert_array_equal(tile_product(a, b), tile_product(a.copy(), b.copy()))


def test_a_tile_op_meets_the_part_of_its_operand_that_lies_under_the_tile() -> None:
    # a 3 × 5 output in tiles of 2 × 2: the last step's tile is row 2, column 4
    *_, last = gemm_steps(3, 1, 5, Tile(m=2, k=1, n=2))
    add = OpForm("add", ("src", "other"), True, scope=Scope.OUTPUT_TILE)
    by_rows = OpForm("mul", ("src", "other"), True, (("bcast_axis", 1),), Scope.OUTPUT_TILE)
    assert tile_operand(add, X, (3, 5), last).tolist() == [[X[2, 4]]]
    assert tile_operand(add, COLUMNS, (3, 5), last).tolist() == [[4.0]]
    assert tile_operand(by_rows, ROWS, (3, 5), last).tolist() == [3.0]


def test_only_ops_that_go_element_by_element_over_floats_run_on_tiles() -> None:
    tiled = {kind for kind, op in OPS.items() if op.tiled}
    assert tiled == {
        *("copy", "cast", "neg", "exp", "sqrt", "rsqrt", "relu", "gelu", "sigmoid", "scale"),
        *("bias", "add", "sub", "mul", "div", "max_elem", "min_elem", "exp_diff", "mul_bcast"),
        "fma",
    }


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=40))
def test_softmax_rows_sum_to_one(values: list[float]) -> None:
    row = np.clip(np.array([values], dtype=np.float32), -1e6, 1e6)
    assert np.isclose(run("softmax", row, reduce_axis=-1).sum(), 1.0, rtol=1e-5)


def test_a_comparison_with_nan_is_false() -> None:
    assert not run("ge", np.array([nan], np.float32), np.array([nan], np.float32))[0]
