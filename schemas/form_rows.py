"""The commands of a trace form by form, and where their slots begin.

Commands of one form have the same number of slots, so whatever is asked of a form's slot is asked of
all its commands at once.
"""

from .columns import Int32s, Int64s, offsets_of
from .grouping import rows_by_group


class FormRows:
    """`by_form`: each form that occurs, with its commands, counted over all streams, in order.
    `first_slots[c]`: where command c's slots begin in the flat column; one past the last at the end.
    """

    def __init__(self, forms: Int32s, slot_counts: Int32s) -> None:
        """`slot_counts[f]` is how many handles a command of form f names."""
        self.slot_counts = slot_counts
        self.by_form = list(rows_by_group(forms))
        self.first_slots: Int64s = offsets_of(slot_counts[forms])
