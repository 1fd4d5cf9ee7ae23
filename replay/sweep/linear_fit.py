"""Ordinary least squares over whole numbers, with every figure exact: the same on every machine.

y = a + b_1 x_1 + … + b_k x_k, where the slopes b make the sum of the squared residuals least. With X the
columns less their means they solve the normal equations X'X b = X'y. A slope's standard error is the
root of s² (X'X)⁻¹_ii, s² being the residuals' sum of squares over n - k - 1; R² is the share of y's sum of
squares that the fit leaves no residual of. These are the textbook's formulas; Saltelli, Tarantola,
Campolongo and Ratto, Sensitivity Analysis in Practice (Wiley, 2004) use them on samples of a model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

ERRORS = 2
"""Standard errors that a slope must be away from 0 to be told from chance."""


@dataclass(frozen=True, slots=True)
class Slope:
    """Of one column: by how much y changes with a step of 1, and the square of its standard error."""

    b: Fraction
    squared_error: Fraction

    @property
    def is_told(self) -> bool:
        """Whether it is told from chance; without any residual every slope but 0 is."""
        return self.b**2 > ERRORS**2 * self.squared_error


@dataclass(frozen=True, slots=True)
class LinearFit:
    """A slope per column. `explained` is R²; None where all y are equal and there is nothing to explain."""

    slopes: tuple[Slope, ...]
    explained: Fraction | None


def linear_fit(columns: Sequence[Sequence[int]], y: Sequence[int]) -> LinearFit | None:
    """None where the points do not settle it: at most k + 1 of them, or columns that depend on each
    other. Every column has as many numbers as y."""
    spare = len(y) - len(columns) - 1
    if spare < 1:
        return None
    inverse = _inverse([[_product(one, other) for other in columns] for one in columns])
    if inverse is None:
        return None
    with_y = [_product(column, y) for column in columns]
    slopes = [Fraction(sum(map(mul, row, with_y))) / inverse.divisor for row in inverse.rows]
    total = _product(y, y)
    explained = sum(map(mul, slopes, with_y), Fraction(0))
    # the factor n of every product cancels out
    error = (total - explained) / (spare * inverse.divisor)
    diagonal = [row[place] for place, row in enumerate(inverse.rows)]
    return LinearFit(
        tuple(Slope(b, error * own) for b, own in zip(slopes, diagonal, strict=True)),
        explained / total if total else None,
    )


def _product(one: Sequence[int], other: Sequence[int]) -> int:
    """The sum of the products of two columns less their means, times n, so that it is whole."""
    products: int = sum(map(mul, one, other))
    return len(one) * products - sum(one) * sum(other)


@dataclass(frozen=True, slots=True)
class _Inverse:
    """The rows over the divisor."""

    rows: list[list[int]]
    divisor: int


def _inverse(matrix: Sequence[Sequence[int]]) -> _Inverse | None:
    """Of a matrix of such products; None where it has none.

    Elimination without fractions (Bareiss, Mathematics of Computation 22, 1968): every division is
    exact. Rows need no exchange: where such a matrix has a pivot of 0, it has no inverse.
    """
    size = len(matrix)
    rows = [[*row, *(int(place == own) for own in range(size))] for place, row in enumerate(matrix)]
    divisor = 1
    for place in range(size):
        eliminating = rows[place]
        pivot = eliminating[place]
        if not pivot:
            return None
        for other, row in enumerate(rows):
            if other != place:
                factor = row[place]
                rows[other] = [
                    (pivot * own - factor * each) // divisor
                    for own, each in zip(row, eliminating, strict=True)
                ]
        divisor = pivot
    return _Inverse([row[size:] for row in rows], divisor)
