"""A trace's columns arranged as the checks ask for them: by form, by geometry, by who waits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .columns import Int32s, Int64s, offsets_of
from .form_rows import FormRows
from .grouping import rows_by_group
from .named_geometries import Looks, NamedGeometries
from .trace_columns import TraceColumns


@dataclass(frozen=True, slots=True)
class AlikeHandles:
    """Where all handles of a geometry lie, counted over all streams, in order."""

    geometry: int
    addresses: Int64s


@dataclass(frozen=True, slots=True)
class Waiting:
    """`commands`: per entry of `waits`, the command (counted in its stream) that waits. `begins`: where
    each stream's entries begin; one past the last at the end."""

    commands: Int32s
    begins: Int64s


@dataclass(frozen=True, slots=True)
class Arranged:
    """A trace's columns as the checks ask for them: `alike` for each geometry that occurs, ascending."""

    by_form: FormRows
    named: NamedGeometries
    waiting: Waiting
    alike: Sequence[AlikeHandles]


def arranged(columns: TraceColumns, by_form: FormRows, geometries: int) -> Arranged:
    """Columns that are as they are in memory, arranged; `geometries`: how many there are.

    Their lengths and their form and geometry ids must have been checked.
    """
    looks = Looks(columns, by_form, geometries)
    if by_form.few is not None:
        looks.at_all(by_form.few, columns.slots)
    else:
        for group in by_form.groups:
            looks.at_form(group, columns.slots[group.slots])
    return Arranged(
        by_form,
        named=looks.named(columns),
        waiting=waiting_commands(columns),
        alike=[
            AlikeHandles(geometry, columns.addresses[alike].astype(np.int64))
            for geometry, alike in rows_by_group(columns.geometries)
        ],
    )


def waiting_commands(columns: TraceColumns) -> Waiting:
    """Who waits. The counts must have been checked."""
    waiting = np.flatnonzero(columns.wait_counts != 0)
    if len(waiting) < len(columns.waits):
        waiting = np.repeat(waiting, columns.wait_counts.take(waiting))
    first_commands = offsets_of(columns.command_counts)
    begins = np.searchsorted(waiting, first_commands)
    waiting -= np.repeat(first_commands[:-1], np.diff(begins))
    return Waiting(waiting.astype(np.int32), begins)
