"""What samples say of a makespan: by how much it changes over each parameter's range, as a straight-line
fit over all of them has it (see linear_fit), and how much of the differences that fit explains.

Values are laid on a scale of whole numbers, so nothing is rounded but the answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from .axes import Axis, Value, Varied
from .linear_fit import Slope, linear_fit
from .margins import PPM


@dataclass(frozen=True, slots=True)
class Change:
    """By how much the makespan is longer at the high end of a parameter's range, or at the greatest of its
    listed values, than at the low end or the least; None where the samples do not say. `is_told`: from
    chance."""

    path: str
    low: Value
    high: Value
    change_ps: int | None
    is_told: bool


@dataclass(frozen=True, slots=True)
class SampleFit:
    """`explained_ppm`: the share of the makespans' differences (of their squares, R²), rounded down; None
    where there is no fit, or no difference. The greatest change stands first, those that are not told
    from chance after all that are, those that are not known last; of equal ones the one given first."""

    explained_ppm: int | None
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class SampledColumn:
    """A parameter's values as whole numbers: `scale` of them are 1."""

    path: str
    low: Value
    high: Value
    scale: int
    whole: tuple[int, ...]


def sampled_column(varied: Varied, values: Sequence[Value]) -> SampledColumn:
    """The parameter with its values, one per sample."""
    scale = 10 ** max(map(_decimals, values), default=0)
    ends = varied.values if isinstance(varied, Axis) else (varied.low, varied.high)
    whole = tuple(int(Fraction(value) * scale) for value in values)
    return SampledColumn(varied.path, min(ends), max(ends), scale, whole)


def sample_fit(
    columns: Sequence[SampledColumn], samples: Sequence[int], makespan_ps: Sequence[int]
) -> SampleFit:
    """Of some samples, by number, and the makespan of each. A parameter that has the same value in all of
    them has no part in the fit."""
    inside = [[column.whole[sample] for sample in samples] for column in columns]
    differing = [place for place, whole in enumerate(inside) if len(set(whole)) > 1]
    fit = linear_fit([inside[place] for place in differing], makespan_ps) if differing else None
    slopes = dict(zip(differing, fit.slopes, strict=True)) if fit else {}
    changes = [_change(column, slopes.get(place)) for place, column in enumerate(columns)]
    explained = fit.explained if fit else None
    return SampleFit(
        explained_ppm=None if explained is None else int(explained * PPM),
        changes=tuple(sorted(changes, key=_place)),
    )


def _decimals(value: Value) -> int:
    """How many it is written with."""
    exponent = value.as_tuple().exponent if isinstance(value, Decimal) else 0
    return max(0, -int(exponent))


def _change(column: SampledColumn, slope: Slope | None) -> Change:
    if slope is None:
        return Change(column.path, column.low, column.high, None, is_told=False)
    width = (Fraction(column.high) - Fraction(column.low)) * column.scale
    change = _rounded(slope.b * width)
    return Change(column.path, column.low, column.high, change, is_told=slope.is_told)


def _rounded(exact: Fraction) -> int:
    """To a whole number, a half away from 0."""
    size = (2 * abs(exact.numerator) + exact.denominator) // (2 * exact.denominator)
    return size if exact > 0 else -size


def _place(change: Change) -> tuple[bool, bool, int]:
    return (change.change_ps is None, not change.is_told, -abs(change.change_ps or 0))
