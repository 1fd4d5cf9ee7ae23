"""All streams and PEs of a trace as one set of columns, as the trace file stores and checks them.

Streams stand one after another: `command_counts[s]` commands, `handle_counts[s]` handles of stream
s. So a file has as many columns for 512 PEs as for one, reading it takes no loop over streams, and
streams that are nearly alike compress against each other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from .columns import Int32s, Int64s, offsets_of
from .form_rows import FormRows
from .grouping import differenced, undifferenced, undifferenced_singles
from .trace import PeEntry, Stream


@dataclass(frozen=True)
class TraceColumns:
    """Per stream: command_counts, handle_counts. Per command: forms, lines, wait_counts; flat over
    commands: slots, waits. Per handle: geometries, addresses, tensors, labels. Per PE: ranks,
    pe_streams, tensor_counts; flat over PEs: owners, bases. Meanings as in schemas.trace.
    """

    command_counts: Int32s
    handle_counts: Int32s
    forms: Int32s
    lines: Int32s
    wait_counts: Int32s
    slots: Int32s
    waits: Int32s
    geometries: Int32s
    addresses: Int64s
    tensors: Int32s
    labels: Int32s
    ranks: Int32s
    pe_streams: Int32s
    tensor_counts: Int32s
    owners: Int32s
    bases: Int64s


COLUMN_NAMES = tuple(column.name for column in fields(TraceColumns))
WIDE_COLUMNS = ("addresses", "bases")
"""Those of 64 bits; the others have 32."""


def joined(streams: Sequence[Stream], pes: Sequence[PeEntry]) -> TraceColumns:
    """The columns of these streams and PEs."""

    def flat(name: str) -> Int32s:
        columns = [getattr(stream, name) for stream in streams]
        return np.concatenate([np.zeros(0, np.int32), *columns], dtype=np.int32)

    return TraceColumns(
        command_counts=_numbers(stream.command_count for stream in streams),
        handle_counts=_numbers(stream.handle_count for stream in streams),
        forms=flat("forms"),
        lines=flat("lines"),
        wait_counts=flat("wait_counts"),
        slots=flat("slots"),
        waits=flat("waits"),
        geometries=flat("geometries"),
        addresses=np.concatenate([np.zeros(0, np.int64), *(s.addresses for s in streams)]),
        tensors=flat("tensors"),
        labels=flat("labels"),
        ranks=_numbers(pe.rank for pe in pes),
        pe_streams=_numbers(pe.stream for pe in pes),
        tensor_counts=_numbers(len(pe.owners) for pe in pes),
        owners=_numbers(owner for pe in pes for owner in pe.owners),
        bases=np.array([base for pe in pes for base in pe.bases], dtype=np.int64),
    )


def _numbers(values: Iterable[int]) -> Int32s:
    return np.array(list(values), dtype=np.int32)


def streams_of(columns: TraceColumns, rows: FormRows) -> tuple[Stream, ...]:
    """The streams. `rows` are those of the forms."""
    commands = offsets_of(columns.command_counts)
    handles = offsets_of(columns.handle_counts)
    slots = rows.first_slots[commands]
    waits = offsets_of(columns.wait_counts)[commands]
    return tuple(
        Stream(
            forms=columns.forms[commands[s] : commands[s + 1]],
            lines=columns.lines[commands[s] : commands[s + 1]],
            wait_counts=columns.wait_counts[commands[s] : commands[s + 1]],
            slots=columns.slots[slots[s] : slots[s + 1]],
            waits=columns.waits[waits[s] : waits[s + 1]],
            geometries=columns.geometries[handles[s] : handles[s + 1]],
            addresses=columns.addresses[handles[s] : handles[s + 1]],
            tensors=columns.tensors[handles[s] : handles[s + 1]],
            labels=columns.labels[handles[s] : handles[s + 1]],
        )
        for s in range(len(columns.command_counts))
    )


def pes_of(columns: TraceColumns) -> tuple[PeEntry, ...]:
    """The PE entries."""
    offsets = offsets_of(columns.tensor_counts).tolist()
    owners, bases = columns.owners.tolist(), columns.bases.tolist()
    rows = zip(columns.ranks.tolist(), columns.pe_streams.tolist(), strict=True)
    return tuple(
        PeEntry(
            rank,
            stream,
            tuple(owners[offsets[pe] : offsets[pe + 1]]),
            tuple(bases[offsets[pe] : offsets[pe + 1]]),
        )
        for pe, (rank, stream) in enumerate(rows)
    )


def stored(columns: TraceColumns, slot_counts: Int32s) -> TraceColumns:
    """The columns as a file has them: some of them differenced (schemas.grouping).

    slots: a row per command, by its form · addresses: by geometry · owners, bases: by tensor number
    · ranks: one group · waits: how many commands back. The others are as they are.
    """
    tensors = counted_up(columns.tensor_counts)
    return replace(
        columns,
        slots=differenced(columns.slots, columns.forms, slot_counts),
        waits=_waiting_commands(columns) - columns.waits,
        addresses=differenced(columns.addresses, columns.geometries, _ones(columns.geometries)),
        ranks=differenced(columns.ranks, np.zeros_like(columns.ranks), np.ones(1, np.int32)),
        owners=differenced(columns.owners, tensors, _ones(tensors)),
        bases=differenced(columns.bases, tensors, _ones(tensors)),
    )


def with_ranks(stored_columns: TraceColumns) -> TraceColumns:
    """Stored columns with their ranks as they are, so that errors can name PEs. Safe unchecked."""
    return replace(stored_columns, ranks=np.cumsum(stored_columns.ranks, dtype=np.int32))


def restored(stored_columns: TraceColumns, rows: FormRows) -> TraceColumns:
    """The inverse of `stored`, after `with_ranks`. `rows` are those of the forms.

    The columns' lengths and their form and geometry ids must have been checked.
    """
    columns = stored_columns
    tensors = counted_up(columns.tensor_counts)
    return replace(
        columns,
        slots=undifferenced(columns.slots, ((each.begins, each.width) for each in rows.groups)),
        waits=_waiting_commands(columns) - columns.waits,
        addresses=undifferenced_singles(columns.addresses, columns.geometries),
        owners=undifferenced_singles(columns.owners, tensors),
        bases=undifferenced_singles(columns.bases, tensors),
    )


def _ones(groups: Int32s) -> Int32s:
    """Rows of one entry each, for every group there is."""
    return np.ones(int(groups.max(initial=-1)) + 1, dtype=np.int32)


def _waiting_commands(columns: TraceColumns) -> Int32s:
    """Per entry of `waits`: the index of the command that waits."""
    return np.repeat(counted_up(columns.command_counts), columns.wait_counts)


def counted_up(counts: Int32s) -> Int32s:
    """0 … counts[0] − 1, 0 … counts[1] − 1, and so on."""
    offsets = offsets_of(counts).astype(np.int32)
    return np.arange(offsets[-1], dtype=np.int32) - np.repeat(offsets[:-1], counts)


class Places:
    """Names commands and handles, counted over all streams, as people know them.

    A stream is named by the first PE that runs it. The counts per stream must have been checked,
    nothing else need be.
    """

    def __init__(self, columns: TraceColumns) -> None:
        self._commands = offsets_of(columns.command_counts)
        self._handles = offsets_of(columns.handle_counts)
        self._first_rank: dict[int, int] = {}
        runners = zip(columns.pe_streams.tolist(), columns.ranks.tolist(), strict=False)
        for stream, rank in runners:
            self._first_rank.setdefault(stream, rank)

    def command(self, flat: int) -> str:
        """For example `PE 3, command 17`."""
        stream = int(np.searchsorted(self._commands, flat, side="right")) - 1
        return f"{self.stream(stream)}, command {flat - int(self._commands[stream])}"

    def handle(self, flat: int) -> str:
        """For example `PE 3, handle 5`."""
        stream = int(np.searchsorted(self._handles, flat, side="right")) - 1
        return f"{self.stream(stream)}, handle {flat - int(self._handles[stream])}"

    def stream(self, stream: int) -> str:
        """For example `PE 3`, or `stream 2` where no PE runs it."""
        rank = self._first_rank.get(stream)
        return f"stream {stream}" if rank is None else f"PE {rank}"
