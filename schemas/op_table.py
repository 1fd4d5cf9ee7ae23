"""The ops that commands and composites name: an explicit table of what each takes, makes and computes.

`compute` works on f32 arrays (i32 where every operand is i32, bool for conditions); values.py says
how operands get there and results are stored. The element's dtype and shape rules are in op_rules.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .commands import GEMM, Scalar
from .dtypes import DType
from .errors import KernelError, did_you_mean
from .op_rules import (
    ANY,
    BOOLS,
    FLOATS,
    NUMBERS,
    DTypeRule,
    Shape,
    ShapeRule,
    accumulated,
    along_axis,
    counted,
    elementwise,
    index,
    promoted,
    reduced,
    truth,
)

Array: TypeAlias = npt.NDArray[Any]

GELU_CUBIC = 0.044715
GELU_SLOPE = float(np.sqrt(2 / np.pi))


@dataclass(frozen=True, slots=True)
class Op:
    """One row of the table: `compute` takes the operands in order, then the scalars by name.

    A number may stand for any operand of an op that has several; it is then a scalar of the
    operand's name. `scalars` must be given, `optional` may be. `shape` is None where nothing but
    the output says it. `tiled`: it may act on a GEMM's tile, element by element.
    """

    operands: tuple[str, ...]
    compute: Callable[..., Array]
    shape: ShapeRule | None = elementwise
    dtype: DTypeRule = promoted
    accepts: frozenset[DType] = FLOATS
    scalars: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def tiled(self) -> bool:
        by_element = self.shape is elementwise and self.dtype is promoted
        return by_element and accepts_floats(self) and self.operands[0] != "condition"


def accepts_floats(op: Op) -> bool:
    """Whether the op takes each of the float dtypes."""
    return op.accepts >= FLOATS


def _rows(other: Array, bcast_axis: int | None) -> Array:
    return other if bcast_axis is None else other[..., np.newaxis]


def _with_rows(compute: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    def on_rows(src: Array, other: Array, *, bcast_axis: int | None = None) -> Array:
        return compute(src, _rows(other, bcast_axis))

    return on_rows


def _gelu(src: Array) -> Array:
    """½x(1 + tanh(√(2/π)(x + 0.044715x³))): Hendrycks & Gimpel 2016, the tanh form."""
    inner = np.float32(GELU_SLOPE) * (src + np.float32(GELU_CUBIC) * src * src * src)
    result: Array = np.float32(0.5) * src * (np.float32(1) + np.tanh(inner))
    return result


def _softmax(src: Array, *, reduce_axis: int) -> Array:
    powers = np.exp(src - src.max(axis=reduce_axis, keepdims=True))
    result: Array = powers / powers.sum(axis=reduce_axis, keepdims=True)
    return result


def _reciprocal_root(src: Array) -> Array:
    return np.float32(1) / np.sqrt(src)


def _sigmoid(src: Array) -> Array:
    result: Array = np.float32(1) / (np.float32(1) + np.exp(-src))
    return result


def _identity(src: Array) -> Array:
    return src


def _unary(compute: Callable[[Array], Array], accepts: frozenset[DType] = FLOATS) -> Op:
    return Op(("src",), compute, accepts=accepts)


def _binary(
    compute: Callable[[Array, Array], Array],
    accepts: frozenset[DType] = NUMBERS,
    dtype: DTypeRule = promoted,
) -> Op:
    return Op(
        ("src", "other"),
        _with_rows(compute),
        dtype=dtype,
        accepts=accepts,
        optional=("bcast_axis",),
    )


def _reduction(
    compute: Callable[..., Array], shape: ShapeRule = reduced, dtype: DTypeRule = promoted
) -> Op:
    return Op(("src",), compute, shape, dtype, NUMBERS, scalars=("reduce_axis",))


def _comparison(compute: Callable[[Array, Array], Array]) -> Op:
    return _binary(compute, dtype=truth)


OPS: dict[str, Op] = {
    "fill": Op((), lambda *, value: np.asarray(value), shape=None, scalars=("value",)),
    "arange": Op(
        (),
        lambda *, start, end: np.arange(start, end, dtype=np.int32),
        shape=counted,
        dtype=index,
        scalars=("start", "end"),
    ),
    "copy": _unary(_identity, ANY),
    "cast": _unary(_identity, ANY),
    "neg": _unary(np.negative, NUMBERS),
    "exp": _unary(np.exp),
    "sqrt": _unary(np.sqrt),
    "rsqrt": _unary(_reciprocal_root),
    "relu": _unary(lambda src: np.maximum(src, np.float32(0))),
    "gelu": _unary(_gelu),
    "sigmoid": _unary(_sigmoid),
    "scale": Op(("src",), lambda src, *, factor: src * np.float32(factor), scalars=("factor",)),
    "bias": Op(("src", "bias"), np.add),
    "add": _binary(np.add),
    "sub": _binary(np.subtract),
    "mul": _binary(np.multiply),
    "div": _binary(np.divide, FLOATS),
    "max_elem": _binary(np.maximum),
    "min_elem": _binary(np.minimum),
    "exp_diff": _binary(lambda src, other: np.exp(src - other), FLOATS),
    "mul_bcast": Op(
        ("src", "other"), _with_rows(np.multiply), accepts=NUMBERS, scalars=("bcast_axis",)
    ),
    "fma": Op(("src_a", "src_b", "src_c"), lambda a, b, c: a * b + c, accepts=NUMBERS),
    "rmax": _reduction(lambda src, *, reduce_axis: src.max(axis=reduce_axis)),
    "rmin": _reduction(lambda src, *, reduce_axis: src.min(axis=reduce_axis)),
    "rsum": _reduction(
        lambda src, *, reduce_axis: src.sum(axis=reduce_axis, dtype=src.dtype), dtype=accumulated
    ),
    "softmax": Op(("src",), _softmax, shape=along_axis, scalars=("reduce_axis",)),
    "lt": _comparison(np.less),
    "le": _comparison(np.less_equal),
    "gt": _comparison(np.greater),
    "ge": _comparison(np.greater_equal),
    "eq": _comparison(np.equal),
    "ne": _comparison(np.not_equal),
    "and": Op(("src", "other"), np.logical_and, accepts=BOOLS),
    "or": Op(("src", "other"), np.logical_or, accepts=BOOLS),
    "not": _unary(np.logical_not, BOOLS),
    "where": Op(("condition", "src", "other"), np.where, accepts=ANY),
}
"""Every op but the GEMM, by the name that commands and composites give it."""


def find_op(kind: str) -> Op:
    """The op's row. Raises KernelError with the nearest name for an unknown one."""
    row = OPS.get(kind)
    if row is None:
        raise KernelError(f"unknown op '{kind}'{did_you_mean(kind, [*OPS, GEMM])}")
    return row


