"""The commands of a trace form by form, and where their slots begin.

Commands of one form have the same number of slots, so whatever is asked of a form's slot is asked of
all its commands at once.
"""

from dataclasses import dataclass

import numpy as np

from .columns import Int32s, Int64s, Integers, offsets_of
from .grouping import Grouped
from .loops import LoopedRows, Unrolling


@dataclass(frozen=True, slots=True)
class FormGroup:
    """All commands of a form, counted over all streams, in order; where in the flat column each one's
    slots begin, and how many each has. `looped`: the commands as rows of a loop."""

    form: int
    commands: Int64s
    begins: Int64s
    width: int
    looped: LoopedRows

    @property
    def slots(self) -> Int64s:
        """The places of the slots in the flat column: [slot of the form, command]."""
        places: Int64s = self.begins + np.arange(self.width)[:, np.newaxis]
        return places


class FormRows:
    """`groups`: one for each form that occurs, ascending."""

    def __init__(self, forms: Integers, slot_counts: Int32s) -> None:
        """`slot_counts[f]` is how many handles a command of form f names; every form must exist."""
        grouped = Grouped(forms)
        self._commands = len(forms)
        self._loop = loop = grouped.loop
        self._begins = begins = offsets_of(slot_counts.take(grouped.once))  # with one turn alone
        self._loop_begin = int(begins[loop.start])
        self._in_turn = int(begins[loop.start + loop.period]) - self._loop_begin
        steps = loop.steps(self._in_turn)
        self.groups = [
            FormGroup(
                form,
                commands,
                looped.unrolled(begins.take(looped.once), steps),
                int(slot_counts[form]),
                looped,
            )
            for (form, looped), commands in zip(grouped.groups, grouped.rows(), strict=True)
        ]

    def begins(self, commands: Int64s) -> Int64s:
        """Where in the flat column the slots of these commands begin; of one past the last: its
        length."""
        loop = self._loop
        turns = np.zeros_like(commands)
        if loop.turns:
            turns = ((commands - loop.start) // loop.period).clip(0, loop.turns - 1)
        begins: Int64s = self._begins[commands - turns * loop.period] + turns * self._in_turn
        return begins

    @property
    def slot_count(self) -> int:
        """How many slots all commands have."""
        return int(self.begins(np.array([self._commands]))[0])

    def flat_slots(self) -> Unrolling:
        """The flat column of slots, to be filled form by form."""
        return Unrolling(self.slot_count, np.int32, self._loop, self._loop_begin, self._in_turn)
