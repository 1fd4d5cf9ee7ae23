"""The commands of a trace form by form, and where their slots begin.

Commands of one form have the same number of slots, so whatever is asked of a form's slot is asked of
all its commands at once.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .columns import Int32s, Int64s, Integers, offsets_of, places_of
from .grouping import Grouped
from .loops import LoopedRows, Unrolling

FEW_PER_FORM = 1 << 11
"""Up to so many slots and commands for each form that occurs, one look at them all costs less than one
at those of each form."""

FEW = 1 << 18
"""Of more than so many slots and commands, the look at all would take columns of some size itself."""


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


@dataclass(frozen=True, slots=True)
class FewSlots:
    """The slots of all commands, where one look at them all costs less than one at those of each form.

    `sizes`: per form that occurs, ascending, how many commands it has and how many slots each.
    `places`: in the flat column, form by form, a form's commands in order. `numbers`: per entry of the
    flat column, the number of its slot among those of all forms.
    """

    sizes: list[tuple[int, int]]
    places: Int64s
    numbers: Int64s


class FormRows:
    """The commands by form. `forms` are those that occur, ascending; `first_slots[f]` numbers form f's
    slots through those of all forms that occur; one past the last follows."""

    def __init__(self, forms: Integers, slot_counts: Int32s) -> None:
        """`slot_counts[f]` is how many handles a command of form f names; every form must exist."""
        self._forms = forms
        self._slot_counts = slot_counts
        self._grouped = grouped = Grouped(forms)
        self.forms = grouped.numbers
        in_use = np.zeros_like(slot_counts)
        in_use[self.forms] = widths = slot_counts[self.forms]
        self.first_slots = offsets_of(in_use)
        self._widths: list[int] = widths.tolist()
        self._loop = grouped.loop
        self._begins = begins = offsets_of(slot_counts.take(grouped.once))  # with one turn alone
        self._turn_begin = int(begins[self._loop.start])
        self._in_turn = int(begins[self._loop.start + self._loop.period]) - self._turn_begin

    @cached_property
    def groups(self) -> list[FormGroup]:
        """One for each form that occurs, ascending."""
        return [
            FormGroup(form, width, looped, self._begins.take(looped.once), self._in_turn)
            for (form, looped), width in zip(self._grouped.groups, self._widths, strict=True)
        ]

    def commands(self, form: int) -> Int64s:
        """The commands of a form that occurs, counted over all streams, in order."""
        return self.groups[bisect_left(self.forms, form)].commands

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

    @cached_property
    def few(self) -> FewSlots | None:
        """All slots, if they are few; else they are to be looked at group by group."""
        at_most = min(FEW, FEW_PER_FORM * len(self.forms))
        if self._loop.turns or self.slot_count + len(self._forms) > at_most:
            return None
        grouped, forms = self._grouped, self._forms
        counts = self._slot_counts.take(forms)
        commands = (past - first for first, past in grouped.runs())
        return FewSlots(
            sizes=list(zip(commands, self._widths, strict=True)),
            places=places_of(self._begins.take(grouped.order), counts.take(grouped.order)),
            numbers=places_of(self.first_slots.take(forms), counts),
        )
