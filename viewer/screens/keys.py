"""Every key and what it does: typing filters, Enter does what is chosen. The command palette as well."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from ..actions import sections
from ..model.help import found_actions, help_title, key_lines
from ..model.lists import moved, scroll_top
from ..model.text import Line
from ..widgets.painted import Painted

LISTED_KEYS = {
    "down": "list_down",
    "up": "list_up",
    "pagedown": "list_page_down",
    "pageup": "list_page_up",
}
NOTHING = -1


class KeysScreen(ModalScreen[str | None]):
    """Closes with the name of the chosen action, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c,f1,ctrl+p", "dismiss(None)", show=False, priority=True),
        *(
            Binding(key, f"move('{name}')", show=False, priority=True)
            for key, name in LISTED_KEYS.items()
        ),
    ]
    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self._typed = ""
        self._top = 0
        self.place = NOTHING

    def compose(self) -> ComposeResult:
        with Vertical(id="keys"):
            yield Painted(self._lines, id="panel")
            yield Input(id="typed", placeholder="type to find a key; Enter does it, Esc closes")

    def _lines(self, width: int, height: int) -> list[Line]:
        listed = key_lines(sections(), self._typed, self.place, width)
        room = max(height - 1, 1)
        at = next((line for line, place in enumerate(listed.places) if place == self.place), 0)
        self._top = scroll_top(self._top, at, len(listed.lines), room)
        if self.place <= 0:
            self._top = 0
        shown = listed.lines[self._top : self._top + room]
        return [help_title(width), *shown, *[listed.blank] * (room - len(shown))][:height]

    def on_input_changed(self, event: Input.Changed) -> None:
        """Shows what fits what was typed, the first of it chosen."""
        self._typed = event.value
        self.place = 0 if event.value and self._count() else NOTHING
        self.query_one("#panel", Painted).repaint()

    def action_move(self, name: str) -> None:
        """Another line."""
        panel = self.query_one("#panel", Painted)
        count = self._count()
        if count:
            self.place = moved(name, self.place, count, max(panel.size.height - 3, 1))
            panel.repaint()

    def _count(self) -> int:
        return len(found_actions(sections(), self._typed))

    def on_input_submitted(self) -> None:
        """Enter: the chosen one; where nothing is chosen, none."""
        found = found_actions(sections(), self._typed)
        self.dismiss(found[self.place].name if 0 <= self.place < len(found) else None)
