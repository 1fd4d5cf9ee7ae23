"""Whether a timeline's columns say nothing impossible: every id exists, nothing ends before it starts.

So whoever draws a timeline from a file can index with what stands in it. Errors are FileErrors that
name the stage or the hazard, and no file.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .column_checks import Place, first_row, must_exist, must_lie_in
from .columns import Int16s, Int32s, offsets_of
from .errors import FileError
from .hazards import KINDS, Hazards, Outcome
from .stages import StageKind, Why
from .timeline import Status, Timeline
from .trace import Trace

MAX_PS = 1 << 62
ROWS_AT_A_TIME = 1 << 18


def check_timeline(timeline: Timeline) -> None:
    """FileError at the first id or time that cannot be. The embedded trace is not checked again."""
    commands = _commands_of(timeline.trace)
    _check_engines(timeline)
    _check_stages(timeline, commands)
    _check_times(timeline)
    _check_hazards(timeline.hazards, commands)
    _check_deadlock(timeline, commands)


@dataclass(frozen=True)
class Commands:
    """What a trace has: per PE its commands, handles and first row in `op_counts`; per command (of
    distinct streams) its ops.
    """

    command_counts: Int32s
    handle_counts: Int32s
    first_rows: Int32s
    op_counts: Int16s


def _commands_of(trace: Trace) -> Commands:
    ops_of_forms = np.array([len(form.ops) for form in trace.forms], dtype=np.int16)
    forms = [stream.forms for stream in trace.streams]
    counts = np.array([stream.command_count for stream in trace.streams], dtype=np.int32)
    handles = np.array([stream.handle_count for stream in trace.streams], dtype=np.int32)
    streams = np.array([pe.stream for pe in trace.pes], dtype=np.int32)
    return Commands(
        command_counts=counts[streams],
        handle_counts=handles[streams],
        first_rows=offsets_of(counts).astype(np.int32)[streams],
        op_counts=ops_of_forms[np.concatenate([np.zeros(0, np.int32), *forms])],
    )


def _check_engines(timeline: Timeline) -> None:
    ranks = np.array([engine.rank for engine in timeline.engines], dtype=np.int64)
    last = timeline.topology.pe_count - 1
    must_lie_in(ranks, -1, last, "its rank", lambda row: f"engines[{row}]", "-1 where it is shared")


def _check_stages(timeline: Timeline, commands: Commands) -> None:
    stages, last_stage = timeline.stages, len(timeline.stages) - 1
    must_lie_in(stages.kind, min(StageKind), max(StageKind), "its kind", _stage)
    must_exist(stages.engine, len(timeline.engines), "its engine", _stage)
    must_exist(stages.pe, len(timeline.trace.pes), "its PE entry", _stage)
    _check_ops(stages.pe, stages.command, stages.op, commands, _stage)
    must_lie_in(stages.tile, -1, np.iinfo(np.int32).max, "its tile", _stage)
    must_exist(stages.duration_class, len(timeline.duration_classes), "its duration class", _stage)
    must_lie_in(timeline.cause, -1, last_stage, "its cause", _stage, "-1 where it has none")
    must_lie_in(timeline.why, min(Why), max(Why), "its why", _stage)


def _check_ops(
    pes: Int32s, ids: Int32s, ops: Int16s | Int32s, commands: Commands, place: Place
) -> None:
    """Every command is one of its PE's, and every op one of its command's, or -1."""
    for rows in _chunks(len(ids)):

        def row_place(row: int, rows: slice = rows) -> str:
            return place(rows.start + row)

        available = commands.command_counts[pes[rows]]
        row = first_row((ids[rows] < 0) | (ids[rows] >= available))
        if row is not None:
            raise FileError(
                f"{row_place(row)}: command {int(ids[rows][row])} must be one of its PE's"
                f" {int(available[row])}"
            )
        available = commands.op_counts[commands.first_rows[pes[rows]] + ids[rows]]
        row = first_row((ops[rows] < -1) | (ops[rows] >= available))
        if row is not None:
            raise FileError(
                f"{row_place(row)}: op {int(ops[rows][row])} must be one of its command's"
                f" {int(available[row])}, or -1"
            )


def _check_times(timeline: Timeline) -> None:
    for rows in _chunks(len(timeline.stages)):
        ready, start = timeline.ready_ps[rows], timeline.start_ps[rows]
        end = timeline.end_ps[rows]
        row = first_row((ready < 0) | (start < ready) | (end < start) | (end > MAX_PS))
        if row is not None:
            found = f"{int(ready[row])}, {int(start[row])}, {int(end[row])}"
            raise FileError(
                f"{_stage(rows.start + row)}: ready, start and end must ascend from 0 to 2^62 ps,"
                f" not be {found}"
            )


def _check_hazards(hazards: Hazards, commands: Commands) -> None:
    must_lie_in(hazards.outcome, min(Outcome), max(Outcome), "its outcome", _hazard)
    must_exist(hazards.kind, len(KINDS), "its kind", _hazard)
    must_exist(hazards.pe, len(commands.command_counts), "its PE entry", _hazard)
    sides = (
        (hazards.earlier, hazards.earlier_op, hazards.earlier_handle),
        (hazards.later, hazards.later_op, hazards.later_handle),
    )
    for ids, ops, handles in sides:
        _check_ops(hazards.pe, ids, ops, commands, _hazard)
        available = commands.handle_counts[hazards.pe]
        row = first_row((handles < -1) | (handles >= available))
        if row is not None:
            raise FileError(
                f"{_hazard(row)}: handle {int(handles[row])} must be one of its PE's"
                f" {int(available[row])}, or -1"
            )
    row = first_row((hazards.byte_from < 0) | (hazards.byte_to < hazards.byte_from))
    if row is not None:
        raise FileError(
            f"{_hazard(row)}: its bytes must run upwards from 0, not from"
            f" {int(hazards.byte_from[row])} to {int(hazards.byte_to[row])}"
        )
    must_lie_in(hazards.cost_ps, 0, MAX_PS, "its cost in ps", _hazard)


def _check_deadlock(timeline: Timeline, commands: Commands) -> None:
    if (timeline.status is Status.DEADLOCK) != (timeline.deadlock is not None):
        expected, given = ("ok", "without") if timeline.deadlock is None else ("deadlock", "with")
        raise FileError(
            f"the status must be '{expected}' {given} a deadlock, not '{timeline.status}'"
        )
    if timeline.deadlock is None:
        return
    ranks = (pe.rank for pe in timeline.trace.pes)
    available = dict(zip(ranks, commands.command_counts.tolist(), strict=True))
    for blocked in (*timeline.deadlock.cycle, *timeline.deadlock.tail):
        for rank, command in (
            (blocked.rank, blocked.command),
            (blocked.for_rank, blocked.for_command),
        ):
            if not 0 <= command < available.get(rank, 0):
                raise FileError(
                    f"the deadlock must name commands of the trace, not PE {rank}, command {command}"
                )


def _chunks(count: int) -> Iterator[slice]:
    """Rows a few at a time: temporary columns stay small beside the timeline's own."""
    for first in range(0, count, ROWS_AT_A_TIME):
        yield slice(first, min(first + ROWS_AT_A_TIME, count))


def _stage(row: int) -> str:
    return f"stage {row}"


def _hazard(row: int) -> str:
    return f"hazard {row}"
