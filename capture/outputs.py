"""Compares what the kernel left in its outputs with what should be there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from ..schemas.dtypes import DType
from ..schemas.errors import ConfigError
from ..schemas.values import NUMPY_DTYPES
from .hbm_layout import Images, PeTensors, slices
from .runtime import Float64s, Output, Tensor


@dataclass(frozen=True, slots=True)
class OutputReport:
    """One output. `max_abs_err` is None without a reference or without data, NaN if a result is."""

    shape: tuple[int, ...]
    dtype: str
    max_abs_err: float | None
    tolerance: float | None

    @property
    def is_right(self) -> bool:
        """Whether the result is within the tolerance, or there is nothing to compare it with."""
        if self.max_abs_err is None or self.tolerance is None:
            return True
        return self.max_abs_err <= self.tolerance

    @property
    def finite_error(self) -> float | None:
        """`max_abs_err`, None where it is not a finite number."""
        error = self.max_abs_err
        return error if error is not None and isfinite(error) else None


def report(output: Output, pes: Sequence[PeTensors], images: Images | None) -> OutputReport:
    """The largest |result − reference| over every copy of the output; None without data.

    Raises ConfigError where the reference has another shape than the output.
    """
    tensor = output.tensor
    if images is None or output.reference is None:
        return OutputReport(tensor.shape, tensor.dtype, None, output.tolerance)
    expected = _reference(output)
    errors = [_error(result, expected[where]) for where, result in _results(tensor, pes, images)]
    tolerance = output.tolerance
    if tolerance is None:
        tolerance = _default_tolerance(tensor.dtype, expected)
    return OutputReport(tensor.shape, tensor.dtype, float(np.max(errors)), tolerance)


def _reference(output: Output) -> Float64s:
    reference = output.reference
    expected = np.asarray(reference() if callable(reference) else reference, dtype=np.float64)
    if expected.shape != output.tensor.shape:
        raise ConfigError(
            f"the reference of {output.tensor} must have shape {list(output.tensor.shape)},"
            f" not {list(expected.shape)}"
        )
    return expected


def _results(
    tensor: Tensor, pes: Sequence[PeTensors], images: Images
) -> Iterator[tuple[tuple[slice, ...], Float64s]]:
    """(where in the whole tensor, the values there) for each place in HBM that holds some of it."""
    homes = set()
    for pe in pes:
        home = pe.owners[tensor.number]
        if home not in homes:
            homes.add(home)
            part = pe.parts[tensor.number]
            stored = images[pe.rank, tensor.number].view(NUMPY_DTYPES[tensor.dtype])
            shape = [len(indexes) for indexes in part]
            yield slices(part), stored.reshape(shape).astype(np.float64)


def _error(result: Float64s, expected: Float64s) -> float:
    """The largest difference, NaN where one is; equal infinities do not differ."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(result - expected)
    return float(np.where(result == expected, 0.0, apart).max(initial=0.0))


def _default_tolerance(dtype: DType, expected: Float64s) -> float:
    """Relative to the largest value that should come out (to 1 where that is 0)."""
    return dtype.relative_tolerance * (float(np.abs(expected).max(initial=0.0)) or 1.0)
