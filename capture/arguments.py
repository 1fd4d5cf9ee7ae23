"""What a kernel may pass to tl: shapes, dtypes and numbers, checked and brought to one form."""

from collections.abc import Sequence
from operator import index
from typing import SupportsIndex, TypeAlias

import numpy as np

from ..schemas.dtypes import DType
from ..schemas.errors import KernelError, did_you_mean
from ..schemas.op_rules import Shape
from .no_values import NoValues

ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
DTypeLike: TypeAlias = DType | str
Number: TypeAlias = int | float

INT32 = range(-(1 << 31), 1 << 31)
PAST_EXTENTS = 1 << 48
"""More elements than any memory holds bytes."""


def as_dtype(dtype: DTypeLike, what: str) -> DType:
    """The dtype of that name. Raises KernelError with the nearest name."""
    try:
        return DType(dtype)
    except ValueError:
        raise KernelError(f"{what}: no dtype '{dtype}'{did_you_mean(str(dtype), DType)}") from None


def as_shape(shape: ShapeLike, what: str) -> Shape:
    """A tuple of extents, each at least 1 and below PAST_EXTENTS. Raises KernelError."""
    extents = as_extents(shape, what)
    if any(extent < 1 for extent in extents):
        raise KernelError(f"{what}: every extent must be at least 1, not {list(extents)}")
    if any(extent >= PAST_EXTENTS for extent in extents):
        raise KernelError(f"{what}: every extent must be below 2^48, not {list(extents)}")
    return extents


def as_extents(shape: ShapeLike, what: str) -> Shape:
    """A tuple of ints of any sign. Raises KernelError."""
    try:
        if not isinstance(shape, Sequence):
            return (index(shape),)
        return tuple([index(extent) for extent in shape])
    except TypeError:
        raise KernelError(f"{what}: a shape must be ints, not {shape!r}") from None


def as_number(number: object, what: str, *, or_handle: bool = False) -> Number:
    """A Python int or float. Raises KernelError for anything else, and for an int beyond 32 bits.

    `or_handle`: a handle could stand there too, and is not what is given.
    """
    if isinstance(number, np.generic):
        number = number.item()
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        wanted, remedy = (
            ("a handle or a number", _remedy(number)) if or_handle else ("a number", "")
        )
        raise KernelError(f"{what} must be {wanted}, not {type(number).__name__}{remedy}")
    if isinstance(number, int) and number not in INT32:
        raise KernelError(f"{what} must fit 32 bits, not {number}")
    return number


def not_a_handle(what: str, given: object) -> KernelError:
    """The error for what is given where a handle must be: `what` is the sentence up to there."""
    shown = given.described if isinstance(given, NoValues) else type(given).__name__
    remedy = "; tl.load gives one" if isinstance(given, NoValues) else _remedy(given)
    return KernelError(f"{what} a handle, not {shown}{remedy}")


def _remedy(given: object) -> str:
    """How what is no number becomes a handle, where it can."""
    if isinstance(given, np.ndarray):
        return "; make it a tensor of the launch (rt.tensor) and tl.load it"
    return "; tl.load it" if hasattr(given, "shape") else ""
