"""How the handles look that commands name in their slots."""

import numpy as np

from .columns import Int32s, Int64s, offsets_of
from .form_rows import FormRows
from .trace_columns import TraceColumns


def per_slot(of_streams: Int32s, columns: TraceColumns, rows: FormRows) -> Int32s:
    """Per slot of the flat column, what its stream has. Not to be written to."""
    if len(of_streams) == 1:
        return np.broadcast_to(of_streams, len(columns.slots))
    counts = np.diff(rows.first_slots[offsets_of(columns.command_counts)])
    return np.repeat(of_streams, counts)


class NamedGeometries:
    """Geometry ids by command and slot. The columns' slots and geometries must have been checked."""

    def __init__(self, columns: TraceColumns, rows: FormRows) -> None:
        first_handles = offsets_of(columns.handle_counts)[:-1].astype(np.int32)
        handles = columns.slots + per_slot(first_handles, columns, rows)
        self._of_slots: Int32s = columns.geometries[handles]

    def of(self, begins: Int64s, slot: int) -> Int32s:
        """Those in one slot of some commands, whose slots begin there."""
        found: Int32s = self._of_slots[begins + slot]
        return found
