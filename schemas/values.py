"""What every op computes, defined once: capture runs these on whole handles and tiles, replay re-runs them.

Arithmetic is f32 (i32 where every operand is i32) on contiguous copies, so that neither a view's
strides nor who calls changes a bit of the result; it is rounded to the handle's dtype when stored.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from .commands import OpForm, Scalar
from .dtypes import DType
from .errors import KernelError
from .op_rules import Shape
from .op_table import Array as Array  # whoever computes values needs the type too
from .op_table import find_op
from .tiling import TileStep

Argument: TypeAlias = Array | int | float

NUMPY_DTYPES: dict[DType, np.dtype[Any]] = {
    DType.F16: np.dtype(np.float16),
    DType.BF16: np.dtype(ml_dtypes.bfloat16),
    DType.F32: np.dtype(np.float32),
    DType.I32: np.dtype(np.int32),
    DType.BOOL: np.dtype(np.bool_),
}


def evaluate(op: OpForm, operands: Sequence[Array]) -> Array:
    """The op's result, unrounded (f32, i32 or bool). Operands in slot order, in storage dtypes.

    The result broadcasts to the output's shape (a fill is a single number).
    """
    row = find_op(op.kind)
    scalars = dict(op.extra)
    stored = dict(zip(op.operands, operands, strict=True))
    arguments: list[Argument] = [
        stored[name] if name in stored else _number(op, scalars.pop(name)) for name in row.operands
    ]
    with np.errstate(all="ignore"):
        result = row.compute(*_in_one_domain(arguments), **scalars)
    return np.asarray(result)


def _number(op: OpForm, scalar: Scalar) -> int | float:
    if isinstance(scalar, str):
        raise KernelError(f"{op.kind}: an operand must be a handle or a number, not '{scalar}'")
    return scalar


def _in_one_domain(arguments: Sequence[Argument]) -> list[Array]:
    """Contiguous copies: f32 if any is a float, else i32; bools stay bools."""
    is_float = any(
        isinstance(argument, float) or _is_float_array(argument) for argument in arguments
    )
    domain = np.float32 if is_float else np.int32
    return [
        np.array(argument, dtype=np.bool_ if _is_bool_array(argument) else domain, order="C")
        for argument in arguments
    ]


def _is_bool_array(argument: Argument) -> bool:
    return isinstance(argument, np.ndarray) and argument.dtype == np.bool_


def _is_float_array(argument: Argument) -> bool:
    return isinstance(argument, np.ndarray) and argument.dtype not in (np.bool_, np.int32)


def round_to(values: Array, dtype: DType) -> Array:
    """The values as stored: to nearest even for floats, towards zero for i32."""
    with np.errstate(all="ignore"):
        return values.astype(NUMPY_DTYPES[dtype])


def tile_product(a: Array, b: Array) -> Array:
    """One GEMM step's product in f32: [m, k] × [k, n] → [m, n]."""
    with np.errstate(all="ignore"):
        result: Array = np.matmul(
            np.array(a, dtype=np.float32, order="C"), np.array(b, dtype=np.float32, order="C")
        )
    return result


def tile_operand(op: OpForm, operand: Array, shape: Shape, step: TileStep) -> Array:
    """The part of a K_TILE or OUTPUT_TILE op's other operand that meets the step's output tile.

    `shape` is the whole output's, [m, n], to which the operand broadcasts; with `bcast_axis` the
    operand has one value a row.
    """
    if "bcast_axis" in dict(op.extra):
        return operand[step.m_from : step.m_to]
    whole = np.broadcast_to(operand, shape)
    return whole[step.m_from : step.m_to, step.n_from : step.n_to]
