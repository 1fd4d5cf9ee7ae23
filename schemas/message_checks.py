"""Whether every message of a trace has two ends: what a PE sends, its peer receives, in that order.

A send to direction D arrives in the queue that the peer knows as D's opposite. Message i of a queue
is the i-th send and the i-th recv or recv_async on it, in program order; their sizes must agree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from .column_checks import first_row
from .columns import Int64s, Integers, offsets_of
from .commands import CommandKind
from .errors import FileError
from .named_geometries import NamedGeometries
from .topology import Level, Topology
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


@dataclass(frozen=True)
class EndsInUse:
    """A row for every end of a queue and every PE that uses it: end after end, each in rank order.

    `ends` numbers the rows' ends; `peers` are ranks, −1 where the machine ends; `peer_streams` are
    NOT_LAUNCHED where no PE of the launch is.
    """

    ends: Int64s
    ranks: Integers
    streams: Integers
    peers: Integers
    peer_streams: Int64s

    def pairs(self, past: int, streams: int) -> Iterator[tuple[int, int, int, int, int]]:
        """Of the rows before `past`, the first of each end, stream and peer's stream, in order."""
        keys = (self.ends * streams + self.streams) * streams + self.peer_streams
        rows = np.sort(np.unique(keys[:past], return_index=True)[1])
        columns = (self.ends, self.ranks, self.streams, self.peers, self.peer_streams)
        return zip(*(column[rows].tolist() for column in columns), strict=True)


def check_messages(
    columns: TraceColumns, named: Sequence[NamedGeometries], tables: Trace, topology: Topology
) -> None:
    """FileError at the first message that nobody sends, or nobody receives, or that changes size.

    The columns must have passed the other checks; directions are those of the topology. Where not
    all match, PEs that run one stream and whose peers run one stream are looked at once.
    """
    queues = _queues_by_stream(columns, named, tables)
    ends = list(dict.fromkeys(end for used in queues for end in used))
    if not ends:
        return
    theirs = [(not sends, topology.directions[way].opposite) for sends, way in ends]
    contents = _contents(queues, ends)
    uses = _uses(columns, contents, [way for _, way in ends], topology)
    their_numbers = np.array([ends.index(end) if end in ends else len(ends) for end in theirs])
    sent_and_received = contents[uses.streams, uses.ends]
    there = contents[uses.peer_streams, their_numbers[uses.ends]]
    astray = first_row(uses.peer_streams == NOT_LAUNCHED)
    if astray is None and np.array_equal(sent_and_received, there):
        return
    past = len(uses.ends) if astray is None else int(np.searchsorted(uses.ends, uses.ends[astray]))
    for number, rank, stream, peer, peer_stream in uses.pairs(past, len(queues)):
        own, other = (
            queues[stream][ends[number]],
            queues[peer_stream].get(theirs[number], NO_MESSAGES),
        )
        _must_be_matched(rank, ends[number], own, peer, other)
        if ends[number][0]:
            _must_agree_in_size(rank, own, peer, other)
    if astray is not None:
        raise _leads_nowhere(uses, astray, ends, queues)


def _contents(queues: list[dict[QueueEnd, Messages]], ends: list[QueueEnd]) -> Int64s:
    """Per stream and end, a number of its messages' sizes, equal where they are: 0 for none. A column
    of zeros follows, for ends that no stream uses."""
    numbers = {end: number for number, end in enumerate(ends)}
    contents = np.zeros((len(queues), len(ends) + 1), dtype=np.int64)
    known: dict[bytes, int] = {}
    for stream, used in enumerate(queues):
        for end, messages in used.items():
            sizes = messages.sizes_bytes.tobytes()
            contents[stream, numbers[end]] = known.setdefault(sizes, len(known) + 1)
    return contents


def _uses(
    columns: TraceColumns, contents: Int64s, directions: Sequence[str], topology: Topology
) -> EndsInUse:
    numbers, entries = np.nonzero((contents.T != 0)[:-1, columns.pe_streams])
    ranks = columns.ranks[entries]
    peers = _peers(topology, ranks, directions, numbers)
    stream_of = np.full(topology.pe_count + 1, NOT_LAUNCHED, dtype=np.int64)
    stream_of[columns.ranks] = columns.pe_streams  # what follows the last rank is there for peer −1
    return EndsInUse(numbers, ranks, columns.pe_streams[entries], peers, stream_of[peers])


def _peers(
    topology: Topology, ranks: Integers, directions: Sequence[str], numbers: Int64s
) -> Int64s:
    """As `topology.peer` of each rank in the direction of that number; −1 where the machine ends."""
    levels = {level: (topology.ranks_apart(level), topology.grid(level)) for level in Level}
    ways = []
    for direction in directions:
        wire = topology.directions[direction]
        apart, grid = levels[wire.level]
        ways.append((apart, grid.size, grid.columns, grid.rows, *wire.step))
    apart, size, columns, rows, right, down = np.array(ways, dtype=np.int64).T[:, numbers]
    row, column = np.divmod(ranks // apart % size, columns)
    row += down
    column += right
    inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
    peers: Int64s = np.where(inside, ranks + (right + down * columns) * apart, -1)
    return peers


def _leads_nowhere(
    uses: EndsInUse, row: int, ends: list[QueueEnd], queues: list[dict[QueueEnd, Messages]]
) -> FileError:
    end, peer = ends[uses.ends[row]], int(uses.peers[row])
    command = int(queues[uses.streams[row]][end].commands[0])
    found = "where no PE is" if peer < 0 else f"to PE {peer}, which is not launched"
    return FileError(
        f"PE {int(uses.ranks[row])}, command {command}: direction {end[1]} must lead to a PE of the"
        f" launch, not {found}"
    )


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
    columns: TraceColumns, named: Sequence[NamedGeometries], tables: Trace
) -> list[dict[QueueEnd, Messages]]:
    """Per stream, the messages of each queue end that it uses, sends and receives in any order."""
    queues: list[dict[QueueEnd, Messages]] = [{} for _ in columns.command_counts]
    messages = [each for each in named if tables.forms[each.group.form].kind in MESSAGE_KINDS]
    if not messages:
        return queues
    commands = np.concatenate([each.group.commands for each in messages])
    looks = np.concatenate([each.ids[0] for each in messages])  # a message names one handle
    end_numbers, ends = _queue_ends(tables)
    first_commands = offsets_of(columns.command_counts)
    streams = np.searchsorted(first_commands, commands, side="right") - 1
    keys = streams * len(ends) + end_numbers[columns.forms[commands]]
    order = np.lexsort((commands, keys))
    own = (commands - first_commands[streams])[order]
    sizes = np.array([each.size_bytes for each in tables.geometries], np.int64)[looks[order]]
    sorted_keys = keys[order]
    firsts = np.flatnonzero(np.diff(sorted_keys, prepend=-1))
    for key, (first, past) in zip(
        sorted_keys[firsts].tolist(), pairwise([*firsts.tolist(), len(own)]), strict=True
    ):
        stream, end = divmod(key, len(ends))
        queues[stream][ends[end]] = Messages(own[first:past], sizes[first:past])
    return queues


def _queue_ends(tables: Trace) -> tuple[Int64s, list[QueueEnd]]:
    """Per form, the number of its queue end (meaningless for other kinds); and the ends by number."""
    of_forms = [(form.kind is CommandKind.SEND, form.direction) for form in tables.forms]
    numbers = {end: number for number, end in enumerate(dict.fromkeys(of_forms))}
    return np.array([numbers[end] for end in of_forms], dtype=np.int64), list(numbers)
