"""The commands of a trace form by form, and where their slots begin.

Commands of one form have the same number of slots, so whatever is asked of a form's slot is asked of
all its commands at once.
"""

from dataclasses import dataclass

from .columns import Int32s, Int64s, offsets_of
from .grouping import rows_by_group


@dataclass(frozen=True, slots=True)
class FormGroup:
    """All commands of a form, counted over all streams, in order; where in the flat column each one's
    slots begin, and how many each has."""

    form: int
    commands: Int64s
    begins: Int64s
    width: int


class FormRows:
    """`groups`: one for each form that occurs, ascending. `first_slots[c]`: where command c's slots
    begin in the flat column; one past the last at the end."""

    def __init__(self, forms: Int32s, slot_counts: Int32s) -> None:
        """`slot_counts[f]` is how many handles a command of form f names."""
        self.first_slots: Int64s = offsets_of(slot_counts[forms])
        self.groups = [
            FormGroup(form, commands, self.first_slots[commands], int(slot_counts[form]))
            for form, commands in rows_by_group(forms)
        ]
