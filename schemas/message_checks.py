"""Whether every message of a trace has two ends: what a PE sends, its peer receives, in that order.

A send to direction D arrives in the queue that the peer knows as D's opposite. The two ends' messages
are matched in program order; their sizes must agree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .column_checks import first_row
from .columns import Int32s, Int64s, Integers
from .errors import FileError
from .message_queues import Messages, QueueEnd, Queues, queues_of
from .named_geometries import NamedGeometries
from .topology import Level, Topology
from .trace import Trace
from .trace_columns import TraceColumns

NOT_LAUNCHED = -1


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
    columns: TraceColumns, named: NamedGeometries, tables: Trace, topology: Topology
) -> None:
    """FileError at the first message that nobody sends, or nobody receives, or that changes size.

    The columns must have passed the other checks; directions are those of the topology.
    """
    queues = queues_of(columns, named, tables)
    if queues is not None and not _surely_match(columns, queues, topology):
        _must_match(columns, queues, topology)


def _surely_match(columns: TraceColumns, queues: Queues, topology: Topology) -> bool:
    """Whether all that is sent is received, and as many ends receive as send: then none receives what
    nobody sends, as no two queues lead to one end."""
    sends = [number for number, (is_sending, _) in enumerate(queues.ends) if is_sending]
    users = np.bincount(columns.pe_streams) @ (queues.contents != 0)
    if 2 * int(users[sends].sum()) != int(users.sum()):
        return False
    numbers = {end: number for number, end in enumerate(queues.ends)}
    theirs = [numbers.get(_opposite(end, topology), len(numbers)) for end in queues.ends]
    uses = _uses(columns, queues, sends, topology)
    sent = queues.contents[uses.streams, uses.ends]
    received = queues.contents[uses.peer_streams, np.array(theirs).take(uses.ends)]
    return bool(((sent == received) & (uses.peer_streams != NOT_LAUNCHED)).all())


def _must_match(columns: TraceColumns, queues: Queues, topology: Topology) -> None:
    """FileError at the first end whose messages lead nowhere, have no other end, or change size. PEs
    that run one stream and whose peers run one stream are looked at once."""
    ends = queues.ends
    uses = _uses(columns, queues, range(len(ends)), topology)
    astray = first_row(uses.peer_streams == NOT_LAUNCHED)
    past = len(uses.ends) if astray is None else int(np.searchsorted(uses.ends, uses.ends[astray]))
    for number, rank, stream, peer, peer_stream in uses.pairs(past, len(queues.contents)):
        own = queues.messages(stream, ends[number])
        other = queues.messages(peer_stream, _opposite(ends[number], topology))
        _must_be_matched(rank, ends[number], own, peer, other)
        if ends[number][0]:
            _must_agree_in_size(rank, own, peer, other)
    if astray is not None:
        raise _leads_nowhere(uses, astray, queues)


def _opposite(end: QueueEnd, topology: Topology) -> QueueEnd:
    """A queue's other end, as the PE there names it."""
    sends, direction = end
    return not sends, topology.directions[direction].opposite


def _uses(
    columns: TraceColumns, queues: Queues, numbers: Sequence[int], topology: Topology
) -> EndsInUse:
    """The uses of the ends of these numbers."""
    used = (queues.contents != 0).T.take(numbers, axis=0)
    chosen, entries = np.nonzero(used.take(columns.pe_streams, axis=1))
    ends = np.array(numbers, dtype=np.int64).take(chosen)
    ranks, streams = columns.ranks.take(entries), columns.pe_streams.take(entries)
    peers = _peers(topology, ranks, [queues.ends[number][1] for number in numbers], chosen)
    stream_of = np.full(topology.pe_count + 1, NOT_LAUNCHED, dtype=np.int64)
    stream_of[columns.ranks] = columns.pe_streams  # what follows the last rank is there for peer −1
    return EndsInUse(ends, ranks, streams, peers, stream_of.take(peers))


def _peers(
    topology: Topology, ranks: Integers, directions: Sequence[str], numbers: Int64s
) -> Int32s:
    """As `topology.peer` of each rank in the direction of that number; −1 where the machine ends."""
    levels = {level: (topology.ranks_apart(level), topology.grid(level)) for level in Level}
    ways = []
    for direction in directions:
        wire = topology.directions[direction]
        apart, grid = levels[wire.level]
        ways.append((apart, grid.size, grid.columns, grid.rows, *wire.step))
    apart, size, columns, rows, right, down = np.array(ways, dtype=np.int32).T.take(numbers, axis=1)
    row, column = np.divmod(ranks // apart % size, columns)
    row += down
    column += right
    inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
    peers: Int32s = np.where(inside, ranks + (right + down * columns) * apart, -1)
    return peers


def _leads_nowhere(uses: EndsInUse, row: int, queues: Queues) -> FileError:
    end, peer = queues.ends[uses.ends[row]], int(uses.peers[row])
    command = int(queues.messages(int(uses.streams[row]), end).commands[0])
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
