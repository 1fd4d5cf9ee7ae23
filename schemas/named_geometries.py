"""How the handles look that commands name in their slots."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .columns import Bools, Int32s, Int64s, Integers, offsets_of
from .form_rows import FewSlots, FormGroup, FormRows
from .trace_columns import TraceColumns

LOOKS_AT_ONCE = 1 << 15
"""So many looks, whose columns then stay in the cache."""

SMALL_TABLE = 1 << 11
"""To count in a table of so many entries costs less than to sort even a few values."""


class Handles:
    """The handles of all streams, to look up what commands name: ids count within a stream. An id that
    no handle has looks like any handle.
    """

    def __init__(self, columns: TraceColumns) -> None:
        """Only how each handle looks, and how many handles and commands each stream has, is read."""
        self._geometries = columns.geometries
        self._first_handles = offsets_of(columns.handle_counts)[:-1]
        self._command_counts = columns.command_counts

    @cached_property
    def firsts(self) -> Int32s | None:
        """Per command, the first handle of its stream; None for one stream alone, as it is 0."""
        if len(self._first_handles) == 1:
            return None
        return self._first_handles.astype(np.int32).repeat(self._command_counts)

    def named_by(self, commands: Int64s, ids: Integers) -> Integers:
        """The handles that commands name, counted over all streams."""
        return ids if self.firsts is None else ids + self.firsts.take(commands)

    def named_in(self, begins: Int64s, slots: Integers) -> Integers:
        """The same of the flat column; a stream's slots begin there, and end where the next one's do."""
        return slots + self._first_handles.repeat(np.diff(begins))

    def look(self, handles: Integers) -> Integers:
        """The geometries of handles, counted over all streams."""
        return self._geometries.take(handles, mode="clip")


@dataclass(frozen=True, slots=True)
class NamedGeometries:
    """Which geometries are named in which slot, the slots of all forms numbered through: in slot n, those
    from `begins[n]` on in `geometries`, each once, ascending. So most questions are asked once, not of
    every command.
    """

    columns: TraceColumns
    by_form: FormRows
    handles: Handles
    geometries: Integers
    begins: Int64s

    def of(self, commands: Int64s, slot: int) -> Integers:
        """The geometries that these commands name in that slot of their forms."""
        ids = self.columns.slots.take(self.by_form.begins(commands) + slot)
        return self.handles.look(self.handles.named_by(commands, ids))

    def of_form(self, form: int, slot: int, count: int = 1) -> Integers:
        """The geometries that the form's commands name in that slot, or in so many from there on."""
        number = self.by_form.first_slots[form] + slot
        return self.geometries[self.begins[number] : self.begins[number + count]]

    def first(self, form: int, slot: int, wrong: Bools) -> int | None:
        """The first command of the form that names one of the wrong geometries in that slot; or None."""
        if not wrong.take(self.of_form(form, slot)).any():
            return None
        commands = self.by_form.commands(form)
        return int(commands[wrong.take(self.of(commands, slot)).argmax()])


class Looks:
    """Looks at what commands name, at all slots or form by form, ascending; then hands out what was seen.

    What is kept has an entry for each geometry that is named in a slot, so it is never longer than the
    column of slots, however many forms and geometries there are.
    """

    def __init__(self, columns: TraceColumns, by_form: FormRows, geometries: int) -> None:
        """`geometries`: how many there are. The slots of `columns` are not read."""
        self._handles = Handles(columns)
        self._command_counts = columns.command_counts
        self._by_form = by_form
        self._geometry_count = max(1, geometries)
        self._item = columns.geometries.dtype
        self._geometries: list[Integers] = [columns.geometries[:0]]
        self._counts = [np.zeros(0, np.int64)]

    def at_form(self, group: FormGroup, slots: Integers) -> None:
        """At a form's commands; `slots` are their handle ids, [slot of the form, command]."""
        if not group.width:
            return
        firsts = self._handles.firsts
        of_commands = None if firsts is None else firsts.take(group.commands)
        at_once = max(1, LOOKS_AT_ONCE // slots.shape[1])
        for first in range(0, group.width, at_once):
            ids = slots[first : first + at_once]
            self._at_handles(ids if of_commands is None else ids + of_commands)

    def _at_handles(self, handles: Integers) -> None:
        """At the handles that are named in some slots, [slot, command]; most slots look alike in every
        command."""
        looks = self._handles.look(handles)
        lowest = looks.min(axis=1)
        differ = lowest != looks.max(axis=1)
        if not differ.any():
            self._geometries.append(lowest)
            self._counts.append(np.ones(len(lowest), np.int64))
            return
        slots = np.arange(len(looks))
        alike = self._pairs(slots[~differ], lowest[~differ])
        differing = _distinct(self._pairs(slots[differ, np.newaxis], looks[differ]))
        self._keep(np.sort(np.concatenate([alike, differing])), len(looks))

    def at_all(self, few: FewSlots, slots: Integers) -> None:
        """At all commands; `slots` is the flat column."""
        begins = self._by_form.begins(offsets_of(self._command_counts))
        looks = self._handles.look(self._handles.named_in(begins, slots))
        pairs = _distinct(self._pairs(few.numbers, looks))
        self._keep(pairs, int(self._by_form.first_slots[-1]))

    def _pairs(self, slots: Int64s, looks: Integers) -> Int64s:
        """A slot and how a handle looks that is named there, as one number."""
        pairs: Int64s = (slots * self._geometry_count + looks).reshape(-1)
        return pairs

    def _keep(self, pairs: Int64s, slot_count: int) -> None:
        """Pairs of the next so many slots, each once, ascending."""
        slots, geometries = np.divmod(pairs, self._geometry_count)
        self._geometries.append(geometries.astype(self._item))
        self._counts.append(np.bincount(slots, minlength=slot_count))

    def named(self, columns: TraceColumns) -> NamedGeometries:
        """What was seen, once all commands have been looked at; `columns` are the same with their
        slots."""
        geometries = np.concatenate(self._geometries)
        begins = offsets_of(np.concatenate(self._counts))
        return NamedGeometries(columns, self._by_form, self._handles, geometries, begins)


def _distinct(values: Int64s) -> Int64s:
    """Each value once, ascending; none is negative."""
    if int(values.max(initial=0)) < max(len(values), SMALL_TABLE):
        return np.flatnonzero(np.bincount(values))
    ordered = np.sort(values)
    distinct: Int64s = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    return distinct
