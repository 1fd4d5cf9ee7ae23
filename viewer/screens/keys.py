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
from ..model.lists import moved, scroll_top, unseen
from ..model.text import Line
from ..panel_actions import BOOKMARKS, CALIBRATE, COMPARE, HAZARDS, LISTS, MACHINE, SUMMARY
from ..widgets.painted import Painted
from ..widgets.typed_line import TypedLine

LISTED_KEYS = {
    "down": "list_down",
    "up": "list_up",
    "pagedown": "list_page_down",
    "pageup": "list_page_up",
}
NOTHING = -1

OF_TIMELINE = "of the timeline"
SCREENS = {
    SUMMARY: "of the summary",
    LISTS: "of lists and panels",
    BOOKMARKS: "of the list of bookmarks",
    CALIBRATE: "of the calibration panel",
    HAZARDS: "of the list of hazards",
    COMPARE: "of two timelines side by side",
    MACHINE: "of the machine view",
}
"""Where the keys of a section work that are not the timeline's."""

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


def show_keys(screen: Asking, own: tuple[Action, ...], answered: tuple[Action, ...] = ()) -> None:
    """Lists all actions, those that the screen has (`own`) first; the chosen one is done, or it is said
    why not. `answered` are others that the screen knows how to answer.
    """
    screen.app.push_screen(KeysScreen(own), partial(_do_chosen, screen, own, answered))


def _do_chosen(
    screen: Asking, own: tuple[Action, ...], answered: tuple[Action, ...], name: str | None
) -> None:
    if name is None:
        return
    action = named(name)
    if name in BY_APP:
        screen.app.action_suspend_process()
    elif (action in own or action in answered) and not action.argument:
        screen.action_do(name)
    else:
        screen.say(why_not_here(action, own))


def why_not_here(action: Action, own: tuple[Action, ...]) -> str:
    """Why a screen that has the actions `own` does not do this one: it is typed, its key means something
    else here, or it is for another screen.
    """
    if not action.keys:
        can_be = any(one.name == "command_line" for one in own)
        return f"type {action.shown}" if can_be else f"{action.shown} is typed on the timeline"
    keys = set(action.keys)
    other = next((one for one in own if keys.intersection(one.keys)), None)
    if other is not None:
        return f"{action.shown} means here: {other.words}"
    return f"{action.shown} is a key {SCREENS.get(action.section, OF_TIMELINE)}"


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
        title = help_title(width, unseen(len(listed.lines), self._top, room))
        return [title, *shown, *[listed.blank] * (room - len(shown))][:height]

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
