"""Every key and what it does: typing filters, Enter does what is chosen. The command palette as well."""

from functools import partial
from typing import ClassVar, Protocol

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from ..action import Action
from ..actions import named, sections_for
from ..model.help import found_actions, help_title, key_lines
from ..model.lists import moved, scroll_top
from ..model.text import Line
from ..widgets.painted import Painted
from ..widgets.typed_line import TypedLine

LISTED_KEYS = {
    "down": "list_down",
    "up": "list_up",
    "pagedown": "list_page_down",
    "pageup": "list_page_up",
}
NOTHING = -1

BY_APP = ("suspend",)
"""The names of the timeline's actions that the app does, whatever the screen."""
PLACEHOLDER = "type to find a key; Enter does it, Esc closes"

LINES_A_TURN = 3
"""How far the wheel scrolls."""


class Asking(Protocol):
    """A screen that can do actions by name, and say why it cannot do one."""

    @property
    def app(self) -> App[object]: ...

    def action_do(self, name: str) -> None: ...

    def say(self, message: str) -> None: ...


def show_keys(screen: Asking, own: tuple[Action, ...]) -> None:
    """Lists all actions, those that the screen has (`own`) first; the chosen one is done."""
    screen.app.push_screen(KeysScreen(own), partial(_do_chosen, screen, own))


def _do_chosen(screen: Asking, own: tuple[Action, ...], name: str | None) -> None:
    if name is None:
        return
    action = named(name)
    if name in BY_APP:
        screen.app.action_suspend_process()
    elif action.argument:
        screen.say(f"type {action.shown}")
    elif action in own:
        screen.action_do(name)
    else:
        screen.say(f"{action.shown} is a key of another screen: {action.section}")


class KeysScreen(ModalScreen[str | None]):
    """Closes with the name of the chosen action, or with None. The screen's own (`own`) come first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c,f1,ctrl+p", "dismiss(None)", show=False, priority=True),
        *(
            Binding(key, f"move('{name}')", show=False, priority=True)
            for key, name in LISTED_KEYS.items()
        ),
    ]
    ALLOW_SELECT = False

    def __init__(self, own: tuple[Action, ...]) -> None:
        super().__init__()
        self._sections = sections_for(own)
        self._typed = ""
        self._top = 0
        self._places: tuple[int, ...] = ()
        self.place = NOTHING
        self._panel = Painted(self._lines, id="panel")
        self.line = TypedLine(self._submitted, id="typed", placeholder=PLACEHOLDER)

    def compose(self) -> ComposeResult:
        with Vertical(id="keys"):
            yield self._panel
            yield self.line

    def _lines(self, width: int, height: int) -> list[Line]:
        listed = key_lines(self._sections, self._typed, self.place, width)
        self._places = listed.places
        room = max(height - 1, 1)
        at = next((line for line, place in enumerate(listed.places) if place == self.place), 0)
        self._top = scroll_top(self._top, at, len(listed.lines), room)
        if self.place <= 0:
            self._top = 0
        shown = listed.lines[self._top : self._top + room]
        return [help_title(width), *shown, *[listed.blank] * (room - len(shown))][:height]

    def on_input_changed(self, event: Input.Changed) -> None:
        """Shows what fits what was typed, the first of it chosen."""
        if event.value != self._typed:
            self._filter(event.value)

    def _filter(self, typed: str) -> None:
        self._typed = typed
        self.place = 0 if typed and self._count() else NOTHING
        self._panel.repaint()

    def action_move(self, name: str) -> None:
        """Another line."""
        count = self._count()
        if count:
            self.place = moved(name, self.place, count, max(self._panel.size.height - 3, 1))
            self._panel.repaint()

    def _count(self) -> int:
        return len(found_actions(self._sections, self._typed))

    def _submitted(self, text: str) -> None:
        """Enter: the chosen one; where nothing is chosen, none."""
        if text != self._typed:
            self._filter(text)
        found = found_actions(self._sections, self._typed)
        self.dismiss(found[self.place].name if 0 <= self.place < len(found) else None)

    def on_painted_clicked(self, event: Painted.Clicked) -> None:
        """A click on a line selects it; one on the selected line does it."""
        line = self._top + event.line - 1
        place = self._places[line] if 0 <= line < len(self._places) and event.line else NOTHING
        if place == NOTHING:
            return
        if place == self.place:
            self._submitted(self._typed)
        else:
            self.place = place
            self._panel.repaint()

    def on_painted_wheeled(self, event: Painted.Wheeled) -> None:
        """The wheel scrolls."""
        for _ in range(LINES_A_TURN):
            self.action_move("list_down" if event.by > 0 else "list_up")
