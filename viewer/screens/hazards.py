"""The list of hazards: every pair held, violated or potential, in words; Enter shows both stages."""

from ..model.hazard_list import hazard_detail, hazard_lines, title_line
from ..model.hazards import HazardIndex
from ..model.index import TimelineIndex
from ..model.lists import scroll_top
from ..model.text import Line, fit_line
from .panel import Panel

TITLE_LINES = 1
DETAIL_LINES = 5


class HazardPanel(Panel):
    """`place` is the chosen line; Enter closes the panel with its row in the hazard table."""

    def __init__(self, index: TimelineIndex, hazards: HazardIndex) -> None:
        super().__init__("hazards", "hazards", lambda width: [])
        self._index = index
        self._hazards = hazards
        self._top = 0

    def count(self) -> int:
        return len(self._hazards)

    def shown(self, width: int, height: int) -> list[Line]:
        """The head, as many lines as there is room for, and what there is to say of the chosen one."""
        room = max(height - TITLE_LINES - DETAIL_LINES, 1)
        self._top = scroll_top(self._top, self.place, self.count(), room)
        return [
            title_line(self._hazards, width),
            *hazard_lines(self._index, self._hazards, self.place, self._top, width, room),
            fit_line((), width),
            *hazard_detail(self._index, self._hazards, self.place, width),
        ]

    def choose(self) -> None:
        """Closes with the chosen row."""
        rows = self._hazards.by_weight
        self.dismiss(int(rows[self.place]) if len(rows) else None)
