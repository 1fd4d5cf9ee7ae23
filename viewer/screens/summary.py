"""The summary, on which the browser opens: what the engines did and waited for, the path, the hazards."""

from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from ..actions import on_timeline, without_keys_of
from ..model import frame
from ..model.engine_table import ENGINE_COLUMNS, engine_rows
from ..model.hazard_groups import hazard_groups
from ..model.hazards import HazardIndex
from ..model.help import hint_line, no_key_words
from ..model.index import TimelineIndex
from ..model.lists import ALL_SEEN, end_words, moved, scroll_top, unseen_among
from ..model.summary import engine_uses_of, path_summary_of
from ..model.summary_lines import Added, SummaryLine, Target, chosen_line, summary_lines
from ..model.text import Line, Span, fit_line
from ..model.tones import STRONG
from ..panel_actions import SUMMARY, in_section
from ..widgets.painted import Painted
from .from_thread import shown_by
from .host import PictureAsked, ThemeAsked
from .keys import LINES_A_TURN, show_keys
from .panel import bindings
from .saving import save_table

FIXED_LINES = 3
"""The header, an empty line, the hints."""

NOTHING = -1

HINTS = (
    ("Enter", "timeline"),
    ("↑ ↓", "choose a line"),
    ("⇥", "hazards"),
    ("c", "calibrate"),
    ("g", "machine"),
    ("?", "keys"),
    ("q", "quit"),
)
"""The keys of the screen's last line."""


OWN = (*in_section(SUMMARY), *without_keys_of(on_timeline(), in_section(SUMMARY)))
"""The summary's actions, and the timeline's whose keys mean nothing here: those lead to it and are
done there, but for those that every screen has.
"""


