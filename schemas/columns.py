"""The numpy column types that records are made of: one name per meaning, so that files and code agree."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Int8s: TypeAlias = npt.NDArray[np.int8]
Int16s: TypeAlias = npt.NDArray[np.int16]
Int32s: TypeAlias = npt.NDArray[np.int32]
Int64s: TypeAlias = npt.NDArray[np.int64]
Integers: TypeAlias = npt.NDArray[np.integer]
"""Of any width."""
Bools: TypeAlias = npt.NDArray[np.bool_]


def offsets_of(counts: Integers) -> Int64s:
    """Where each group starts in the flat column, and one past the last: int64 [len(counts) + 1]."""
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.add.accumulate(counts, dtype=np.int64, out=starts[1:])
    return starts


def places_of(begins: Integers, counts: Integers) -> Int64s:
    """The places of entries that stand group by group: `counts[g]` of them from `begins[g]` on."""
    starts = offsets_of(counts)
    places: Int64s = np.arange(starts[-1]) + (begins - starts[:-1]).repeat(counts)
    return places
