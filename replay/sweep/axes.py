"""What a sweep varies: `PATH=V1,V2,…` or `PATH=LOW..HIGH`, as words or as a YAML file's entries.

A path is one of a calibration's (`pe_cpu.fixed_cycles`, as `replay --set` takes it) or, after
`topology.`, one of the structure that replay reads (`topology.pe.tile_buffers`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from ...schemas.config_file import leaves, read_yaml
from ...schemas.errors import ConfigError, UsageError, wrong_usage
from ..settings import check_path, number_at

Value: TypeAlias = Decimal | int
"""A calibration's number with its written value, or a whole number of the topology."""

_EXAMPLE = "as in pe_cpu.fixed_cycles=20,40"


@dataclass(frozen=True, slots=True)
class Axis:
    """A parameter and its values, all different, in the order given."""

    path: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """A parameter and the range to draw its values from, both ends included."""

    path: str
    low: Value
    high: Value


Varied: TypeAlias = Axis | Span


def parse_vary(word: str) -> Varied:
    """One `--vary`. Raises UsageError: not of that form, a value that the path cannot have; ConfigError:
    an unknown path."""
    path, equals, text = (part.strip() for part in word.partition("="))
    if not (path and equals):
        raise UsageError(f"--vary must be PATH=V1,V2,… or PATH=LOW..HIGH, {_EXAMPLE}, not '{word}'")
    check_path(path, "--vary", "vary")
    with wrong_usage():
        return _varied(path, text.split(",") if text else [], "--vary")


def read_grid(path: Path) -> list[Varied]:
    """The file's entries: dotted or nested paths, each with a list of values, one value or LOW..HIGH.

    Raises ConfigError as `parse_vary`, naming the file, and where it cannot be read, is empty, or gives
    a path twice, dotted and nested.
    """
    read = read_yaml(path)
    _check_spelled_once(read, str(path))
    entries = leaves(read)
    for key in entries:
        check_path(key, str(path), "vary")
    if not entries:
        raise ConfigError(f"{path}: must name at least one path to vary, {_EXAMPLE}")
    return [
        _varied(key, entry if isinstance(entry, list) else [entry], str(path))
        for key, entry in entries.items()
    ]


def check_different(varied: Iterable[Varied]) -> None:
    """Raises ConfigError where a path is varied twice."""
    seen: set[str] = set()
    for each in varied:
        if each.path in seen:
            raise ConfigError(f"{each.path} must be varied once; give all its values together")
        seen.add(each.path)


def written_out(value: Value) -> str:
    """The value in plain decimal, never with an exponent."""
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _check_spelled_once(read: dict[str, Any], where: str) -> None:
    """YAML itself refuses a key twice, but not one that is dotted once and nested once."""
    spelled: dict[str, tuple[str, ...]] = {}
    for keys in _spellings(read):
        path = ".".join(keys)
        if path in spelled:
            first, second = (f"'{': '.join(each)}'" for each in (spelled[path], keys))
            raise ConfigError(
                f"{where}: {path} must be varied once, not as {first} and as {second};"
                " give all its values together"
            )
        spelled[path] = keys


def _spellings(read: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The keys that lead to each entry."""
    for key, entry in read.items():
        if isinstance(entry, dict):
            yield from ((str(key), *inside) for inside in _spellings(entry))
        else:
            yield (str(key),)


def _varied(path: str, entries: Sequence[Any], where: str) -> Varied:
    at = f"{where}: {path}"
    if not entries:
        raise ConfigError(f"{at}: must have at least one value, {_EXAMPLE}")
    ends = _ends(entries)
    values = tuple(number_at(path, entry, where) for entry in ends or entries)
    if ends:
        return _span(path, *values, where=at)
    _check_given_once(values, at)
    return Axis(path, values)


def _check_given_once(values: Iterable[Value], where: str) -> None:
    seen: set[Value] = set()
    for value in values:
        if value in seen:
            raise ConfigError(
                f"{where}: the value {written_out(value)} must be given once, not twice"
            )
        seen.add(value)


def _span(path: str, low: Value, high: Value, *, where: str) -> Span:
    if low >= high:
        raise ConfigError(
            f"{where}: a range must be LOW..HIGH with LOW < HIGH, not"
            f" {written_out(low)}..{written_out(high)}"
        )
    return Span(path, low, high)


def _ends(entries: Sequence[Any]) -> list[str]:
    """The two ends, if that is a range."""
    only = entries[0] if len(entries) == 1 else None
    return only.split("..", 1) if isinstance(only, str) and ".." in only else []
