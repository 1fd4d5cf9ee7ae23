"""The commands of a trace form by form, and where their slots begin.

Commands of one form have the same number of slots, so whatever is asked of a form's slot is asked of
all its commands at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .columns import Int32s, Int64s, Integers, offsets_of, places_of
from .grouping import Grouped
from .loops import LoopedRows, Unrolling

FEW_SLOTS = 1 << 17
"""Up to so many slots of all commands, one look at them all costs less than one a form."""


@dataclass(frozen=True, slots=True)
class FormGroup:
    """All commands of a form, counted over all streams, in order, as rows of a loop; and how many slots
    each has. `begins`: where these begin in the flat column with one turn of the loop alone, to which
    each turn adds `in_turn`."""

    form: int
    width: int
    looped: LoopedRows
    begins: Int64s
    in_turn: int

    @property
    def commands(self) -> Int64s:
        """The commands."""
        return self.looped.unrolled(
            self.looped.once, self.looped.loop.steps(self.looped.loop.period)
        )

    @property
    def slots(self) -> Int64s:
        """The places of the slots in the flat column: [slot of the form, command]."""
        begins = self.looped.unrolled(self.begins, self.looped.loop.steps(self.in_turn))
        places: Int64s = begins + np.arange(self.width)[:, np.newaxis]
        return places


class FormRows:
    """The commands by form. `first_slots[f]` numbers form f's slots through those of all forms; one past
    the last follows."""

    def __init__(self, forms: Integers, slot_counts: Int32s) -> None:
        """`slot_counts[f]` is how many handles a command of form f names; every form must exist."""
        self.slot_counts = slot_counts
        self.first_slots = offsets_of(slot_counts)
        self._forms = forms
        self._grouped = grouped = Grouped(forms)
        self._loop = grouped.loop
        self._begins = begins = offsets_of(slot_counts.take(grouped.once))  # with one turn alone
        self._turn_begin = int(begins[self._loop.start])
        self._in_turn = int(begins[self._loop.start + self._loop.period]) - self._turn_begin

    @cached_property
    def groups(self) -> list[FormGroup]:
        """One for each form that occurs, ascending."""
        widths = self.slot_counts.tolist()
        return [
            FormGroup(form, widths[form], looped, self._begins.take(looped.once), self._in_turn)
            for form, looped in self._grouped.groups
        ]

    def begins(self, commands: Int64s) -> Int64s:
        """Where in the flat column the slots of these commands begin; of one past the last: its
        length."""
        loop = self._loop
        if not loop.turns:
            return self._begins.take(commands)
        turns = ((commands - loop.start) // loop.period).clip(0, loop.turns - 1)
        begins: Int64s = self._begins[commands - turns * loop.period] + turns * self._in_turn
        return begins

    @cached_property
    def slot_count(self) -> int:
        """How many slots all commands have."""
        return int(self.begins(np.array([len(self._forms)]))[0])

    def flat_slots(self) -> Unrolling:
        """The flat column of slots, to be filled form by form."""
        return Unrolling(self.slot_count, np.int32, self._loop, self._turn_begin, self._in_turn)

    @property
    def are_few(self) -> bool:
        """Whether one look at all slots costs less than one at those of each form. Only then may
        `runs`, `listed_places` and `slot_numbers` be asked for."""
        return not self._loop.turns and self.slot_count <= FEW_SLOTS

    def runs(self) -> Iterator[tuple[int, int]]:
        """Per form that occurs, ascending: how many commands it has, and how many slots each."""
        commands = (past - first for first, past in self._grouped.runs())
        return zip(commands, self.slot_counts[self._grouped.numbers].tolist(), strict=True)

    def listed_places(self) -> Int64s:
        """The places of all slots in the flat column, form by form, a form's commands in order."""
        order = self._grouped.order
        return places_of(self._begins.take(order), self.slot_counts.take(self._forms.take(order)))

    def slot_numbers(self) -> Int64s:
        """Per entry of the flat column, the number of its slot among those of all forms."""
        forms = self._forms
        return places_of(self.first_slots.take(forms), self.slot_counts.take(forms))
