"""A panel laid over the lower part of the timeline: lines that scroll, closed by one key."""

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from ..action import Action
from ..actions import in_lists, named
from ..model.lists import moved
from ..model.text import Line, Span, fit_line
from ..model.tones import FAINT, STRONG
from ..widgets.painted import Painted

FRAME_LINES = 2
"""The title above the lines, and an empty line below."""


def bindings(actions: tuple[Action, ...]) -> list[BindingType]:
    """The keys of some actions, for a screen that has `action_do`."""
    return [
        Binding(key, f"do('{action.name}')", action.words, show=False, priority=True)
        for action in actions
        for key in action.keys
    ]


class Panel(ModalScreen[int | None]):
    """A title and lines, the first of them at `place`. Enter and the key that opened it close it."""

    BINDINGS = bindings(in_lists())
    AUTO_FOCUS = None
    ALLOW_SELECT = False

    def __init__(self, title: str, opened_by: str, lines: Callable[[int], list[Line]]) -> None:
        super().__init__()
        self._title_words = title
        self._opening_keys = named(opened_by).keys
        self._lines = lines
        self.place = 0

    def compose(self) -> ComposeResult:
        yield Painted(self._painted, id="panel")

    def on_key(self, event: events.Key) -> None:
        """The key that opened the panel closes it."""
        if event.key in self._opening_keys:
            event.stop()
            event.prevent_default()
            self.dismiss(None)

    def count(self) -> int:
        """How many places there are."""
        return len(self._lines(self.panel.size.width))

    def shown(self, width: int, height: int) -> list[Line]:
        """The lines from `place` on."""
        lines = self._lines(width)
        self.place = max(0, min(self.place, len(lines) - height))
        return lines[self.place : self.place + height]

    @property
    def panel(self) -> Painted:
        return self.query_one("#panel", Painted)

    def _painted(self, width: int, height: int) -> list[Line]:
        words = f"── {self._title_words} "
        title = (Span(words, STRONG), Span("─" * (width - len(words)), FAINT))
        room = max(height - FRAME_LINES, 1)
        body = self.shown(width, room)
        blank = fit_line((), width)
        return [fit_line(title, width), *body, *[blank] * (room - len(body) + 1)][:height]

    def action_do(self, name: str) -> None:
        """Carries out a list action by its name in the action table."""
        if name == "close":
            self.dismiss(None)
        elif name == "choose":
            self.choose()
        else:
            page = max(self.panel.size.height - FRAME_LINES - 1, 1)
            self.place = moved(name, self.place, self.count(), page)
            self.panel.repaint()

    def choose(self) -> None:
        """Enter: lines without a choice are closed by it."""
        self.dismiss(None)
