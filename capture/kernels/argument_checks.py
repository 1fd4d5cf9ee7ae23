"""Checks of a shipped kernel's arguments: one line naming the kernel, the argument and what it must be."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from math import sqrt

from ...schemas.errors import ConfigError, did_you_mean

STORAGE = ("f16", "bf16", "f32")
"""Storage dtypes of the shipped kernels."""


@contextmanager
def arguments_of(kernel: str) -> Iterator[None]:
    """Has every ConfigError raised inside begin with the kernel's name."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{kernel}: {error}") from None


def check_attention(
    dtype: str, g: int, d: int, s_kv: int, **words: tuple[str, Collection[str]]
) -> None:
    """Checks what every attention kernel is given; `words` as for `check_words`."""
    check_words(dtype=(dtype, STORAGE), **words)
    check_least(1, g=g, d=d, s_kv=s_kv)


def score_scale(scale: float | None, d: int) -> float:
    """The factor of the scores: 1/√d unless one is given."""
    return 1 / sqrt(d) if scale is None else scale


def check_words(**words: tuple[str, Collection[str]]) -> None:
    """Raises ConfigError for the first argument, by name, whose word is not one of the known."""
    for name, (word, known) in words.items():
        if word not in known:
            raise ConfigError(f"no {name} '{word}'{did_you_mean(word, known)}")


def check_least(least: int, **numbers: int) -> None:
    """Raises ConfigError for the first argument, by name, that is less."""
    for name, number in numbers.items():
        if number < least:
            raise ConfigError(f"{name} must be at least {least}, not {number}")


def check_starts(start_cube: int, start_pe: int, c: int, p: int) -> None:
    """Raises ConfigError where the start is none of the c CUBEs of a group and the p PEs of each."""
    for name, start, counted, count in (
        ("start_cube", start_cube, "c", c),
        ("start_pe", start_pe, "p", p),
    ):
        if not 0 <= start < count:
            raise ConfigError(
                f"{name} must be from 0 to {count - 1} ({counted} is {count}), not {start}"
            )
