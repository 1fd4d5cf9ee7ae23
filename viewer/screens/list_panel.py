"""A panel with a list: a head, and lines of which one is chosen; Enter closes it with that one's place."""

from collections.abc import Callable

from ..model.lists import scroll_top
from ..model.text import Line
from .panel import Panel

Head = Callable[[int], list[Line]]
"""Gives the lines above the list, for a width."""

Listed = Callable[[int, int, int, int], list[Line]]
"""Gives lines for (chosen place, first place, width, height)."""


class ListPanel(Panel):
    """`place` is the chosen line. Only the lines that are shown are made."""

    def __init__(
        self, title: str, opened_by: str, *, count: int, head: Head, listed: Listed, place: int = 0
    ) -> None:
        super().__init__(title, opened_by, lambda width: [])
        self._count = count
        self._head = head
        self._listed = listed
        self._top = 0
        self._head_lines = 0
        self.place = place

    def count(self) -> int:
        return self._count

    def shown(self, width: int, height: int) -> list[Line]:
        """The head, and as many lines as there is room for."""
        head = self._head(width)
        room = max(height - len(head), 1)
        self._head_lines = len(head)
        self._top = scroll_top(self._top, self.place, self._count, room)
        return [*head, *self._listed(self.place, self._top, width, room)][:height]

    def place_at(self, line: int) -> int | None:
        place = self._top + line - self._head_lines
        return place if line >= self._head_lines and place < self._count else None

    def choose(self) -> None:
        """Closes with the chosen place; an empty list without one."""
        self.dismiss(self.place if self._count else None)
