"""Pairs of commands of one stream as columns, and the same pairs for every PE that runs the stream."""

from array import array
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...schemas.columns import Int8s, Int32s, Int64s
from ...schemas.trace import Stream, Trace
from .conflicts import NO_SLOT, ConflictTable

NO_HANDLE = -1


@dataclass(frozen=True)
class StreamPairs:
    """One row a pair of commands, by the later and then the earlier command.

    The columns are those of schemas.hazards.Hazards; a handle or an op is −1 where the pair is
    ordered without one.
    """

    kind: Int8s
    earlier: Int32s
    earlier_op: Int32s
    earlier_handle: Int32s
    later: Int32s
    later_op: Int32s
    later_handle: Int32s
    byte_from: Int64s
    byte_to: Int64s

    def __len__(self) -> int:
        return len(self.kind)


class PairCollector:
    """Collects pairs while a stream is walked: three numbers a pair until `columns` is called."""

    def __init__(self) -> None:
        self.table = ConflictTable()
        self._earlier = array("i")
        self._later = array("i")
        self._conflict = array("i")

    def add(self, earlier: int, later: int, conflict: int) -> None:
        """A pair, with the number of its conflict in `table`."""
        self._earlier.append(earlier)
        self._later.append(later)
        self._conflict.append(conflict)

    def columns(self, trace: Trace, stream: Stream) -> StreamPairs:
        """The pairs in the order in which they were added."""
        earlier, later, conflict = (
            np.array(numbers, dtype=np.int32)
            for numbers in (self._earlier, self._later, self._conflict)
        )
        told = {name: column[conflict] for name, column in self.table.columns().items()}
        first_slots = trace.slot_offsets(stream)
        later_handle = _handles(stream, first_slots[later], told["later_slot"])
        byte_from, byte_to = _placed(stream, later_handle, told["byte_from"], told["byte_to"])
        return StreamPairs(
            kind=told["kind"].astype(np.int8),
            earlier=earlier,
            earlier_op=told["earlier_op"].astype(np.int32),
            earlier_handle=_handles(stream, first_slots[earlier], told["earlier_slot"]),
            later=later,
            later_op=told["later_op"].astype(np.int32),
            later_handle=later_handle,
            byte_from=byte_from,
            byte_to=byte_to,
        )


def for_every_pe(trace: Trace, of_stream: list[StreamPairs]) -> tuple[Int32s, dict[str, Any]]:
    """The index into Trace.pes of every row, and the columns of StreamPairs by name, PE after PE.

    `of_stream` holds the pairs of each of the trace's streams.
    """
    counts = [len(of_stream[entry.stream]) for entry in trace.pes]
    pe = np.repeat(np.arange(len(trace.pes), dtype=np.int32), counts)
    columns = {
        field.name: np.concatenate(
            [getattr(of_stream[entry.stream], field.name) for entry in trace.pes]
        )
        for field in fields(StreamPairs)
    }
    return pe, columns


def _handles(stream: Stream, first_slots: Int64s, slots: Int64s) -> Int32s:
    if not len(stream.slots):
        return np.full(len(slots), NO_HANDLE, dtype=np.int32)
    ids = stream.slots[np.where(slots == NO_SLOT, 0, first_slots + slots)]
    return np.where(slots == NO_SLOT, NO_HANDLE, ids).astype(np.int32)


def _placed(
    stream: Stream, handles: Int32s, byte_from: Int64s, byte_to: Int64s
) -> tuple[Int64s, Int64s]:
    """Bytes counted from a handle's address as addresses; (0, 0) where there are none."""
    some = byte_from < byte_to
    if not some.any():
        return np.zeros_like(byte_from), np.zeros_like(byte_to)
    addresses = stream.addresses[np.maximum(handles, 0)]
    return np.where(some, byte_from + addresses, 0), np.where(some, byte_to + addresses, 0)
