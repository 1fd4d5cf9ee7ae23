"""Checks of a shipped kernel's arguments: one line naming the kernel, the argument and what it must be."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from math import sqrt

from ...schemas.dtypes import DType
from ...schemas.errors import ConfigError, did_you_mean
from ..memory import align_up
from .groups import HeadGroups

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


def check_requests(requests: int, groups: HeadGroups, parts: Iterable[int], dtype: DType) -> None:
    """Raises ConfigError where there are more than the HBM of a group's PEs has room for.

    `parts` are the elements of one request's tensors, PE by PE of a group, in any order: each
    request has the same ones, some PEs further on. One that is too large by itself passes: the layout
    names the tensor.
    """
    room = groups.ranks * align_up(groups.topology.pe.hbm_bytes)
    limit = max(1, room // sum(align_up(part * dtype.size_bytes) for part in parts))
    if requests > limit:
        pes = "1 PE" if groups.ranks == 1 else f"{groups.ranks} PEs"
        raise ConfigError(
            f"requests must be from 1 to {limit} (what the HBM of {pes} has room for), not {requests}"
        )
