"""Whether every message of a trace has two ends: what a PE sends, its peer receives, in that order.

A send to direction D arrives in the queue that the peer knows as D's opposite. Message i of a queue
is the i-th send and the i-th recv or recv_async on it, in program order; their sizes must agree.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from .column_checks import first_row
from .columns import Int32s, Int64s, offsets_of
from .commands import CommandKind
from .errors import FileError
from .form_rows import FormRows
from .grouping import rows_by_group
from .named_geometries import NamedGeometries
from .topology import Topology
from .trace import Trace
from .trace_columns import TraceColumns

MESSAGE_KINDS = (CommandKind.SEND, CommandKind.RECV, CommandKind.RECV_ASYNC)


@dataclass(frozen=True)
class Messages:
    """One side of one queue, in program order: the commands (counted in the PE) and their sizes."""

    commands: Int64s
    sizes_bytes: Int64s

    def __len__(self) -> int:
        return len(self.commands)


NOT_LAUNCHED = -1
NO_MESSAGES = Messages(np.zeros(0, np.int64), np.zeros(0, np.int64))

QueueEnd: TypeAlias = tuple[bool, str]
"""(whether it is the sending side, the direction as this side names it)."""


def check_messages(
    columns: TraceColumns,
    rows: FormRows,
    named: NamedGeometries,
    tables: Trace,
    topology: Topology,
) -> None:
    """FileError at the first message that nobody sends, or nobody receives, or that changes size.

    The columns must have passed the other checks; directions are those of the topology. PEs that run
    one stream and whose peers run one stream are looked at once.
    """
    queues = _queues_by_stream(columns, rows, named, tables)
    stream_of = np.full(topology.pe_count, NOT_LAUNCHED, dtype=np.int32)
    stream_of[columns.ranks] = columns.pe_streams
    for end in dict.fromkeys(end for ends in queues for end in ends):
        uses_it = np.array([end in ends for ends in queues], dtype=np.bool_)
        ranks = columns.ranks[uses_it[columns.pe_streams]]
        _check_end(end, ranks, queues, stream_of, topology)


def _check_end(
    end: QueueEnd,
    ranks: Int32s,
    queues: list[dict[QueueEnd, Messages]],
    stream_of: Int32s,
    topology: Topology,
) -> None:
    """One end of a queue, on all PEs that use it."""
    sends, direction = end
    peers = _peers(topology, ranks, direction)
    row = first_row((peers < 0) | (stream_of[peers] == NOT_LAUNCHED))
    if row is not None:
        own = queues[stream_of[ranks[row]]][end]
        raise _leads_nowhere(int(ranks[row]), int(own.commands[0]), direction, int(peers[row]))
    other_end = (not sends, topology.directions[direction].opposite)
    pairs = stream_of[ranks].astype(np.int64) * len(queues) + stream_of[peers]
    for row in np.sort(np.unique(pairs, return_index=True)[1]).tolist():
        rank, peer = int(ranks[row]), int(peers[row])
        own = queues[stream_of[rank]][end]
        other = queues[stream_of[peer]].get(other_end, NO_MESSAGES)
        _must_be_matched(rank, end, own, peer, other)
        if sends:
            _must_agree_in_size(rank, own, peer, other)


def _leads_nowhere(rank: int, command: int, direction: str, peer: int) -> FileError:
    found = "where no PE is" if peer < 0 else f"to PE {peer}, which is not launched"
    return FileError(
        f"PE {rank}, command {command}: direction {direction} must lead to a PE of the launch,"
        f" not {found}"
    )


def _peers(topology: Topology, ranks: Int32s, direction: str) -> Int32s:
    """As `topology.peer` of each rank; −1 where the machine ends."""
    wire = topology.directions[direction]
    grid, apart = topology.grid(wire.level), topology.ranks_apart(wire.level)
    neighbours = [grid.neighbour(index, wire.step) for index in range(grid.size)]
    steps = np.array(
        [0 if there is None else there - index for index, there in enumerate(neighbours)], np.int32
    )
    index = ranks // apart % grid.size
    peers: Int32s = np.where(steps[index] == 0, np.int32(-1), ranks + steps[index] * apart)
    return peers


def _must_be_matched(rank: int, end: QueueEnd, own: Messages, peer: int, other: Messages) -> None:
    if len(own) <= len(other):
        return
    sends, direction = end
    own_verb, other_verb = ("sends to", "receives") if sends else ("receives from", "sends")
    raise FileError(
        f"PE {rank}, command {int(own.commands[len(other)])}: {own_verb} {direction} for the"
        f" {_ordinal(len(other) + 1)} time, and PE {peer} {other_verb} there {_times(len(other))}"
    )


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def _times(number: int) -> str:
    return "never" if number == 0 else "once" if number == 1 else f"{number} times"


def _must_agree_in_size(rank: int, sent: Messages, peer: int, received: Messages) -> None:
    differing = np.flatnonzero(sent.sizes_bytes != received.sizes_bytes[: len(sent)])
    if len(differing):
        message = int(differing[0])
        raise FileError(
            f"PE {rank}, command {int(sent.commands[message])}: must send the"
            f" {int(received.sizes_bytes[message])} bytes that PE {peer}, command"
            f" {int(received.commands[message])}, receives, not {int(sent.sizes_bytes[message])}"
        )


def _queues_by_stream(
    columns: TraceColumns, rows: FormRows, named: NamedGeometries, tables: Trace
) -> list[dict[QueueEnd, Messages]]:
    """Per stream, the messages of each queue end that it uses, sends and receives in any order."""
    commands = np.flatnonzero(np.isin(tables.form_kinds, MESSAGE_KINDS)[columns.forms])
    first_commands = offsets_of(columns.command_counts)
    streams = np.searchsorted(first_commands, commands, side="right") - 1
    geometry_bytes = np.array([each.size_bytes for each in tables.geometries], dtype=np.int64)
    sizes = geometry_bytes[
        named.of(rows.first_slots[commands], 0)
    ]  # of the one handle that a message names
    end_numbers, ends = _queue_ends(tables)
    keys = streams * len(ends) + end_numbers[columns.forms[commands]]
    queues: list[dict[QueueEnd, Messages]] = [{} for _ in columns.command_counts]
    for key, members in rows_by_group(keys):
        stream, end = divmod(key, len(ends))
        own = commands[members] - first_commands[stream]
        queues[stream][ends[end]] = Messages(own, sizes[members])
    return queues


def _queue_ends(tables: Trace) -> tuple[Int64s, list[QueueEnd]]:
    """Per form, the number of its queue end (meaningless for other kinds); and the ends by number."""
    of_forms = [(form.kind is CommandKind.SEND, form.direction) for form in tables.forms]
    numbers = {end: number for number, end in enumerate(dict.fromkeys(of_forms))}
    return np.array([numbers[end] for end in of_forms], dtype=np.int64), list(numbers)
