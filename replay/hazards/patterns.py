"""Groups hazards that are the same to a kernel's author: the same two lines, ops and handles.

Pure: knows no terminal. The columns decide, so that a million pairs group as fast as they load.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Int64s
from ...schemas.commands import CommandKind
from ...schemas.handles import Space
from ...schemas.hazard_policy import HazardKind
from ...schemas.hazards import KINDS, Hazards
from ...schemas.trace import SourceLine, Stream, Trace


@dataclass(frozen=True, slots=True)
class Party:
    """One side of a hazard. `op` is −1 and `op_kind` empty where the whole command is meant."""

    command: int
    kind: CommandKind
    op: int
    op_kind: str
    handle: str
    line: SourceLine


@dataclass(frozen=True, slots=True)
class Pair:
    """One row of a hazard table with its names; `space` is None where no handle is named.

    The bytes are TCM addresses, or offsets in the HBM tensor.
    """

    kind: HazardKind
    rank: int
    earlier: Party
    later: Party
    space: Space | None
    byte_from: int
    byte_to: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """Pairs alike in kind, kernel lines, ops and handle names: how many, on how many PEs, the first."""

    first: Pair
    count: int
    pes: int


def pair(trace: Trace, hazards: Hazards, row: int) -> Pair:
    """A row of the table with its names."""
    entry = trace.pes[hazards.pe[row]]
    stream = trace.streams[entry.stream]
    later_handle = int(hazards.later_handle[row])
    return Pair(
        kind=KINDS[hazards.kind[row]],
        rank=entry.rank,
        earlier=_party(
            trace,
            stream,
            int(hazards.earlier[row]),
            int(hazards.earlier_op[row]),
            int(hazards.earlier_handle[row]),
        ),
        later=_party(
            trace, stream, int(hazards.later[row]), int(hazards.later_op[row]), later_handle
        ),
        space=None if later_handle < 0 else _space(trace, stream, later_handle),
        byte_from=int(hazards.byte_from[row]),
        byte_to=int(hazards.byte_to[row]),
    )


def patterns(trace: Trace, hazards: Hazards) -> list[Pattern]:
    """The groups of a hazard table's rows, in the order of their first rows."""
    if not len(hazards):
        return []
    _, first_rows, groups, counts = np.unique(
        _likeness(trace, hazards),
        axis=0,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    on_pes = _distinct_pes(groups.reshape(-1), hazards.pe, len(trace.pes))
    return [
        Pattern(
            pair(trace, hazards, int(first_rows[group])), int(counts[group]), int(on_pes[group])
        )
        for group in np.argsort(first_rows)
    ]


def _party(trace: Trace, stream: Stream, command: int, op: int, handle: int) -> Party:
    form = trace.forms[stream.forms[command]]
    return Party(
        command=command,
        kind=form.kind,
        op=op,
        op_kind="" if op < 0 else form.ops[op].kind,
        handle="" if handle < 0 else trace.strings[stream.labels[handle]],
        line=trace.lines[stream.lines[command]],
    )


def _space(trace: Trace, stream: Stream, handle: int) -> Space:
    return trace.geometries[int(stream.geometries[handle])].space


def _likeness(trace: Trace, hazards: Hazards) -> Int64s:
    """Per row, what makes it like another: int64 [rows, 7]."""
    alike = np.empty((len(hazards), 7), dtype=np.int64)
    stream_of = np.array([entry.stream for entry in trace.pes])[hazards.pe]
    alike[:, 0] = hazards.kind
    alike[:, 1], alike[:, 2] = hazards.earlier_op, hazards.later_op
    for number in np.unique(stream_of):
        rows = np.flatnonzero(stream_of == number)
        stream = trace.streams[number]
        alike[rows, 3] = stream.lines[hazards.earlier[rows]]
        alike[rows, 4] = stream.lines[hazards.later[rows]]
        alike[rows, 5] = _labels(stream, hazards.earlier_handle[rows])
        alike[rows, 6] = _labels(stream, hazards.later_handle[rows])
    return alike


def _labels(stream: Stream, handles: npt.NDArray[np.int32]) -> Int64s:
    if not stream.handle_count:
        return np.full(len(handles), -1, dtype=np.int64)
    return np.where(handles < 0, -1, stream.labels[handles]).astype(np.int64)


def _distinct_pes(groups: npt.NDArray[np.intp], pes: npt.NDArray[np.int32], count: int) -> Int64s:
    """Per group, on how many PEs its rows are."""
    distinct = np.unique(groups * count + pes) // count
    return np.bincount(distinct).astype(np.int64)
