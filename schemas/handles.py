"""A handle names a tensor in a PE's memory: where it lies, its shape, and exactly which bytes it covers."""

from dataclasses import dataclass
from enum import StrEnum
from math import prod

from .dtypes import DType


class Space(StrEnum):
    """The memory a handle lives in. TCM is the PE's own; HBM belongs to an owner PE."""

    TCM = "tcm"
    HBM = "hbm"


@dataclass(frozen=True, slots=True)
class Geometry:
    """What a handle looks like, without its place. Strides are in bytes; 0 repeats (a broadcast)."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: DType
    space: Space

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """Bytes of the elements, as they are moved (not of the hull they are spread over)."""
        return self.elements * self.dtype.size_bytes

    @property
    def repeats_bytes(self) -> bool:
        """Whether elements may lie on each other's bytes: a stride 0, or one that steps into a row."""
        reach = self.dtype.size_bytes
        for stride, extent in sorted(zip(self.strides, self.shape, strict=True)):
            if extent > 1 and stride < reach:
                return True
            reach += stride * (extent - 1)
        return False

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after another. The stride of a single element says nothing."""
        dense = contiguous_strides(self.shape, self.dtype.size_bytes)
        steps = zip(self.shape, self.strides, dense, strict=True)
        return self.elements == 0 or all(
            extent == 1 or stride == wanted for extent, stride, wanted in steps
        )


@dataclass(frozen=True, slots=True)
class Handle:
    """A placed geometry. `id` counts within the PE, in order of allocation or reference.

    `address` is a byte address in TCM, or a byte offset in tensor number `tensor` in HBM (the
    tensor's owner and base differ from PE to PE and are not the handle's). `tensor` is -1 in TCM.
    `label` is the name hazards and the browser show.
    """

    id: int
    geometry: Geometry
    address: int
    tensor: int
    label: str


def contiguous_strides(shape: tuple[int, ...], item_bytes: int) -> tuple[int, ...]:
    """Row-major strides in bytes: the last axis is dense."""
    strides = []
    step = item_bytes
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
