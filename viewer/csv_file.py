"""Tables as CSV files, written whole or not at all: stages, a line each in the order (start, stage id),
and whatever a screen lists.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from ..schemas.atomic_file import write_whole
from ..schemas.columns import Int64s
from ..schemas.stages import Why
from .model.index import TimelineIndex
from .model.words import kind_words
from .new_file import check_new

COLUMNS = (
    "stage",
    "pe",
    "engine",
    "kind",
    "command",
    "op",
    "tile",
    "ready_ps",
    "start_ps",
    "end_ps",
    "cause",
    "why",
    "line",
)

ROWS_AT_A_TIME = 4096


def write_csv(path: Path, index: TimelineIndex, stages: Int64s) -> None:
    """Writes the stages; times in picoseconds. FileError where the file exists or cannot be written."""
    order = np.lexsort((stages, index.timeline.start_ps[stages]))
    write_table(path, COLUMNS, (_row(index, stage) for stage in stages[order].tolist()))


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Writes the columns' names and the rows. FileError where the file exists or cannot be written."""
    check_new(path)
    with write_whole(path) as file:
        for part in _parts(columns, rows):
            file.write(part.encode("utf-8"))


def _parts(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    left = iter(rows)
    while some := list(islice(left, ROWS_AT_A_TIME)):
        writer.writerows(some)
        yield text.getvalue()
        text.seek(0)
        text.truncate()
    yield text.getvalue()


def _row(index: TimelineIndex, stage: int) -> tuple[object, ...]:
    pe, command = index.pe(stage), index.command(stage)
    return (
        stage,
        index.timeline.trace.pes[pe].rank,
        index.engine(stage).title,
        kind_words(index, stage),
        command,
        index.op(stage),
        index.tile(stage),
        index.ready(stage),
        index.start(stage),
        index.end(stage),
        index.cause(stage),
        Why(int(index.timeline.why[stage])).name.lower(),
        str(index.line(pe, command)),
    )
