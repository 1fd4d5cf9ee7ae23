"""Views: another shape, strides and place over the same bytes. Pure arithmetic, in bytes.

A view never moves data, so a reshape needs contiguous bytes and an index needs positive steps.
"""

from collections.abc import Sequence
from math import prod
from operator import index
from types import EllipsisType
from typing import NamedTuple, SupportsIndex, TypeAlias

from ..schemas.errors import KernelError
from ..schemas.handles import contiguous_strides
from ..schemas.op_rules import Shape

AxisIndex: TypeAlias = int | slice | EllipsisType | None
Index: TypeAlias = AxisIndex | tuple[AxisIndex, ...]


class View(NamedTuple):
    """Shape and byte strides, `offset` bytes after the viewed handle's first byte."""

    shape: Shape
    strides: Shape
    offset: int = 0


def is_dense(shape: Shape, strides: Shape, item_bytes: int) -> bool:
    """Whether the elements lie without gaps in row-major order. An axis of extent 1 never steps."""
    dense = contiguous_strides(shape, item_bytes)
    return all(
        extent == 1 or stride == wanted
        for extent, stride, wanted in zip(shape, strides, dense, strict=True)
    )


def reshaped(view: View, shape: Sequence[int], item_bytes: int, what: str) -> View:
    """The same bytes in order, in another shape; one extent may be −1. Raises KernelError."""
    if not is_dense(view.shape, view.strides, item_bytes):
        raise KernelError(f"{what}: must be contiguous to be viewed in another shape; tl.copy it")
    elements = prod(view.shape)
    wanted = list(shape)
    if wanted.count(-1) == 1:
        known = prod(extent for extent in wanted if extent != -1)
        wanted[wanted.index(-1)] = elements // known if known else 0
    if prod(wanted) != elements or any(extent < 1 for extent in wanted):
        raise KernelError(
            f"{what}: {list(view.shape)} has {elements} elements and cannot be viewed"
            f" as {list(shape)}"
        )
    return View(tuple(wanted), contiguous_strides(tuple(wanted), item_bytes), view.offset)


def transposed(view: View, what: str) -> View:
    """The last two axes exchanged."""
    if len(view.shape) < 2:
        raise KernelError(f"{what}: trans needs two axes, not shape {list(view.shape)}")
    shape, strides = view.shape, view.strides
    return View(
        (*shape[:-2], shape[-1], shape[-2]), (*strides[:-2], strides[-1], strides[-2]), view.offset
    )


def broadcast(view: View, shape: Shape, what: str) -> View:
    """Repeated to the shape as NumPy broadcasts: repeated axes have stride 0."""
    missing = len(shape) - len(view.shape)
    if missing < 0:
        raise KernelError(f"{what}: {list(view.shape)} does not broadcast to {list(shape)}")
    strides = [0] * missing
    for extent, wanted, stride in zip(view.shape, shape[missing:], view.strides, strict=True):
        if extent not in (1, wanted):
            raise KernelError(f"{what}: {list(view.shape)} does not broadcast to {list(shape)}")
        strides.append(stride if extent == wanted else 0)
    return View(shape, tuple(strides), view.offset)


def indexed(view: View, places: Index, what: str) -> View:
    """NumPy's basic indexing: integers, slices with a positive step, None and one ellipsis."""
    extents, steps, offset = view
    shape: list[int] = []
    strides: list[int] = []
    axis = 0
    for item in _spelled_out(extents, places, what):
        if item is None:
            shape.append(1)
            strides.append(0)
            continue
        extent, stride = extents[axis], steps[axis]
        axis += 1
        if isinstance(item, slice):
            start, step, count = _bounds(item, extent, what)
            offset += start * stride
            shape.append(count)
            strides.append(stride * step)
        else:
            offset += _place(item, extent, what) * stride
    return View(tuple(shape), tuple(strides), offset)


def _spelled_out(shape: Shape, places: Index, what: str) -> list[int | slice | None]:
    """One item an axis of the shape, with None between for new axes; the ellipsis filled in."""
    items = places if isinstance(places, tuple) else (places,)
    spelled: list[int | slice | None] = []
    gap, new_axes = None, 0
    for item in items:
        if item is Ellipsis:
            if gap is not None:
                raise KernelError(f"{what}: too many indexes for shape {list(shape)}")
            gap = len(spelled)
        else:
            spelled.append(item)
            new_axes += item is None
    missing = len(shape) + new_axes - len(spelled)
    if missing < 0:
        raise KernelError(f"{what}: too many indexes for shape {list(shape)}")
    if missing:
        gap = len(spelled) if gap is None else gap
        spelled[gap:gap] = [slice(None)] * missing
    return spelled


def _bounds(item: slice, extent: int, what: str) -> tuple[int, int, int]:
    if item.step is not None and item.step < 1:
        raise KernelError(f"{what}: a slice's step must be positive, not {item.step}")
    start, stop, step = item.indices(extent)
    if start >= stop:
        raise KernelError(f"{what}: the slice {_spelled(item)} of extent {extent} is empty")
    return start, step, (stop - start + step - 1) // step


def _place(item: object, extent: int, what: str) -> int:
    if not isinstance(item, SupportsIndex):
        raise KernelError(
            f"{what}: an index must be an int, a slice, None or ..., not {type(item).__name__}"
        )
    place = index(item)
    if not -extent <= place < extent:
        raise KernelError(f"{what}: index {place} is outside extent {extent}")
    return place % extent


def _spelled(item: slice) -> str:
    ends = [item.start, item.stop, *([item.step] if item.step is not None else [])]
    return ":".join("" if end is None else str(end) for end in ends)
