"""How the handles look that commands name in their slots."""

from dataclasses import dataclass

import numpy as np

from .columns import Bools, Int64s, Integers, offsets_of
from .form_rows import FormGroup, FormRows
from .trace_columns import TraceColumns


class Handles:
    """The handles of all streams, to look up what commands name: ids count within a stream. An id that
    no handle has looks like any handle.
    """

    def __init__(self, columns: TraceColumns) -> None:
        """Only how each handle looks, and how many handles and commands each stream has, is read."""
        self._geometries = columns.geometries
        self._first_handles = offsets_of(columns.handle_counts)[:-1]
        self._first_commands = offsets_of(columns.command_counts)

    def firsts(self, commands: Int64s) -> Int64s:
        """The first handle of each command's stream, counted over all streams."""
        streams = self._first_commands.searchsorted(commands, side="right") - 1
        return self._first_handles.take(streams)

    def firsts_of_slots(self, begins: Int64s) -> Int64s:
        """The same of each slot; a stream's slots begin there, and end where the next one's do."""
        return self._first_handles.repeat(np.diff(begins))

    def look(self, handles: Integers) -> Integers:
        """The geometries of handles, counted over all streams."""
        return self._geometries.take(handles, mode="clip")


@dataclass(frozen=True, slots=True)
class NamedGeometries:
    """`seen` is [slot, geometry], the slots of all forms numbered through: whether a command of the
    slot's form names a handle of that geometry there. So most questions are asked once, not of every
    command.
    """

    columns: TraceColumns
    by_form: FormRows
    seen: Bools

    def of(self, commands: Int64s, slot: int) -> Integers:
        """The geometries that these commands name in that slot of their forms."""
        ids = self.columns.slots.take(self.by_form.begins(commands) + slot)
        handles = Handles(self.columns)
        return handles.look(ids + handles.firsts(commands))

    def of_form(self, form: int, slot: int) -> Bools:
        """Which geometries the form's commands name in that slot."""
        seen: Bools = self.seen[int(self.by_form.first_slots[form]) + slot]
        return seen

    def commands(self, form: int) -> Int64s:
        """The form's commands, counted over all streams."""
        return np.flatnonzero(self.columns.forms == form)

    def first(self, form: int, slot: int, wrong: Bools) -> int | None:
        """The first command of the form that names one of the wrong geometries in that slot; or None."""
        if not (self.of_form(form, slot) & wrong).any():
            return None
        commands = self.commands(form)
        return int(commands[wrong.take(self.of(commands, slot)).argmax()])


class Looks:
    """Looks at what commands name, form by form or at once; `seen` is what NamedGeometries has."""

    def __init__(self, columns: TraceColumns, by_form: FormRows, geometries: int) -> None:
        """`geometries`: how many there are. The slots of `columns` are not read."""
        self._handles = Handles(columns)
        self._command_counts = columns.command_counts
        self._by_form = by_form
        self.seen = np.zeros((int(by_form.first_slots[-1]), geometries), dtype=np.bool_)

    def at_form(self, group: FormGroup, slots: Integers) -> None:
        """At a form's commands; `slots` are their handle ids, [slot of the form, command]."""
        handles = slots
        if len(self._command_counts) > 1:
            handles = slots + self._handles.firsts(group.commands)
        for number, named in enumerate(handles, int(self._by_form.first_slots[group.form])):
            looks = self._handles.look(_once_if_alike(named))
            self.seen[number, _once_if_alike(looks)] = True

    def at_all(self, slots: Integers) -> None:
        """At all commands, where they are few; `slots` is the flat column."""
        begins = self._by_form.begins(offsets_of(self._command_counts))
        handles = slots + self._handles.firsts_of_slots(begins)
        places = self._by_form.slot_numbers() * self.seen.shape[1] + self._handles.look(handles)
        self.seen.reshape(-1)[places] = True


def _once_if_alike(values: Integers) -> Integers:
    """The first of values that are all the same, else all."""
    return values[:1] if (values == values[:1]).all() else values
