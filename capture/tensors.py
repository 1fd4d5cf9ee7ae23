"""What a kernel is given: tensors in HBM, and slices of and offsets into them. No values.

A slice `k[:, j0:j1]` is a strided view; `v + n` points n elements past the start, and a shape given
with it to tl.ref, tl.load or tl.store says how much is meant.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from operator import index
from typing import ClassVar, NoReturn, SupportsIndex

from ..schemas.dtypes import DType
from ..schemas.errors import KernelError
from ..schemas.handles import contiguous_strides
from ..schemas.op_rules import Shape
from .no_values import NoValues
from .views import Index, View, indexed, is_dense


class InHbm(NoValues):
    """Refuses arithmetic on what has to be loaded first."""

    __slots__ = ()
    BEFORE_VERBS: ClassVar[str] = "tl.load it and "

    def _unloaded(self, operator: str) -> KernelError:
        return KernelError(f"{operator} cannot compute with {self.described}; tl.load it")

    def __sub__(self, other: object) -> NoReturn:
        raise self._unloaded("-")

    __rsub__ = __sub__

    def __mul__(self, other: object) -> NoReturn:
        raise self._unloaded("*")

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> NoReturn:
        raise self._unloaded("/")

    __rtruediv__ = __truediv__

    def __neg__(self) -> NoReturn:
        raise self._unloaded("-")

    def __lt__(self, other: object) -> NoReturn:
        raise self._unloaded("<")

    def __le__(self, other: object) -> NoReturn:
        raise self._unloaded("<=")

    def __gt__(self, other: object) -> NoReturn:
        raise self._unloaded(">")

    def __ge__(self, other: object) -> NoReturn:
        raise self._unloaded(">=")

    def __eq__(self, other: object) -> bool:
        """Whether it is the same object; its values are not there to be compared with a number."""
        if isinstance(other, (int, float)):
            raise self._unloaded("==")
        return NotImplemented

    __hash__ = object.__hash__

    def _elements_past(self, elements: object) -> int:
        """An offset. Raises KernelError for anything but an int, such as another operand of a sum."""
        if not isinstance(elements, SupportsIndex):
            raise self._unloaded("+")
        return index(elements)


@dataclass(slots=True, eq=False)
class HbmTensor(InHbm):
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
    def described(self) -> str:
        return f"tensor '{self.name}' {list(self.shape)} {self.dtype} in HBM"

    @property
    def is_contiguous(self) -> bool:
        return is_dense(self.shape, self.strides, self.dtype.size_bytes)

    def check_not_empty(self, what: str) -> None:
        """Raises KernelError where the PE holds none of the tensor."""
        if 0 in self.shape:
            axis = self.shape.index(0)
            raise KernelError(
                f"{what}: this PE has none of '{self.name}', its part is {list(self.shape)}; return"
                f" before it is used: if {self.name}.shape[{axis}] == 0: return"
            )

    def __getitem__(self, places: Index) -> "HbmTensor":
        self.check_not_empty("a slice")
        whole = View(self.shape, self.strides, self.offset)
        return self._seen_as(indexed(whole, places, f"tensor '{self.name}'"))

    def __setitem__(self, places: Index, _: object) -> NoReturn:
        raise KernelError(f"{self.described} cannot be assigned to; use tl.store")

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
        return HbmPointer(self, self._elements_past(elements))

    __radd__ = __add__

    def __iter__(self) -> "Iterator[HbmTensor]":
        """Its rows, as slices."""
        return (self[row] for row in range(len(self)))

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 0


@dataclass(frozen=True, slots=True)
class HbmPointer(InHbm):
    """A place `elements` past a contiguous tensor's start. It needs a shape to be read or written."""

    tensor: HbmTensor
    elements: int

    @property
    def described(self) -> str:
        return f"tensor '{self.tensor.name}' + {self.elements} in HBM"

    def __add__(self, elements: SupportsIndex) -> "HbmPointer":
        return HbmPointer(self.tensor, self.elements + self._elements_past(elements))

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
