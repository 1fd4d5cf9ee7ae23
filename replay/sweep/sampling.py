"""Latin-hypercube samples: every parameter's range is cut into as many strata as there are samples, and
every stratum is used once. Deterministic from the seed, and the same on every machine.

A parameter's samples depend on the seed, the count and the parameter alone: varying one more changes
none of the others. Values are decimals, never floats.
"""

import hashlib
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor

from ...schemas.calibration import MIN_NUMBER
from ...schemas.config_file import MAX_SIGNIFICANT_DIGITS
from ...schemas.errors import ConfigError
from .axes import Span, Value, Varied

_DRAWS = 1 << 64
STEPS_PER_STRATUM = 100
"""How fine values are at least: a hundredth of a stratum, so that they have few digits."""


def latin_hypercube(
    varied: Sequence[Varied], count: int, seed: int
) -> tuple[tuple[Value, ...], ...]:
    """`count` combinations, one value per parameter. A parameter with listed values takes each of them
    equally often, give or take one. Raises ConfigError where there is nothing to sample, and for a
    seed below 0."""
    if count < 1:
        raise ConfigError(f"--samples must be at least 1, not {count}")
    if seed < 0:
        raise ConfigError(f"--seed must be at least 0, not {seed}")
    if not varied:
        raise ConfigError("--latin-hypercube must have something to sample: give --vary or --grid")
    columns = [_samples(each, count, seed) for each in varied]
    return tuple(zip(*columns, strict=True))


def _samples(varied: Varied, count: int, seed: int) -> list[Value]:
    key = f"{seed}/{count}/{varied.path}"
    strata = sorted(range(count), key=lambda stratum: _draw(f"{key}/stratum/{stratum}"))
    places = [
        Fraction(stratum * _DRAWS + _draw(f"{key}/place/{stratum}"), count * _DRAWS)
        for stratum in strata
    ]
    if isinstance(varied, Span):
        return [_within(varied, place, count) for place in places]
    return [varied.values[int(place * len(varied.values))] for place in places]


def _draw(text: str) -> int:
    """An evenly distributed number of 64 bits."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def _within(span: Span, place: Fraction, count: int) -> Value:
    """The value at a place from 0 to below 1 of the range, rounded within its stratum."""
    if isinstance(span.low, int):
        return span.low + int(place * (int(span.high) - span.low + 1))
    low, width = Fraction(span.low), Fraction(span.high) - Fraction(span.low)
    decimals = _decimals(span, width / (count * STEPS_PER_STRATUM))
    scale = 10**decimals
    down = floor((low + place * width) * scale)
    begin = low + floor(place * count) * width / count
    steps = down if down >= begin * scale else down + 1
    rounded = Decimal(steps).scaleb(-decimals)
    return rounded if span.low <= rounded <= span.high else Decimal(span.low)


def _decimals(span: Span, step: Fraction) -> int:
    """How many decimals make steps no larger than that, if a calibration may have as many."""
    significant = MAX_SIGNIFICANT_DIGITS - 1 - Decimal(span.high).adjusted()
    smallest = significant if span.low else -MIN_NUMBER.adjusted()
    finest = min(significant, smallest)
    decimals = 0
    while decimals < finest and step < Fraction(1, 10**decimals):
        decimals += 1
    return decimals
