"""Checks a math command once per structure and works out its form and its result's geometry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..schemas.commands import OpForm, Scalar, Scope
from ..schemas.dtypes import DType
from ..schemas.errors import KernelError
from ..schemas.handles import Geometry, Space
from ..schemas.op_rules import FLOATS, Shape
from ..schemas.op_table import find_op, result_dtype, result_shape

Given: TypeAlias = Geometry | int | float
ScalarItems: TypeAlias = tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True, slots=True)
class MathResult:
    """What an op makes: its structure, and its output's shape and dtype."""

    op: OpForm
    shape: Shape
    dtype: DType


def math_result(
    kind: str,
    given: Sequence[Given],
    scalars: ScalarItems = (),
    out: Geometry | None = None,
    dtype: DType | None = None,
) -> MathResult:
    """The op over the given operands (geometries or numbers, in the order of the op's row).

    `out` fixes the result's shape and dtype and is checked against them; `dtype` asks for one.
    Raises KernelError.
    """
    _check_operands(kind, given)
    shape = _shape(kind, given, dict(scalars), out)
    if out is not None:
        check_out_bytes(kind, out)
    natural = _dtype(kind, given, dict(scalars))
    stored = _stored(kind, natural, out.dtype if out else dtype)
    return MathResult(_form(kind, given, scalars, Scope.KERNEL), shape, stored)


def check_on_tile(kind: str, given: Sequence[Given], scalars: ScalarItems, scope: Scope) -> OpForm:
    """The op on a GEMM's output tiles: the first operand is the tile, of the whole output's shape.

    Raises KernelError for an op that does not go element by element, or whose other operands do
    not broadcast to the output.
    """
    row = find_op(kind)
    if not row.tiled:
        raise KernelError(f"{kind}: cannot run on a GEMM's tile; give it scope KERNEL")
    tile, *others = given
    assert isinstance(tile, Geometry)
    for name, other in zip(row.operands[1:], others, strict=True):
        _check_space(kind, name, other)
    shapes = [tile.shape, *map(_shape_of, others)]
    if result_shape(kind, shapes, dict(scalars)) != tile.shape:
        raise KernelError(f"{kind}: must broadcast to the GEMM's output {list(tile.shape)}")
    result_dtype(kind, [DType.F32, *map(_dtype_of, others)])
    return _form(kind, given, scalars, scope)


def check_out_bytes(kind: str, out: Geometry) -> None:
    """Raises KernelError for an output whose elements share bytes: the last one written would win."""
    if out.repeats_bytes:
        raise KernelError(
            f"{kind}: out must have bytes of its own for every element, and {list(out.shape)} with"
            f" byte strides {list(out.strides)} repeats some; name a handle that is no broadcast"
        )


def _form(kind: str, given: Sequence[Given], scalars: ScalarItems, scope: Scope) -> OpForm:
    """Handles are operands; a number in the place of one is a scalar of its name."""
    named = list(zip(find_op(kind).operands, given, strict=True))
    handles = tuple(name for name, value in named if isinstance(value, Geometry))
    numbers = [(name, value) for name, value in named if not isinstance(value, Geometry)]
    return OpForm(kind, handles, has_out=True, extra=(*numbers, *scalars), scope=scope)


def _check_operands(kind: str, given: Sequence[Given]) -> None:
    operands = find_op(kind).operands
    for name, value in zip(operands, given, strict=True):
        _check_space(kind, name, value)
        if not isinstance(value, Geometry) and (name == "condition" or len(operands) == 1):
            raise KernelError(f"{kind}: {name} must be a handle, not the number {value}")
    if operands and not any(isinstance(value, Geometry) for value in given):
        raise KernelError(f"{kind}: {' or '.join(operands)} must be a handle, not a number")


def _check_space(kind: str, name: str, value: Given) -> None:
    if isinstance(value, Geometry) and value.space is not Space.TCM:
        raise KernelError(
            f"{kind}: MATH operand must be TCM, and {name} is a reference into HBM; tl.load it"
        )


def _shape(
    kind: str, given: Sequence[Given], scalars: Mapping[str, Scalar], out: Geometry | None
) -> Shape:
    if find_op(kind).shape is None and out is not None:
        return out.shape
    shape = result_shape(kind, [_shape_of(value) for value in given], scalars)
    if out is not None and out.shape != shape:
        raise KernelError(f"{kind}: out must be {list(shape)}, not {list(out.shape)}")
    if out is not None and out.space is not Space.TCM:
        raise KernelError(f"{kind}: out must be in TCM, not a reference into HBM; tl.store it")
    return shape


def _shape_of(value: Given) -> Shape:
    return value.shape if isinstance(value, Geometry) else ()


def _dtype_of(value: Given) -> DType | type:
    return value.dtype if isinstance(value, Geometry) else type(value)


def _dtype(kind: str, given: Sequence[Given], scalars: Mapping[str, Scalar]) -> DType:
    """The dtype where nobody asks for another; a fill's is its number's."""
    if find_op(kind).shape is None:
        return DType.F32 if isinstance(scalars["value"], float) else DType.I32
    return result_dtype(kind, [_dtype_of(value) for value in given])


def _stored(kind: str, natural: DType, wanted: DType | None) -> DType:
    """The dtype that is stored: the wanted one, if rounding to it is all that it takes."""
    if wanted is None or wanted is natural or kind in ("cast", "fill"):
        return wanted or natural
    if natural in FLOATS and wanted in FLOATS:
        return wanted
    raise KernelError(
        f"{kind}: the result is {natural} and must not be stored as {wanted}; tl.cast it"
    )
