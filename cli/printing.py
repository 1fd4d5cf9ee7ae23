"""How subcommands print: aligned tables and whole words for people, one JSON object for programs."""

import json
import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

GAP = "  "


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """The rows as text, columns two spaces apart, those whose index is in `right` right-aligned.

    Every row has as many cells as the first. No line ends in a space.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_line(row, widths, right) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int], right: Collection[int]) -> str:
    cells = [
        cell.rjust(width) if index in right else cell.ljust(width)
        for index, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return GAP.join(cells).rstrip()


def terminal_columns() -> int | None:
    """How wide the terminal is that standard output is; None where it is none."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def between_words(line: str, columns: int | None, hanging: str = "") -> str:
    """The line, broken between words so that none of its lines is wider; those after the first begin with
    `hanging`. As it is where `columns` is None.
    """
    if columns is None:
        return line
    return textwrap.fill(
        line,
        columns,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object, keys in the order given; a Decimal as the number that prints alike."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=_json_number))


def _json_number(value: object) -> int | float:
    """Configurations hold at most 15 significant digits, which a binary float prints back exactly."""
    if not isinstance(value, Decimal):
        raise TypeError(f"{type(value).__name__} has no JSON form")
    return int(value) if value == value.to_integral_value() else float(value)
