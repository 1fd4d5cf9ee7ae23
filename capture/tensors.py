"""What a kernel is given: tensors in HBM, and slices of and offsets into them. No values.

A slice `k[:, j0:j1]` is a strided view; `v + n` points n elements past the start, and a shape given
with it to tl.ref, tl.load or tl.store says how much is meant.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from operator import index
from typing import SupportsIndex

from ..schemas.dtypes import DType
from ..schemas.errors import KernelError
from ..schemas.handles import contiguous_strides
from ..schemas.op_rules import Shape
from .views import Index, View, indexed, is_dense


@dataclass(slots=True, eq=False)
class HbmTensor:
    """Tensor number `number` of the launch as the PE of rank `rank` sees it, or a view. Never changed.

    `offset` and `strides` are in bytes. Not frozen, as a loop over tiles makes one per tile and
    operand, and that would cost it a third of the slice.
    """

    rank: int
    number: int
    name: str
    shape: Shape
    strides: Shape
    dtype: DType
    offset: int

    @classmethod
    def whole(cls, rank: int, number: int, name: str, shape: Shape, dtype: DType) -> "HbmTensor":
        """The tensor in full, row-major from offset 0."""
        strides = contiguous_strides(shape, dtype.size_bytes)
        return cls(rank, number, name, shape, strides, dtype, 0)

    @property
    def is_contiguous(self) -> bool:
        return is_dense(self.shape, self.strides, self.dtype.size_bytes)

    def __getitem__(self, places: Index) -> "HbmTensor":
        whole = View(self.shape, self.strides, self.offset)
        return self._seen_as(indexed(whole, places, f"tensor '{self.name}'"))

    def _seen_as(self, view: View) -> "HbmTensor":
        shape, strides, offset = view
        return HbmTensor(self.rank, self.number, self.name, shape, strides, self.dtype, offset)

    def part(self, elements: int, shape: Shape) -> "HbmTensor":
        """The contiguous elements from place `elements` on, in that shape.

        Raises KernelError where the tensor is strided, or ends before.
        """
        if not self.is_contiguous:
            raise KernelError(
                f"an offset needs a contiguous tensor, and '{self.name}' is strided; slice it"
            )
        last, available = elements + prod(shape), prod(self.shape)
        if elements < 0 or last > available:
            raise KernelError(
                f"elements {elements} to {last} lie outside '{self.name}', which has {available}"
            )
        item_bytes = self.dtype.size_bytes
        offset = self.offset + elements * item_bytes
        return self._seen_as(View(shape, contiguous_strides(shape, item_bytes), offset))

    def __add__(self, elements: SupportsIndex) -> "HbmPointer":
        return HbmPointer(self, index(elements))

    __radd__ = __add__

    def __iter__(self) -> "Iterator[HbmTensor]":
        """Its rows, as slices."""
        return (self[row] for row in range(len(self)))

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 0


@dataclass(frozen=True, slots=True)
class HbmPointer:
    """A place `elements` past a contiguous tensor's start. It needs a shape to be read or written."""

    tensor: HbmTensor
    elements: int

    def __add__(self, elements: SupportsIndex) -> "HbmPointer":
        return HbmPointer(self.tensor, self.elements + index(elements))

    __radd__ = __add__


def located(target: HbmTensor | HbmPointer, shape: Shape | None, what: str) -> HbmTensor:
    """The view that a tensor, slice or pointer with an optional shape means. Raises KernelError."""
    if isinstance(target, HbmPointer):
        if shape is None:
            raise KernelError(f"{what}: a tensor with an offset needs a shape")
        return target.tensor.part(target.elements, shape)
    if not isinstance(target, HbmTensor):
        raise KernelError(f"{what}: must be given a tensor in HBM, not {type(target).__name__}")
    if shape is None or shape == target.shape:
        return target
    return target.part(0, shape)
