"""How the handles look that commands name in their slots."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .column_checks import first_row
from .columns import Bools, Integers, offsets_of
from .form_rows import FormGroup


@dataclass(frozen=True, slots=True)
class NamedGeometries:
    """The geometry ids that one form's commands name: `ids` are [slot of the form, command].

    `leading` are the first command's; `varies` says of each slot whether another has another: most
    slots look alike in every command, and then one look is enough.
    """

    group: FormGroup
    ids: Integers
    leading: Sequence[int]
    varies: Sequence[bool]

    def first(self, slot: int, wrong: Bools) -> int | None:
        """The first of the commands, counted in the group, that names one of the wrong geometries in
        that slot; or None."""
        if not self.varies[slot]:
            return 0 if wrong[self.leading[slot]] else None
        ids = self.ids[slot]
        if not (ids[2:] != ids[:-2]).any():  # two take turns
            ids = ids[:2]
        return first_row(wrong.take(ids))

    def command(self, row: int) -> int:
        """A command of the group, counted over all streams."""
        return int(self.group.commands[row])


class Handles:
    """The handles of all streams, to look up what commands name."""

    def __init__(
        self, geometries: Integers, handle_counts: Integers, command_counts: Integers
    ) -> None:
        """How each handle looks, and how many handles and commands each stream has."""
        self._geometries = geometries
        first_handles = offsets_of(handle_counts)[:-1]
        self._first_of_commands = (
            None if len(first_handles) == 1 else np.repeat(first_handles, command_counts)
        )

    def named(self, group: FormGroup, slots: Integers) -> NamedGeometries:
        """What a form's commands name; `slots` are their handle ids (counted in the stream), [slot of
        the form, command]. An id that no handle has looks like any handle."""
        if self._first_of_commands is not None:
            slots = slots + self._first_of_commands.take(group.commands)
        ids = self._geometries.take(slots, mode="clip")
        varies = np.logical_or.reduce(ids[:, 1:] != ids[:, :-1], axis=1).tolist()
        return NamedGeometries(group, ids, ids[:, 0].tolist(), varies)
