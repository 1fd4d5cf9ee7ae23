"""A trace's columns as its file has them, some of them differenced; and back, to streams and PEs."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from .arranged import AlikeHandles, Arranged, handles_of, waiting_commands
from .columns import Int32s, Int64s, Integers, offsets_of
from .form_rows import FormRows
from .grouping import Grouped, differenced, rows_by_group, summed, undifferenced
from .loops import Unrolling
from .named_geometries import NamedGeometries
from .trace import PeEntry, Stream
from .trace_columns import TraceColumns, counted_up


def stored(columns: TraceColumns, slot_counts: Int32s) -> TraceColumns:
    """The columns as a file has them: some of them differenced (schemas.grouping).

    slots: a row per command, by its form · addresses: by geometry · owners, bases: by tensor number
    · ranks: one group · waits: how many commands back. The others are as they are.
    """
    tensors = counted_up(columns.tensor_counts)
    return replace(
        columns,
        slots=differenced(columns.slots, columns.forms, slot_counts),
        waits=waiting_commands(columns).commands - columns.waits,
        addresses=differenced(columns.addresses, columns.geometries, _ones(columns.geometries)),
        ranks=differenced(columns.ranks, np.zeros_like(columns.ranks), np.ones(1, np.int32)),
        owners=differenced(columns.owners, tensors, _ones(tensors)),
        bases=differenced(columns.bases, tensors, _ones(tensors)),
    )


def with_ranks(stored_columns: TraceColumns) -> TraceColumns:
    """Stored columns with their ranks as they are, so that errors can name PEs. Safe unchecked."""
    return replace(stored_columns, ranks=np.cumsum(stored_columns.ranks, dtype=np.int32))


def restored(stored_columns: TraceColumns, by_form: FormRows) -> tuple[TraceColumns, Arranged]:
    """The inverse of `stored`, after `with_ranks`; and the same arranged. `by_form`: their forms'.

    The columns' lengths and their form and geometry ids must have been checked.
    """
    columns = stored_columns
    slots, named = _restored_slots(columns, by_form)
    addresses, alike = _restored_addresses(columns)
    waiting = waiting_commands(columns)
    tensors = [(rows, 1) for _, rows in rows_by_group(counted_up(columns.tensor_counts))]
    as_they_are = replace(
        columns,
        slots=slots,
        waits=waiting.commands - columns.waits,
        addresses=addresses,
        owners=undifferenced(columns.owners, tensors, np.int32),
        bases=undifferenced(columns.bases, tensors, np.int64),
    )
    return as_they_are, Arranged(by_form, named, waiting, alike)


def _restored_slots(
    stored_columns: TraceColumns, by_form: FormRows
) -> tuple[Int32s, list[NamedGeometries]]:
    """Form by form, so that what one form's commands name is looked at while it is at hand."""
    handles = handles_of(stored_columns)
    slots = by_form.flat_slots()
    named = []
    sizes = ((len(group.begins), group.width) for group in by_form.groups)
    blocks = summed(stored_columns.slots, sizes, np.int32)
    for group, block in zip(by_form.groups, blocks, strict=True):
        slots.place(group.looped, group.begins, block)
        named.append(handles.named(group, block))
    return slots.filled(), named


def _restored_addresses(stored_columns: TraceColumns) -> tuple[Int64s, list[AlikeHandles]]:
    grouped = Grouped(stored_columns.geometries)
    rows = list(grouped.rows())
    loop = grouped.loop
    addresses = Unrolling(len(stored_columns.addresses), np.int64, loop, loop.start, loop.period)
    alike = []
    blocks = summed(stored_columns.addresses, ((len(handles), 1) for handles in rows), np.int64)
    for (geometry, looped), handles, block in zip(grouped.groups, rows, blocks, strict=True):
        addresses.place(looped, handles, block)
        alike.append(AlikeHandles(geometry, handles, block[0]))
    return addresses.filled(), alike


def _ones(groups: Integers) -> Int32s:
    """Rows of one entry each, for every group there is."""
    return np.ones(int(groups.max(initial=-1)) + 1, dtype=np.int32)


def streams_of(columns: TraceColumns, arranged: Arranged) -> tuple[Stream, ...]:
    """The streams, their columns of the types that the record names."""
    per_command, per_handle = offsets_of(columns.command_counts), offsets_of(columns.handle_counts)
    parts = {
        "forms": _parts(columns.forms, per_command),
        "lines": _parts(columns.lines, per_command),
        "wait_counts": _parts(columns.wait_counts, per_command),
        "slots": _parts(columns.slots, arranged.by_form.begins(per_command)),
        "waits": _parts(columns.waits, arranged.waiting.begins),
        "geometries": _parts(columns.geometries, per_handle),
        "addresses": _parts(columns.addresses, per_handle, np.int64),
        "tensors": _parts(columns.tensors, per_handle),
        "labels": _parts(columns.labels, per_handle),
    }
    return tuple(
        Stream(**dict(zip(parts, columns_of_one, strict=True)))
        for columns_of_one in zip(*parts.values(), strict=True)
    )


def _parts(
    column: Integers, offsets: Int64s, item: type[np.signedinteger] = np.int32
) -> Iterator[npt.NDArray[Any]]:
    """The column as that type, cut at the offsets."""
    flat = column.astype(item, copy=not column.flags.writeable)
    return (flat[first:past] for first, past in pairwise(offsets.tolist()))


def pes_of(columns: TraceColumns) -> tuple[PeEntry, ...]:
    """The PE entries."""
    entries = zip(
        columns.ranks.tolist(),
        columns.pe_streams.tolist(),
        _tuples(columns.owners, columns.tensor_counts),
        _tuples(columns.bases, columns.tensor_counts),
        strict=True,
    )
    as_entry = partial(tuple.__new__, PeEntry)  # as PeEntry._make, in half the time
    return tuple(map(as_entry, entries))


def _tuples(column: Integers, counts: Integers) -> Iterable[tuple[int, ...]]:
    """The column in parts of that many entries: mostly all have as many, and often the same."""
    length = int(counts.max(initial=0))
    if length and length == counts.min():
        rows = column.reshape(-1, length)
        if (rows == rows[0]).all():
            return repeat(tuple(rows[0].tolist()), len(rows))
        return zip(*[iter(column.tolist())] * length, strict=True)
    values = tuple(column.tolist())
    return [values[first:past] for first, past in pairwise(offsets_of(counts).tolist())]
