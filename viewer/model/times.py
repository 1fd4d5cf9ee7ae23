"""Times for people: written, read back, and as the ticks of a ruler. In picoseconds, none negative."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ...schemas.errors import KerntapeError
from .text import quoted

UNITS = (("s", 10**12), ("ms", 10**9), ("µs", 10**6), ("ns", 10**3), ("ps", 1))
"""Unit and picoseconds, largest first."""

_PS_PER_UNIT = dict(UNITS) | {"us": 10**6, "μs": 10**6}
_TIME = re.compile(r"\s*([0-9]{1,30})(?:[.,]([0-9]+))?\s*([a-zµμ]*)\s*", re.IGNORECASE)


class TimeTextError(KerntapeError):
    """A time that was typed cannot be understood."""


def unit_of(time_ps: int) -> tuple[str, int]:
    """The largest unit that the time fills at least once, with its picoseconds."""
    return next(((name, size) for name, size in UNITS if time_ps >= size), UNITS[-1])


def exact(time_ps: int) -> str:
    """The whole value: `7.40125 µs`, `11 ns`, `0 ps`."""
    name, size = unit_of(time_ps)
    return f"{decimal(time_ps, size)} {name}"


def most_cells(longest_ps: int) -> int:
    """What `exact` takes at most of any time up to that one."""
    units = [(name, size) for name, size in UNITS if size <= max(longest_ps, 1)]
    return max(
        len(str(min(longest_ps // size, 999 if name != units[0][0] else longest_ps)))
        + (len(str(size)) if size > 1 else 0)
        + len(f" {name}")
        for name, size in units
    )


def short(time_ps: int) -> str:
    """About four digits, rounded half up: `30.31 µs`, `412.0 ns`, `16 ps`, `4611686 s`."""
    unit, digits = _unit_and_digits(time_ps)
    return _rounded(time_ps, unit, digits)


def alike(times_ps: Iterable[int]) -> list[str]:
    """As `short`, for times that stand below each other: those of one unit have as many decimals as the
    longest of them.
    """
    told = [(time_ps, *_unit_and_digits(time_ps)) for time_ps in times_ps]
    decimals: dict[str, int] = {}
    for _, unit, digits in told:
        decimals[unit] = min(digits, decimals.get(unit, digits))
    return [_rounded(time_ps, unit, decimals[unit]) for time_ps, unit, _ in told]


def _unit_and_digits(time_ps: int) -> tuple[str, int]:
    """The unit in which a time has about four digits, and how many of them are decimals."""
    name, size = unit_of(time_ps)
    digits = 0 if size == 1 else max(0, 4 - len(str(time_ps // size)))
    step: int = size // 10**digits
    rounded = (time_ps + step // 2) // step * step
    if rounded >= 1000 * size and name != "s":
        return _unit_and_digits(rounded)
    return name, digits


def _rounded(time_ps: int, unit: str, digits: int) -> str:
    size = _PS_PER_UNIT[unit]
    step: int = size // 10**digits
    rounded = (time_ps + step // 2) // step * step
    return f"{_with_digits(rounded, size, digits)} {unit}"


def decimal(time_ps: int, unit_ps: int) -> str:
    """The time in a unit, as an exact decimal without zeros at its end."""
    whole, rest = divmod(time_ps, unit_ps)
    if not rest:
        return str(whole)
    digits = len(str(unit_ps)) - 1
    return f"{whole}.{rest:0{digits}}".rstrip("0")


def parse(text: str) -> int:
    """Picoseconds of `7.4us`, `12345 ns`, `3ms`; a bare number is nanoseconds.

    Raises TimeTextError with the forms that are understood.
    """
    match = _TIME.fullmatch(text)
    unit_ps = _PS_PER_UNIT.get((match[3] or "ns").lower()) if match else None
    if match is None or unit_ps is None:
        raise TimeTextError(
            f"a time must be like 7.4us, 12345ns or 3ms, not {quoted(text.strip())}"
        )
    fraction = (match[2] or "")[:12]
    part = int(fraction or 0) * unit_ps
    for _ in fraction:
        part //= 10
    return int(match[1]) * unit_ps + part


def parse_signed(text: str) -> int:
    """As `parse`, and negative with a minus sign before it."""
    positive = text.strip().removeprefix("-").removeprefix("−")
    return parse(positive) if positive == text.strip() else -parse(positive)


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of the ruler."""

    time_ps: int
    label: str


@dataclass(frozen=True, slots=True)
class Ruler:
    """Round times, their labels in one unit."""

    unit: str
    ticks: tuple[Tick, ...]


def ruler(from_ps: int, to_ps: int, at_most: int) -> Ruler:
    """Round times in [from_ps, to_ps), at most `at_most` of them and one more at the very start."""
    step = _round_up_step(-(-(to_ps - from_ps) // max(at_most, 1)))
    unit, unit_ps = unit_of(max(to_ps - 1, step))
    first = -(-from_ps // step) * step
    digits = _digits(step, unit_ps)
    times_ps = range(first, to_ps, step)
    return Ruler(unit, tuple(Tick(t, _with_digits(t, unit_ps, digits)) for t in times_ps))


def _round_up_step(least: int) -> int:
    """The least of 1, 2, 5, 10, 20, 50 … that is not below `least`."""
    power = 1
    while 10 * power < least:
        power *= 10
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)


def _digits(step: int, unit_ps: int) -> int:
    """Decimals that tell ticks apart which lie `step` apart."""
    digits = 0
    while step * 10**digits % unit_ps:
        digits += 1
    return digits


def _with_digits(time_ps: int, unit_ps: int, digits: int) -> str:
    if not digits:
        return str(time_ps // unit_ps)
    return f"{time_ps // unit_ps}.{time_ps % unit_ps * 10**digits // unit_ps:0{digits}}"
