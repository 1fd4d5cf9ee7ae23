"""A trace's columns arranged as the checks ask for them: by form, by geometry, by who waits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .columns import Int32s, Int64s, offsets_of
from .form_rows import FormRows
from .grouping import rows_by_group
from .named_geometries import Handles, NamedGeometries
from .trace_columns import TraceColumns


@dataclass(frozen=True, slots=True)
class AlikeHandles:
    """All handles of a geometry, counted over all streams, in order; and where each one lies."""

    geometry: int
    handles: Int64s
    addresses: Int64s


@dataclass(frozen=True, slots=True)
class Waiting:
    """`commands`: per entry of `waits`, the command (counted in its stream) that waits. `begins`: where
    each stream's entries begin; one past the last at the end."""

    commands: Int32s
    begins: Int64s


@dataclass(frozen=True, slots=True)
class Arranged:
    """A trace's columns as the checks ask for them: `named` for each form and `alike` for each
    geometry that occurs, ascending."""

    by_form: FormRows
    named: Sequence[NamedGeometries]
    waiting: Waiting
    alike: Sequence[AlikeHandles]


def arranged(columns: TraceColumns, by_form: FormRows) -> Arranged:
    """Columns that are as they are in memory, arranged.

    Their lengths and their form and geometry ids must have been checked.
    """
    handles = handles_of(columns)
    return Arranged(
        by_form,
        named=[handles.named(group, columns.slots[group.slots]) for group in by_form.groups],
        waiting=waiting_commands(columns),
        alike=[
            AlikeHandles(geometry, alike, columns.addresses[alike].astype(np.int64))
            for geometry, alike in rows_by_group(columns.geometries)
        ],
    )


def handles_of(columns: TraceColumns) -> Handles:
    """The handles, to look up what commands name."""
    return Handles(columns.geometries, columns.handle_counts, columns.command_counts)


def waiting_commands(columns: TraceColumns) -> Waiting:
    """Who waits. The counts must have been checked."""
    waiting = np.flatnonzero(columns.wait_counts != 0)
    if len(waiting) < len(columns.waits):
        waiting = np.repeat(waiting, columns.wait_counts.take(waiting))
    first_commands = offsets_of(columns.command_counts)
    begins = np.searchsorted(waiting, first_commands)
    waiting -= np.repeat(first_commands[:-1], np.diff(begins))
    return Waiting(waiting.astype(np.int32), begins)
