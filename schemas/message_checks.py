"""Whether every message of a trace has two ends: what a PE sends, its peer receives, in that order.

A send to direction D arrives in the queue that the peer knows as D's opposite. Message i of a queue
is the i-th send and the i-th recv or recv_async on it, in program order; their sizes must agree.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from .columns import Int64s, offsets_of
from .commands import CommandKind
from .errors import FileError
from .grouping import rows_by_group
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


NO_MESSAGES = Messages(np.zeros(0, np.int64), np.zeros(0, np.int64))

QueueEnd: TypeAlias = tuple[bool, str]
"""(whether it is the sending side, the direction as this side names it)."""


def check_messages(columns: TraceColumns, tables: Trace, topology: Topology) -> None:
    """FileError at the first message that nobody sends, or nobody receives, or that changes size.

    The columns must have passed the other checks; directions are those of the topology.
    """
    queues = _queues_by_stream(columns, tables)
    streams = dict(zip(columns.ranks.tolist(), columns.pe_streams.tolist(), strict=True))
    for rank, stream in streams.items():
        for (sends, direction), own in queues[stream].items():
            peer = topology.peer(rank, direction)
            if peer is None or peer not in streams:
                found = "where no PE is" if peer is None else f"to PE {peer}, which is not launched"
                raise FileError(
                    f"PE {rank}, command {int(own.commands[0])}: direction {direction} must lead to"
                    f" a PE of the launch, not {found}"
                )
            other_end = (not sends, topology.directions[direction].opposite)
            other = queues[streams[peer]].get(other_end, NO_MESSAGES)
            _must_be_matched(rank, (sends, direction), own, peer, other)
            if sends:
                _must_agree_in_size(rank, own, peer, other)


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


def _queues_by_stream(columns: TraceColumns, tables: Trace) -> list[dict[QueueEnd, Messages]]:
    """Per stream, the messages of each queue end that it uses, sends and receives in any order."""
    commands = np.flatnonzero(np.isin(tables.form_kinds, MESSAGE_KINDS)[columns.forms])
    first_commands = offsets_of(columns.command_counts)
    streams = np.searchsorted(first_commands, commands, side="right") - 1
    sizes = _message_sizes(columns, tables, commands, streams)
    end_numbers, ends = _queue_ends(tables)
    keys = streams * len(ends) + end_numbers[columns.forms[commands]]
    queues: list[dict[QueueEnd, Messages]] = [{} for _ in columns.command_counts]
    for key, rows in rows_by_group(keys):
        stream, end = divmod(key, len(ends))
        own = commands[rows] - first_commands[stream]
        queues[stream][ends[end]] = Messages(own, sizes[rows])
    return queues


def _queue_ends(tables: Trace) -> tuple[Int64s, list[QueueEnd]]:
    """Per form, the number of its queue end (meaningless for other kinds); and the ends by number."""
    of_forms = [(form.kind is CommandKind.SEND, form.direction) for form in tables.forms]
    numbers = {end: number for number, end in enumerate(dict.fromkeys(of_forms))}
    return np.array([numbers[end] for end in of_forms], dtype=np.int64), list(numbers)


def _message_sizes(
    columns: TraceColumns, tables: Trace, commands: Int64s, streams: Int64s
) -> Int64s:
    """The bytes of each message: those of the one handle that its command names."""
    sizes = np.array([geometry.size_bytes for geometry in tables.geometries], dtype=np.int64)
    slots = offsets_of(tables.form_slot_counts[columns.forms])[commands]
    handles = offsets_of(columns.handle_counts)[streams] + columns.slots[slots]
    of_messages: Int64s = sizes[columns.geometries[handles]]
    return of_messages
