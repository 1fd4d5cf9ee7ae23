"""Sums of many picoseconds by place, exactly, at the speed of numpy's float sums."""

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Int64s

LOW_BITS, EXACT_IN_FLOATS = 24, 1 << 53


def sums_by_place(places: npt.NDArray[np.integer], amounts: Int64s, count: int) -> Int64s:
    """Per place from 0 to `count` − 1, its amounts added up. Amounts are not negative.

    Floats hold the sums exactly: of all bits where they are few, else of the lower and upper ones.
    """
    if int(amounts.max(initial=0)) * len(amounts) < EXACT_IN_FLOATS:
        return np.bincount(places, weights=amounts, minlength=count).astype(np.int64)
    lower = sums_by_place(places, amounts & ((1 << LOW_BITS) - 1), count)
    upper = np.bincount(places, weights=amounts >> LOW_BITS, minlength=count).astype(np.int64)
    sums: Int64s = lower + (upper << LOW_BITS)
    return sums
