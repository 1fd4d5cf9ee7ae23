"""A panel laid over the lower part of the timeline: lines that scroll, closed by one key."""

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from ..action import Action
from ..actions import everywhere, named
from ..model.help import more_line, no_key_words, panel_title
from ..model.lists import ALL_SEEN, end_words, moved, unseen_among
from ..model.text import Line, cells, fit_line, is_blank
from ..panel_actions import LISTS, in_section
from ..widgets.painted import Painted
from .host import PictureAsked, ThemeAsked
from .keys import LINES_A_TURN, show_keys

FRAME_LINES = 2
"""The title above the lines, and below them what the list has above and below what is shown."""


def bindings(actions: tuple[Action, ...]) -> list[BindingType]:
    """The keys of some actions, for a screen that has `action_do`."""
    return [
        Binding(key, f"do('{action.name}')", action.words, show=False, priority=True)
        for action in actions
        for key in action.keys
    ]


OPENERS = tuple(
    named(name)
    for name in (
        "hazards",
        "calibrate",
        "path_steps",
        "bookmarks",
        "deadlock",
        "area_figures",
        "stage_box",
    )
)
"""What opens panels. Each closes its own by the same key; in another, a key of its own goes first."""

_OPENER_NAMES = {action.name for action in OPENERS}


class Panel(ModalScreen[int | None]):
    """A title and lines, the first of them at `place`. Enter and the key that opened it close it."""

    OWN = (*in_section(LISTS), *everywhere())
    """The actions of the panel: what its class has besides is added to these."""

    KEYS = "Enter go there"
    """What the title says of them, as far as there is room, besides those of every panel."""

    BINDINGS = bindings((*OPENERS, *OWN))
    AUTO_FOCUS = None
    ALLOW_SELECT = False

    def __init__(self, title: str, opened_by: str, lines: Callable[[int], list[Line]]) -> None:
        super().__init__()
        self._title_words = self._view = title
        self._opened_by = opened_by
        self._lines = lines
        self._message = ""
        self.place = 0
        self.unseen = ALL_SEEN
        self.panel = Painted(self._painted, id="panel")

    def compose(self) -> ComposeResult:
        yield self.panel

    def takes(self, key: str) -> bool:
        """Whether it is known what the key means; TakesKeysNow tells when it comes to be."""
        return True

    def count(self) -> int:
        """How many places there are."""
        return len(self._lines(self.panel.size.width))

    def shown(self, width: int, height: int) -> list[Line]:
        """The lines from `place` on; leaves in `unseen` what is not among them."""
        lines = self._lines(width)
        self.place = max(0, min(self.place, len(lines) - height))
        self.unseen = unseen_among([not is_blank(line) for line in lines], self.place, height)
        return lines[self.place : self.place + height]

    def place_at(self, line: int) -> int | None:
        """The place that a line of what is shown stands for; None for one that cannot be chosen."""
        return None

    def move_to(self, place: int) -> None:
        """Another place."""
        self.place = max(0, min(place, self.count() - 1))
        self.panel.repaint()

    def _painted(self, width: int, height: int) -> list[Line]:
        said = self._message
        words = f"{self._title_words} · {said}" if said else self._title_words
        if said and cells(words) > width - len("──  "):
            words = said
        title = panel_title(words, self.KEYS, width, is_said=bool(said))
        room = max(height - FRAME_LINES, 1)
        body = self.shown(width, room)
        blank = fit_line((), width)
        filled = [title, *body, *[blank] * (room - len(body))]
        return [*filled, more_line(self.unseen, width)][:height]

    def action_do(self, name: str) -> None:
        """Carries out a list action by its name in the action table."""
        self._message = ""
        match name:
            case "close":
                self.dismiss(None)
            case opener if opener in _OPENER_NAMES:
                if opener == self._opened_by:
                    self.dismiss(None)
                else:
                    self.say(f"Esc closes this, then {named(opener).shown} opens that")
            case "choose":
                self.choose()
            case "help":
                show_keys(self, self.OWN, OPENERS)
            case "save_picture":
                self.post_message(PictureAsked(self.say, self._view))
            case "save_table":
                self.save_listed()
            case "theme":
                self.app.post_message(ThemeAsked())
            case _:
                self._move(name)

    def _move(self, name: str) -> None:
        """Another line, or what there is to say where there is none."""
        page = max(self.panel.size.height - FRAME_LINES - 1, 1)
        before, count = self.place, self.count()
        self.move_to(moved(name, before, count, page))
        if self.place == before:
            self.say(end_words(name, count))

    def on_key(self, event: events.Key) -> None:
        """A key that is none here."""
        self.say(no_key_words(event.key, event.character))

    def say(self, message: str) -> None:
        """Says something in the title, until the next key."""
        self._message = message
        self.panel.repaint()

    def save_listed(self) -> None:
        """Saves what is listed, where there is a table of it."""
        self.say("there is no table of this to save; e saves the screen")

    def choose(self) -> None:
        """Enter: lines without a choice are closed by it."""
        self.dismiss(None)

    # ---------------------------------------------------------------- mouse

    def on_painted_clicked(self, event: Painted.Clicked) -> None:
        """A click on a line selects it; one on the selected line is Enter."""
        place = self.place_at(event.line - 1) if event.line else None
        if place is not None and place == self.place:
            self.choose()
        elif place is not None:
            self.move_to(place)

    def on_painted_wheeled(self, event: Painted.Wheeled) -> None:
        """The wheel scrolls."""
        self.move_to(self.place + event.by * LINES_A_TURN)

    def on_click(self, event: events.Click) -> None:
        """A click beside the panel closes it."""
        if event.widget is self:
            self.dismiss(None)
