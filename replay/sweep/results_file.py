"""Writes a sweep's results, one row a point: CSV, or Parquet where pyarrow is installed.

Numbers are exact: times are whole picoseconds, a calibration's values keep their decimals (in Parquet
as decimals), and only utilisations are floating-point. A figure's column in Parquet has one type in
every file, also where it is empty throughout; only what passes 64 bits is a decimal instead. The file
appears whole or not at all.
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from ...schemas.atomic_file import check_replaceable, write_whole
from ...schemas.errors import ConfigError, FileError, UsageError
from .axes import written_out
from .figures import FIGURE_TYPES, Figure

MAX_INT64 = (1 << 63) - 1

Cell: TypeAlias = Figure | Decimal
Rows: TypeAlias = Iterable[Sequence[Cell]]


def check_results_path(path: Path) -> None:
    """Raises UsageError for an unknown form; ConfigError or FileError where results could not be written
    there in the end: its library is missing, no such folder, or something there that is not to be
    replaced. A sweep asks before it begins."""
    if path.suffix not in _WRITERS:
        raise UsageError(
            f"{path}: results must be a file ending in {' or '.join(_WRITERS)}, not '{path.suffix}'"
        )
    if path.suffix == ".parquet":
        _parquet()
    check_replaceable(path)
    if not path.parent.is_dir():
        raise FileError(
            f"{path}: cannot be written: there is no folder {path.parent}; create the folder first"
        )


def write_results(path: Path, columns: Sequence[str], rows: Rows) -> None:
    """Writes the file. Raises FileError where it cannot be written."""
    with write_whole(path) as file:
        _WRITERS[path.suffix](file, columns, rows)


def _write_csv(file: BinaryIO, columns: Sequence[str], rows: Rows) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_csv_cell(cell) for cell in row] for row in rows)
    text.detach()


def _csv_cell(cell: Cell) -> Cell:
    """A decimal is written out; the csv module writes all else as it should be."""
    return written_out(cell) if isinstance(cell, Decimal) else cell


def _write_parquet(file: BinaryIO, columns: Sequence[str], rows: Rows) -> None:
    arrow, parquet = _parquet()
    by_column: list[list[Cell]] = [[] for _ in columns]
    for row in rows:
        for column, cell in zip(by_column, row, strict=True):
            column.append(cell)
    arrays = [
        arrow.array(column, type=_parquet_type(arrow, name, column))
        for name, column in zip(columns, by_column, strict=True)
    ]
    parquet.write_table(arrow.table(arrays, names=list(columns)), file)


def _parquet_type(arrow: Any, name: str, column: list[Cell]) -> Any:
    """A figure's; None for what its values say themselves."""
    figure_type = FIGURE_TYPES.get(name)
    if figure_type is int and any(isinstance(cell, int) and cell > MAX_INT64 for cell in column):
        return arrow.decimal128(38)
    return {int: arrow.int64(), float: arrow.float64(), str: arrow.string(), None: None}[
        figure_type
    ]


def _parquet() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ConfigError(
            "Parquet needs pyarrow: pip install -e '.[sweep]' in kerntape's clone, or name results"
            " ending in .csv"
        ) from None


_WRITERS: dict[str, Callable[[BinaryIO, Sequence[str], Rows], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