def result_shape(kind: str, shapes: Sequence[Shape], scalars: Mapping[str, Scalar]) -> Shape:
    """The result's shape from those of the row's operands, () for a number. Raises KernelError."""
    row = find_op(kind)
    if row.shape is None:
        raise KernelError(f"{kind}: only an output says its shape")
    try:
        return row.shape(shapes, scalars)
    except KernelError as error:
        raise KernelError(f"{kind}: {error}") from None


def _either(dtypes: frozenset[DType]) -> str:
    *most, last = sorted(dtypes)
    return f"{', '.join(most)} or {last}" if most else str(last)


def result_dtype(kind: str, dtypes: Sequence[DType | type]) -> DType:
    """The result's dtype unless the output says another; `int` or `float` stands for a number.

    Raises KernelError where the op does not take an operand's dtype.
    """
    row = find_op(kind)
    stored = [dtype for dtype in dtypes if isinstance(dtype, DType)]
    for name, dtype in zip(row.operands, dtypes, strict=True):
        accepted = BOOLS if name == "condition" else row.accepts
        if isinstance(dtype, DType) and dtype not in accepted:
            raise KernelError(
                f"{kind}: {name} must be {_either(accepted)}, not {dtype}; tl.cast it"
            )
    numbers = stored[1:] if kind == "where" else stored
    if float in dtypes and not any(dtype in FLOATS for dtype in numbers):
        numbers = [*numbers, DType.F32]
    elif not numbers:
        numbers = [DType.I32]
    return row.dtype(numbers)