class SummaryScreen(Screen[Target | str | None]):
    """Closes with where to go, with the name of an action to do on the timeline, or with None.

    It is the first screen of all, or was asked for: then its keys for quitting only close it.
    `chosen` is what the line is about that is chosen, as soon as it is there.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(OWN)
    AUTO_FOCUS = None
    ALLOW_SELECT = False

    def __init__(
        self,
        index: TimelineIndex,
        hazards: HazardIndex,
        *,
        is_first: bool,
        chosen: Target | None = None,
    ) -> None:
        super().__init__()
        self.chosen = chosen
        self._index = index
        self._hazards = hazards
        self._is_first = is_first
        self._added = Added()
        self._message = ""
        self._top = 0
        self._unseen = ALL_SEEN
        self._page = Painted(self._painted, id="summary")

    def compose(self) -> ComposeResult:
        yield self._page

    def on_mount(self) -> None:
        self.run_worker(self._add_up, thread=True)

    def _add_up(self) -> None:
        """In a thread, one after the other, the quick ones first; what is known is shown."""
        index, hazards = self._index, self._hazards
        added = Added(path=path_summary_of(index), hazards=hazard_groups(index, hazards))
        self._tell(added)
        self._tell(replace(added, engines=engine_uses_of(index)))

    def _tell(self, added: Added) -> None:
        shown_by(self, self._show, added)

    def _show(self, added: Added) -> None:
        self._added = added
        self._repaint()

    # ---------------------------------------------------------------- painting

    def _lines(self) -> list[SummaryLine]:
        width, room = self.size.width, max(self.size.height - FIXED_LINES, 0)
        return summary_lines(self._index, self._hazards, self._added, width, room)

    def _painted(self, width: int, height: int) -> list[Line]:
        lines = self._lines()
        room = max(height - FIXED_LINES, 0)
        at = self._line_of_chosen(lines)
        if at != NOTHING:
            self._top = scroll_top(self._top, at, len(lines), room)
        self._top = max(0, min(self._top, len(lines) - room))
        self._unseen = unseen_among([not one.is_head for one in lines], self._top, room)
        body = [chosen_line(one.line) if i == at else one.line for i, one in enumerate(lines)]
        body = body[self._top : self._top + room]
        blank = fit_line((), width)
        body += [blank] * (room - len(body))
        head = [frame.header_line(self._index, width), blank]
        return [*head, *body, self._last_line(width)][-height:]

    def _last_line(self, width: int) -> Line:
        if self._message:
            return fit_line((Span(f" {self._message}", STRONG),), width)
        hints = HINTS if self._is_first else (*HINTS[:-1], ("q", "back"))
        return hint_line(hints, width, self._unseen)

    def _line_of_chosen(self, lines: list[SummaryLine]) -> int:
        if self.chosen is None:
            return NOTHING
        return next((at for at, one in enumerate(lines) if one.target == self.chosen), NOTHING)

    def _repaint(self) -> None:
        self._page.repaint()

    def say(self, message: str) -> None:
        """Says something in the last line, until the next key."""
        self._message = message
        self._repaint()

    # ---------------------------------------------------------------- keys

    def action_do(self, name: str) -> None:
        """Carries out an action by its name in the action table."""
        self._message = ""
        match name:
            case "to_timeline":
                self.dismiss(self._target())
            case "leave_summary":
                self.dismiss(None)
            case "quit":
                self.dismiss("quit" if self._is_first else None)
            case "help":
                show_keys(self, OWN)
            case "save_picture":
                self.post_message(PictureAsked(self.say, "summary"))
            case "save_table":
                self._save_table()
            case "theme":
                self.post_message(ThemeAsked())
            case _ if name in MOVES:
                self._move(MOVES[name])
            case _:
                self.dismiss(name)

    def _save_table(self) -> None:
        if self._added.engines is None:
            self.say("the engines' times are being added up; E again saves them")
        else:
            rows = engine_rows(self._added.engines)
            save_table(self, "summary", ENGINE_COLUMNS, rows, "the engines' times")

    def _targets(self) -> list[Target]:
        lines = self._lines()
        return [one.target for one in lines if one.target is not None]

    @property
    def place(self) -> int:
        """The chosen line among those that can be chosen, from top to bottom; NOTHING where none is."""
        targets = self._targets()
        return targets.index(self.chosen) if self.chosen in targets else NOTHING

    @place.setter
    def place(self, place: int) -> None:
        targets = self._targets()
        self.chosen = targets[place] if 0 <= place < len(targets) else None

    def _target(self) -> Target | None:
        """What the chosen line is about, if it is there."""
        return self.chosen if self.chosen in self._targets() else None

    def _move(self, name: str) -> None:
        """Another line; the lines that cannot be chosen are scrolled past."""
        count = len(self._targets())
        page = max(self.size.height - FIXED_LINES - 1, 1)
        before = self.place, self._top
        if name == "list_up" and before[0] <= 0:
            self.place, self._top = NOTHING, 0
        elif count:
            self.place = moved(name, before[0], count, page)
        if (self.place, self._top) == before:
            self._message = end_words(name, count)
        self._repaint()

    def on_key(self, event: events.Key) -> None:
        """A key that is none here."""
        self.say(no_key_words(event.key, event.character))

    # ---------------------------------------------------------------- mouse

    def on_painted_clicked(self, event: Painted.Clicked) -> None:
        """A click on a line selects it; one on the selected line goes there."""
        lines = self._lines()
        at = self._top + event.line - (FIXED_LINES - 1)
        if not FIXED_LINES - 1 <= event.line < self.size.height - 1 or at >= len(lines):
            return
        if lines[at].target is None:
            return
        place = sum(1 for one in lines[:at] if one.target is not None)
        if place == self.place:
            self.action_do("to_timeline")
        else:
            self.place = place
            self._repaint()

    def on_painted_wheeled(self, event: Painted.Wheeled) -> None:
        """The wheel scrolls."""
        self.place = NOTHING
        self._top += event.by * LINES_A_TURN
        self._repaint()


MOVES = {
    "line_down": "list_down",
    "line_up": "list_up",
    "page_of_lines_down": "list_page_down",
    "page_of_lines_up": "list_page_up",
    "first_line": "list_first",
    "last_line": "list_last",
}
"""The moves of a list, by the summary's names for them."""
