"""Compares what two executions left in the output tensors."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...schemas.dtypes import DType
from ...schemas.trace import TensorInfo, Trace
from ...schemas.values import NUMPY_DTYPES, Array
from .findings import OutputCheck
from .memory import Home, Memory


@dataclass(frozen=True, slots=True)
class Executed:
    """The memories after execution: in the order of times, and in program order.

    `captured` is program order under capture's tile, None where the timeline's tile is the same.
    """

    timed: Memory
    ordered: Memory
    captured: Memory | None


def check_outputs(trace: Trace, executed: Executed) -> tuple[OutputCheck, ...]:
    """Every tensor that launch() marked as an output; where it marked none, every tensor."""
    tensors = list(enumerate(trace.header.tensors))
    marked = [(number, tensor) for number, tensor in tensors if tensor.is_output]
    return tuple(
        _check_output(trace, executed, number, tensor) for number, tensor in marked or tensors
    )


def places_of(trace: Trace, memory: Memory, number: int) -> list[int]:
    """The PEs (indexes into Trace.pes) that see the tensor, one for each memory that holds some of it."""
    homes: dict[Home, int] = {}
    for place in range(len(trace.pes)):
        if (place, number) in memory:
            homes.setdefault(memory.home((place, number)), place)
    return list(homes.values())


def wrong_elements(timed: Array, ordered: Array) -> int:
    """How many elements differ in a bit. Both are flat and contiguous, of one dtype and length."""
    one, other = (
        values.view(np.uint8).reshape(len(values), values.dtype.itemsize)
        for values in (timed, ordered)
    )
    return int(np.count_nonzero((one != other).any(axis=1)))


def largest_difference(one: Array, other: Array) -> float:
    """max |one − other|; 0 between two NaNs or equal infinities, NaN where one of two is a NaN."""
    first, second = one.astype(np.float64), other.astype(np.float64)
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    with np.errstate(invalid="ignore"):
        return float(np.abs(first - second).max(initial=0.0, where=~same))


def _check_output(trace: Trace, executed: Executed, number: int, tensor: TensorInfo) -> OutputCheck:
    places = places_of(trace, executed.timed, number)
    timed = list(_values(executed.timed, places, number, tensor))
    ordered = list(_values(executed.ordered, places, number, tensor))
    wrong = [wrong_elements(one, other) for one, other in zip(timed, ordered, strict=True)]
    ranks = [trace.pes[place].owners[number] for place in places]
    tile_difference = tolerance = None
    if executed.captured is not None:
        captured = list(_values(executed.captured, places, number, tensor))
        tile_difference, tolerance = _largest(ordered, captured), _tolerance(tensor, captured)
    return OutputCheck(
        name=tensor.name,
        tensor=number,
        dtype=tensor.dtype,
        ranks=tuple(ranks),
        wrong_ranks=tuple(rank for rank, count in zip(ranks, wrong, strict=True) if count),
        elements=sum(map(len, timed)),
        wrong_elements=sum(wrong),
        max_abs_difference=_largest(timed, ordered),
        tile_difference=tile_difference,
        tolerance=tolerance,
    )


def _values(memory: Memory, places: list[int], number: int, tensor: TensorInfo) -> Iterator[Array]:
    """What each PE holds of the tensor, flat."""
    dtype = DType(tensor.dtype)
    for place in places:
        image = memory.image((place, number))
        whole = len(image) - len(image) % dtype.size_bytes
        yield image[:whole].view(NUMPY_DTYPES[dtype])


def _largest(ones: list[Array], others: list[Array]) -> float:
    differences = [largest_difference(one, other) for one, other in zip(ones, others, strict=True)]
    return float(np.max(differences, initial=0.0))


def _tolerance(tensor: TensorInfo, captured: list[Array]) -> float:
    """Relative to the largest value of the output (to 1 where that is 0)."""
    sizes = [float(np.abs(values.astype(np.float64)).max(initial=0.0)) for values in captured]
    return DType(tensor.dtype).relative_tolerance * (max(sizes, default=0.0) or 1.0)
