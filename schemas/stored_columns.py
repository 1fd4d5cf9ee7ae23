"""A trace's columns as its file has them, some of them differenced; and back, to streams and PEs."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from .arranged import AlikeHandles, Arranged, waiting_commands
from .columns import Int32s, Int64s, Integers, offsets_of
from .form_rows import FormRows
from .grouping import (
    Grouped,
    differenced,
    rows_by_group,
    summed,
    summed_at_once,
    undifferenced,
)
from .loops import Unrolling
from .named_geometries import Looks
from .trace import STREAM_COLUMNS, PeEntry, Stream
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


def restored(
    stored_columns: TraceColumns, by_form: FormRows, geometries: int
) -> tuple[TraceColumns, Arranged]:
    """The inverse of `stored`, after `with_ranks`; and the same arranged. `by_form`: their forms';
    `geometries`: how many there are.

    The columns' lengths and their form and geometry ids must have been checked.
    """
    columns = stored_columns
    looks = Looks(columns, by_form, geometries)
    slots = _restored_slots(columns, by_form, looks)
    addresses, alike = _restored_addresses(columns)
    waiting = waiting_commands(columns)
    as_they_are = replace(
        columns,
        slots=slots,
        waits=waiting.commands - columns.waits,
        addresses=addresses,
        owners=_of_tensors(columns.owners, columns.tensor_counts, np.int32),
        bases=_of_tensors(columns.bases, columns.tensor_counts, np.int64),
    )
    return as_they_are, Arranged(by_form, looks.named(as_they_are), waiting, alike)


def _restored_slots(stored_columns: TraceColumns, by_form: FormRows, looks: Looks) -> Int32s:
    """And looks at what is named, while it is at hand."""
    if by_form.few is None:
        return _slots_by_form(stored_columns, by_form, looks)
    slots = np.empty(by_form.slot_count, np.int32)
    slots[by_form.few.places] = summed_at_once(stored_columns.slots, by_form.few.sizes, np.int32)
    looks.at_all(by_form.few, slots)
    return slots


def _slots_by_form(stored_columns: TraceColumns, by_form: FormRows, looks: Looks) -> Int32s:
    slots = by_form.flat_slots()
    sizes = ((group.looped.count, group.width) for group in by_form.groups)
    blocks = summed(stored_columns.slots, sizes, np.int32)
    for group, block in zip(by_form.groups, blocks, strict=True):
        slots.place(group.looped, group.begins, block)
        looks.at_form(group, block)
    return slots.filled()


def _restored_addresses(stored_columns: TraceColumns) -> tuple[Int64s, list[AlikeHandles]]:
    grouped = Grouped(stored_columns.geometries)
    if not grouped.loop.turns:
        return _addresses_at_once(stored_columns, grouped)
    loop = grouped.loop
    addresses = Unrolling(len(stored_columns.addresses), np.int64, loop, loop.start, loop.period)
    alike = []
    sizes = ((looped.count, 1) for _, looped in grouped.groups)
    blocks = summed(stored_columns.addresses, sizes, np.int64)
    for (geometry, looped), block in zip(grouped.groups, blocks, strict=True):
        addresses.place(looped, looped.once, block)
        alike.append(AlikeHandles(geometry, block[0]))
    return addresses.filled(), alike


def _addresses_at_once(
    stored_columns: TraceColumns, grouped: Grouped
) -> tuple[Int64s, list[AlikeHandles]]:
    runs = list(grouped.runs())
    sizes = ((past - first, 1) for first, past in runs)
    listed = summed_at_once(stored_columns.addresses, sizes, np.int64)
    addresses = np.empty_like(listed)
    addresses[grouped.order] = listed
    alike = [listed[first:past] for first, past in runs]
    return addresses, list(map(AlikeHandles, grouped.numbers, alike))


def _of_tensors(
    stored_column: Integers, tensor_counts: Integers, item: type[np.signedinteger]
) -> npt.NDArray[Any]:
    """A column of an entry a PE and tensor: mostly all PEs have as many."""
    tensors = int(tensor_counts.max(initial=0))
    if tensors and tensors == tensor_counts.min():
        by_tensor = stored_column.reshape(tensors, -1).cumsum(axis=1, dtype=item)
        return by_tensor.T.reshape(-1)
    groups = [(rows, 1) for _, rows in rows_by_group(counted_up(tensor_counts))]
    return undifferenced(stored_column, groups, item)


def _ones(groups: Integers) -> Int32s:
    """Rows of one entry each, for every group there is."""
    return np.ones(int(groups.max(initial=-1)) + 1, dtype=np.int32)


def streams_of(columns: TraceColumns, arranged: Arranged) -> tuple[Stream, ...]:
    """The streams, their columns of the types that the record names."""
    first_commands = offsets_of(columns.command_counts)
    commands = _cuts(first_commands)
    handles = _cuts(offsets_of(columns.handle_counts))
    parts = {
        "forms": _parts(columns.forms, commands),
        "lines": _parts(columns.lines, commands),
        "wait_counts": _parts(columns.wait_counts, commands),
        "slots": _parts(columns.slots, _cuts(arranged.by_form.begins(first_commands))),
        "waits": _parts(columns.waits, _cuts(arranged.waiting.begins)),
        "geometries": _parts(columns.geometries, handles),
        "addresses": _parts(columns.addresses, handles, np.int64),
        "tensors": _parts(columns.tensors, handles),
        "labels": _parts(columns.labels, handles),
    }
    return tuple(map(Stream, *[parts[name] for name in STREAM_COLUMNS]))


def _cuts(offsets: Int64s) -> list[slice]:
    """From each offset to the next."""
    return [slice(first, past) for first, past in pairwise(offsets.tolist())]


def _parts(
    column: Integers, cuts: list[slice], item: type[np.signedinteger] = np.int32
) -> Iterable[npt.NDArray[Any]]:
    """The column as that type, cut up."""
    return map(column.astype(item, copy=not column.flags.writeable).__getitem__, cuts)


def pes_of(columns: TraceColumns) -> tuple[PeEntry, ...]:
    """The PE entries."""
    entries = zip(
        columns.ranks.tolist(),
        columns.pe_streams.tolist(),
        _tuples(columns.owners, columns.tensor_counts),
        _tuples(columns.bases, columns.tensor_counts),
        strict=True,
    )
    return tuple(map(tuple.__new__, repeat(PeEntry), entries))  # as PeEntry._make, in half the time


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
