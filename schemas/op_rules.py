"""The shape and the dtype of an op's result, from those of its operands. A number counts as shape ().

Shapes broadcast as NumPy's do, trailing axes first. An op with the scalar `bcast_axis` takes its
last operand as one value a row instead: [8, 64] with [8]. DDD-0065 §5.2 writes 0 there in exp_diff
(the axis the vector runs along) and 1 in mul_bcast (the axis it is repeated along): in two
dimensions the same thing, so the number's presence is what counts.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from .commands import Scalar
from .dtypes import DType
from .errors import KernelError

Shape: TypeAlias = tuple[int, ...]
Scalars: TypeAlias = Mapping[str, Scalar]
ShapeRule: TypeAlias = Callable[[Sequence[Shape], Scalars], Shape]
DTypeRule: TypeAlias = Callable[[Sequence[DType]], DType]

FLOATS = frozenset({DType.F16, DType.BF16, DType.F32})
NUMBERS = FLOATS | {DType.I32}
BOOLS = frozenset({DType.BOOL})
ANY = NUMBERS | BOOLS


def broadcast_shapes(shapes: Sequence[Shape]) -> Shape:
    """NumPy's trailing broadcast. Raises KernelError where two extents differ and neither is 1."""
    result: list[int] = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for back in range(1, len(shape) + 1):
            extent = shape[-back]
            if extent == 1:
                continue
            if result[-back] not in (1, extent):
                listed = " and ".join(str(list(each)) for each in shapes if each)
                raise KernelError(f"shapes {listed} do not broadcast")
            result[-back] = extent
    return tuple(result)


def elementwise(shapes: Sequence[Shape], scalars: Scalars) -> Shape:
    """The broadcast of all operands; with `bcast_axis`, the first's, the last being one value a row."""
    if "bcast_axis" not in scalars:
        return broadcast_shapes(shapes)
    if scalars["bcast_axis"] not in (0, 1):
        raise KernelError(f"bcast_axis must be 0 or 1, not {scalars['bcast_axis']}")
    wide, rows = shapes[0], shapes[-1]
    if len(wide) < 2 or rows != wide[:-1]:
        raise KernelError(
            f"with bcast_axis the last operand must have one value a row of {list(wide)},"
            f" shape {list(wide[:-1])}, not {list(rows)}"
        )
    return wide


def reduced(shapes: Sequence[Shape], scalars: Scalars) -> Shape:
    """The operand's shape without the axis `reduce_axis`."""
    (shape,) = shapes
    axis = scalars["reduce_axis"]
    if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
        raise KernelError(f"reduce_axis must be an axis of {list(shape)}, not {axis}")
    place = axis % len(shape)
    if not shape[place]:
        raise KernelError(
            f"reduce_axis must be an axis with elements, and axis {axis} of {list(shape)} has none"
        )
    return shape[:place] + shape[place + 1 :]


def along_axis(shapes: Sequence[Shape], scalars: Scalars) -> Shape:
    """The operand's shape, which must have the axis `reduce_axis`."""
    reduced(shapes, scalars)
    return shapes[0]


def counted(shapes: Sequence[Shape], scalars: Scalars) -> Shape:
    """[end − start], of an arange."""
    start, end = scalars["start"], scalars["end"]
    if not isinstance(start, int) or not isinstance(end, int) or start >= end:
        raise KernelError(f"must run from a start to a later end, not from {start} to {end}")
    return (end - start,)


def promoted(dtypes: Sequence[DType]) -> DType:
    """The widest of the operands'. f16 with bf16 gives f32, i32 with a float gives the float."""
    floats = {dtype for dtype in dtypes if dtype in FLOATS}
    if len(floats) > 1:
        return DType.F32
    return floats.pop() if floats else dtypes[-1]


def accumulated(dtypes: Sequence[DType]) -> DType:
    """f32 for floats (sums are accumulated in f32), i32 for i32."""
    return DType.F32 if dtypes[0] in FLOATS else dtypes[0]


def truth(dtypes: Sequence[DType]) -> DType:
    """bool."""
    return DType.BOOL


def index(dtypes: Sequence[DType]) -> DType:
    """i32."""
    return DType.I32
