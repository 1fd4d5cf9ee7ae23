"""Questions to ask of a whole column at once. The error names the first row that is wrong."""

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from .columns import Bools
from .errors import FileError

Column = npt.NDArray[np.integer]
Place = Callable[[int], str]
"""The name of a row's place in the file."""


def first_row(wrong: Bools) -> int | None:
    """The first row where the mask is true, or None."""
    if not len(wrong):
        return None
    row = int(wrong.argmax())
    return row if wrong[row] else None


def must_exist(ids: Column, count: int, thing: str, place: Place) -> None:
    """FileError unless every id names one of `count` things."""
    must_lie_in(ids, 0, count - 1, thing, place, f"there are {count}")


def must_lie_in(
    values: Column, low: int, high: int, quantity: str, place: Place, because: str = ""
) -> None:
    """FileError unless every value is of low … high."""
    if not len(values) or _lie_in(values, low, high):
        return
    row = first_row((values < low) | (values > high))
    if row is None:
        return
    bound = f"from {low} to {high}" if low <= high else "left out"
    reason = f" ({because})" if because else ""
    raise FileError(f"{place(row)}: {quantity} must be {bound}{reason}, not {int(values[row])}")


def _lie_in(values: Column, low: int, high: int) -> bool:
    if low:
        return low <= int(values.min()) and int(values.max()) <= high
    greatest = np.maximum.reduce(values.view(_unsigned(values.dtype)))
    return int(greatest) <= min(high, (1 << 8 * values.itemsize - 1) - 1)


@cache
def _unsigned(item: np.dtype[np.integer]) -> np.dtype[np.unsignedinteger]:
    """In which what is below 0 is above all that the signed one can hold."""
    return np.dtype(item.str.replace("i", "u"))


def must_add_up(counts: Column, total: int, thing: str, place: Place) -> None:
    """FileError unless no count is negative and their sum is the number of things there are."""
    must_lie_in(counts, 0, total, f"the number of {thing}", place)
    found = int(counts.sum(dtype=np.int64))
    if found != total:
        raise FileError(f"the file must hold {found} {thing}, as its counts say, not {total}")
