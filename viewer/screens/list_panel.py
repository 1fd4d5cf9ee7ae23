"""A panel with a list: a head, and lines of which one is chosen; Enter closes it with that one's place."""

from collections.abc import Callable, Sequence

from ..model.lists import scroll_top, unseen
from ..model.text import Line
from .panel import Panel
from .saving import Rows, save_table

Head = Callable[[int], list[Line]]
"""Gives the lines above the list, for a width."""

Foot = Callable[[int, int], list[Line]]
"""Gives the lines below the list about (chosen place, width), always as many."""

Table = tuple[Sequence[str], Callable[[], Rows]]
"""The columns of what is saved, and what gives their rows."""

Listed = Callable[[int, int, int, int], list[Line]]
"""Gives lines for (chosen place, first place, width, height)."""


class ListPanel(Panel):
    """`place` is the chosen line. Only the lines that are shown are made."""

    def __init__(
        self,
        title: str,
        opened_by: str,
        *,
        count: int,
        head: Head,
        listed: Listed,
        foot: Foot = lambda place, width: [],
        place: int = 0,
        table: Table | None = None,
    ) -> None:
        super().__init__(title, opened_by, lambda width: [])
        self._count = count
        self._head = head
        self._listed = listed
        self._foot = foot
        self._table = table
        self._top = 0
        self._head_lines = self._room = 0
        self.place = place

    def count(self) -> int:
        return self._count

    def shown(self, width: int, height: int) -> list[Line]:
        """The head, as many lines as there is room for, and the foot."""
        head, foot = self._head(width), self._foot(self.place, width)
        room = max(height - len(head) - len(foot), 1)
        self._head_lines = len(head)
        self._top = scroll_top(self._top, self.place, self._count, room)
        self._room = room
        self.unseen = unseen(self._count, self._top, room)
        return [*head, *self._listed(self.place, self._top, width, room), *foot][:height]

    def place_at(self, line: int) -> int | None:
        place = self._top + line - self._head_lines
        is_listed = self._head_lines <= line < self._head_lines + self._room
        return place if is_listed and place < self._count else None

    def save_listed(self) -> None:
        """Saves all that is listed, where there is a table of it."""
        if self._table is None:
            super().save_listed()
        else:
            columns, rows = self._table
            save_table(self, self._view, columns, rows(), f"{self._count:,} lines")

    def choose(self) -> None:
        """Closes with the chosen place; an empty list without one."""
        self.dismiss(self.place if self._count else None)
