"""Writes a sweep's results, one row a point: CSV, or Parquet where pyarrow is installed.

Numbers are exact: times are whole picoseconds, a calibration's values keep their decimals (in Parquet
as decimals), and only utilisations are floating-point. The file appears whole or not at all.
"""

import csv
import io
from collections.abc import Callable, Sequence
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from ...schemas.atomic_file import write_whole
from ...schemas.errors import ConfigError, FileError
from .axes import written_out
from .figures import Figure

Cell: TypeAlias = Figure | Decimal
Rows: TypeAlias = Sequence[Sequence[Cell]]


def check_results_path(path: Path) -> None:
    """Raises ConfigError or FileError where results could not be written there in the end: an unknown
    form, one whose library is missing, or no such folder. A sweep asks before it begins."""
    if path.suffix not in _WRITERS:
        raise ConfigError(
            f"{path}: results must be a file ending in {' or '.join(_WRITERS)}, not '{path.suffix}'"
        )
    if path.suffix == ".parquet":
        _parquet()
    if path.is_dir():
        raise FileError(f"{path}: must be a file to write, not a folder; name a file inside it")
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
    by_column = {name: [row[place] for row in rows] for place, name in enumerate(columns)}
    parquet.write_table(arrow.table(by_column), file)


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
