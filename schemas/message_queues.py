"""The messages of a trace, queue end by queue end, each in program order.

Message i of a queue is the i-th send and the i-th recv or recv_async on it, in program order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from .columns import Int32s, Int64s, offsets_of
from .commands import CommandForm, CommandKind
from .named_geometries import NamedGeometries
from .trace import Trace
from .trace_columns import TraceColumns

MESSAGE_KINDS = (CommandKind.SEND, CommandKind.RECV, CommandKind.RECV_ASYNC)
NO_END = -1

QueueEnd: TypeAlias = tuple[bool, str]
"""(whether it is the sending side, the direction as this side names it)."""


@dataclass(frozen=True)
class Messages:
    """One side of one queue, in program order: the commands (counted in the PE) and their sizes."""

    commands: Int64s
    sizes_bytes: Int64s

    def __len__(self) -> int:
        return len(self.commands)


@dataclass(frozen=True)
class Queues:
    """The messages of all streams. `ends` are the queue ends in use, in the order of their first use.

    `places` says of a stream and an end where the stream's messages there begin and end in the other
    columns. `contents` is [stream, end]: a number of these messages' sizes, equal where they are; 0
    for none. A column of zeros follows, for an end that no stream uses.
    """

    commands: Int64s
    sizes_bytes: Int64s
    ends: list[QueueEnd]
    places: dict[tuple[int, QueueEnd], tuple[int, int]]
    contents: Int64s

    def messages(self, stream: int, end: QueueEnd) -> Messages:
        """What a stream sends or receives there, perhaps nothing."""
        first, past = self.places.get((stream, end), (0, 0))
        return Messages(self.commands[first:past], self.sizes_bytes[first:past])


def queues_of(columns: TraceColumns, named: NamedGeometries, tables: Trace) -> Queues | None:
    """The messages of each queue end that each stream uses; None where there are no messages."""
    numbers, ends = _queue_ends(tables.forms)
    if not ends:
        return None
    used_by_all = numbers.take(columns.forms)
    commands = np.flatnonzero(used_by_all != NO_END)
    if not len(commands):
        return None
    first_commands = offsets_of(columns.command_counts)
    of_streams = np.diff(commands.searchsorted(first_commands))
    streams = np.arange(len(of_streams)).repeat(of_streams)
    keys = streams * len(ends) + used_by_all.take(commands)
    order = keys.argsort(kind="stable")
    keys = keys.take(order)
    sizes = np.array([each.size_bytes for each in tables.geometries], np.int64)
    sizes_bytes = sizes.take(named.of(commands, 0).take(order))  # a message names one handle
    begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    used = [(key // len(ends), ends[key % len(ends)]) for key in keys.take(begins).tolist()]
    places = dict(zip(used, pairwise([*begins.tolist(), len(keys)]), strict=True))
    in_use = list(dict.fromkeys(end for _, end in used))
    return Queues(
        commands=(commands - first_commands.take(streams)).take(order),
        sizes_bytes=sizes_bytes,
        ends=in_use,
        places=places,
        contents=_contents(sizes_bytes, in_use, places, len(columns.command_counts)),
    )


def _queue_ends(forms: Sequence[CommandForm]) -> tuple[Int32s, list[QueueEnd]]:
    """Per form, the number of its queue end, or NO_END; and the ends by number."""
    numbers: dict[QueueEnd, int] = {}
    of_forms = [
        numbers.setdefault((form.kind is CommandKind.SEND, form.direction), len(numbers))
        if form.kind in MESSAGE_KINDS
        else NO_END
        for form in forms
    ]
    return np.array(of_forms, dtype=np.int32), list(numbers)


def _contents(
    sizes_bytes: Int64s,
    ends: list[QueueEnd],
    places: dict[tuple[int, QueueEnd], tuple[int, int]],
    streams: int,
) -> Int64s:
    numbers = {end: number for number, end in enumerate(ends)}
    contents = np.zeros((streams, len(ends) + 1), dtype=np.int64)
    known: dict[bytes, int] = {}
    for (stream, end), (first, past) in places.items():
        sizes = sizes_bytes[first:past].tobytes()
        contents[stream, numbers[end]] = known.setdefault(sizes, len(known) + 1)
    return contents
