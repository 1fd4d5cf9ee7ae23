"""The timeline as canonical text: one line a stage, for comparison byte for byte.

Fields are `name=value`, separated by tabs, in a fixed order; lines are ordered by (start, PE,
program order). An engine of another PE than the command's has that PE's rank behind its name: `hbm@3`.
Streamed: a timeline of millions of stages needs no second copy in memory.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..schemas.atomic_file import write_whole
from ..schemas.columns import Int64s
from ..schemas.stages import StageKind, Why
from ..schemas.timeline import Timeline
from .traffic import is_away

STAGES_PER_CHUNK = 1 << 16
LINE = (
    "start=%d\tend=%d\tready=%d\tpe=%d\tcommand=%d\top=%d\ttile=%d\tkind=%s\tengine=%s\tstage=%d"
    "\tcause=%d\twhy=%s\n"
)


def op_log_chunks(timeline: Timeline) -> Iterator[str]:
    """The text, some ten thousand lines at a time."""
    stages = timeline.stages
    ranks = np.array([pe.rank for pe in timeline.trace.pes], dtype=np.int64)
    engines = [engine.title for engine in timeline.engines]
    others = [f"{engine.title}@{engine.rank}" for engine in timeline.engines]
    kinds = {kind.value: kind.title for kind in StageKind}
    reasons = {why.value: why.name.lower() for why in Why}
    # stage ids count by (PE, program order), so a stable sort by start is the whole order
    order = np.argsort(timeline.start_ps, kind="stable")
    for first in range(0, len(order), STAGES_PER_CHUNK):
        rows = order[first : first + STAGES_PER_CHUNK]
        columns = (
            timeline.start_ps[rows].tolist(),
            timeline.end_ps[rows].tolist(),
            timeline.ready_ps[rows].tolist(),
            ranks[stages.pe[rows]].tolist(),
            stages.command[rows].tolist(),
            stages.op[rows].tolist(),
            stages.tile[rows].tolist(),
            map(kinds.__getitem__, stages.kind[rows].tolist()),
            map((engines + others).__getitem__, _titles(timeline, rows)),
            rows.tolist(),
            timeline.cause[rows].tolist(),
            map(reasons.__getitem__, timeline.why[rows].tolist()),
        )
        yield "".join(map(LINE.__mod__, zip(*columns, strict=True)))


def _titles(timeline: Timeline, rows: Int64s) -> list[int]:
    """Per stage its engine, or that many further on where it is another PE's than the command's."""
    away = is_away(timeline, rows)
    titles: list[int] = (timeline.stages.engine[rows] + away * len(timeline.engines)).tolist()
    return titles


def write_op_log(path: Path, timeline: Timeline) -> str:
    """Writes the text whole or not at all; returns its SHA-256. Raises FileError."""
    digest = hashlib.sha256()
    with write_whole(path) as file:
        for chunk in op_log_chunks(timeline):
            encoded = chunk.encode()
            digest.update(encoded)
            file.write(encoded)
    return digest.hexdigest()


def op_log_sha256(timeline: Timeline) -> str:
    """The hash of the text that `write_op_log` writes."""
    digest = hashlib.sha256()
    for chunk in op_log_chunks(timeline):
        digest.update(chunk.encode())
    return digest.hexdigest()
