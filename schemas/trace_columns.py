"""All streams and PEs of a trace as one set of columns, as the trace file stores and checks them.

Streams stand one after another: `command_counts[s]` commands, `handle_counts[s]` handles of stream
s. So a file has as many columns for 512 PEs as for one, reading it takes no loop over streams, and
streams that are nearly alike compress against each other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from .columns import Int32s, Integers, offsets_of
from .trace import PeEntry, Stream


@dataclass(frozen=True)
class TraceColumns:
    """Per stream: command_counts, handle_counts. Per command: forms, lines, wait_counts; flat over
    commands: slots, waits. Per handle: geometries, addresses, tensors, labels. Per PE: ranks,
    pe_streams, tensor_counts; flat over PEs: owners, bases. Meanings as in schemas.trace. A column
    that was read is as narrow as its file has it: nothing may be added up in its own width.
    """

    command_counts: Integers
    handle_counts: Integers
    forms: Integers
    lines: Integers
    wait_counts: Integers
    slots: Integers
    waits: Integers
    geometries: Integers
    addresses: Integers
    tensors: Integers
    labels: Integers
    ranks: Integers
    pe_streams: Integers
    tensor_counts: Integers
    owners: Integers
    bases: Integers


COLUMN_NAMES = tuple(column.name for column in fields(TraceColumns))
WIDE_COLUMNS = ("addresses", "bases")
"""Those of 64 bits in memory; the others have 32."""


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


def counted_up(counts: Integers) -> Int32s:
    """0 … counts[0] − 1, 0 … counts[1] − 1, and so on."""
    offsets = offsets_of(counts).astype(np.int32)
    return np.arange(offsets[-1], dtype=np.int32) - np.repeat(offsets[:-1], counts)


class Places:
    """Names commands and handles, counted over all streams, as people know them.

    A stream is named by the first PE that runs it. The counts per stream must have been checked,
    nothing else need be.
    """

    def __init__(self, columns: TraceColumns) -> None:
        self._columns = columns

    def command(self, flat: int) -> str:
        """For example `PE 3, command 17`."""
        return self._within(self._columns.command_counts, "command", flat)

    def handle(self, flat: int) -> str:
        """For example `PE 3, handle 5`."""
        return self._within(self._columns.handle_counts, "handle", flat)

    def _within(self, counts: Integers, thing: str, flat: int) -> str:
        offsets = offsets_of(counts)
        stream = int(np.searchsorted(offsets, flat, side="right")) - 1
        return f"{self.stream(stream)}, {thing} {flat - int(offsets[stream])}"

    def stream(self, stream: int) -> str:
        """For example `PE 3`, or `stream 2` where no PE runs it."""
        running = np.flatnonzero(self._columns.pe_streams == stream)[:1]
        if not len(running) or running[0] >= len(self._columns.ranks):
            return f"stream {stream}"
        return f"PE {int(self._columns.ranks[running[0]])}"
