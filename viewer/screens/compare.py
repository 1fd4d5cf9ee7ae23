"""Two timelines side by side: two panes, one axis, one cursor, and where the difference comes from."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from ...schemas.errors import KerntapeError
from ..actions import named
from ..model import frame, pointing
from ..model.comparing import (
    LOWER,
    UPPER,
    Comparison,
    Pair,
    apart_words,
    followed,
    marked,
    moved,
    pair_at,
    regrouped,
    swapped,
    to_difference,
    to_divergence,
)
from ..model.comparing_lines import (
    DIFFERENCE_COLUMNS,
    TABLE_HEAD_LINES,
    difference_lines,
    difference_rows,
    heading_line,
    lead_lines,
    pane_line,
)
from ..model.hazards import HazardIndex
from ..model.help import hint_line, no_key_words
from ..model.index import NO_STAGE, TimelineIndex
from ..model.lists import ALL_SEEN, end_words, unseen
from ..model.look import Look
from ..model.rows import scrolled, unseen_rows
from ..model.said import said
from ..model.text import Line, Span, fit_line
from ..model.tones import MUTED, STRONG
from ..model.unmatched import unmatched_lines
from ..widgets.painted import Painted
from .compare_keys import FIRST_HINTS, HINTS, MARKING, OWN, QUIT
from .finder import Finder
from .from_thread import shown_by
from .host import LeaveAsked, PictureAsked, ThemeAsked
from .keys import show_keys
from .panel import bindings
from .saving import save_table

HEAD_LINES, LEAD_LINES = 3, 3
"""Heading, ruler and the upper pane's head; who is ahead, and by how much."""

FIXED_LINES = 8
"""These, the lower pane's head and the hints."""

LEAST_TABLE_LINES = 3


class CompareScreen(Screen[int | None]):
    """Opens as one looks at the `own` side, and closes with the stage of that side that the cursor is at.

    The two are lined up in a thread; `complaint` is why they cannot be. It is the first screen of all,
    or was asked for: then its keys for quitting only close it.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(OWN)
    AUTO_FOCUS = None
    ALLOW_SELECT = False

    def __init__(
        self,
        upper: TimelineIndex,
        lower: TimelineIndex,
        own: int,
        look: Look,
        *,
        is_first: bool = False,
    ) -> None:
        super().__init__()
        self._indexes = (upper, lower)
        self._own = own
        self._opened_at = look
        self._is_first = is_first
        self.comparison: Comparison | None = None
        self.pair: Pair | None = None
        self.complaint = ""
        self.finder = Finder(self)
        self._message = ""
        self._top = 0
        self._unseen = ALL_SEEN
        self._rows = 0
        self._page = Painted(self._painted, id="compare")

    def compose(self) -> ComposeResult:
        yield self._page

    def on_mount(self) -> None:
        self.run_worker(self._line_up, thread=True)

    def _line_up(self) -> None:
        try:
            comparison = Comparison(*self._indexes)
            pair = pair_at(comparison, self._own, self._opened_at)
            comparison.differences(pair.level)
        except KerntapeError as error:
            self._tell(None, None, str(error))
        else:
            self._tell(comparison, pair, "")

    def _tell(self, comparison: Comparison | None, pair: Pair | None, complaint: str) -> None:
        shown_by(self, self._show, comparison, pair, complaint)

    def _show(self, comparison: Comparison | None, pair: Pair | None, complaint: str) -> None:
        self.comparison, self.pair, self.complaint = comparison, pair, complaint
        self.repaint()

    def repaint(self) -> None:
        """Paints again what has changed."""
        self._page.repaint()

    # ---------------------------------------------------------------- the cursor's side, as a host

    @property
    def index(self) -> TimelineIndex:
        """The timeline that the cursor is in."""
        assert self.comparison is not None
        return self.comparison.sides[self._paired.active]

    @property
    def hazards(self) -> HazardIndex:
        """Its hazards."""
        assert self.comparison is not None
        return self.comparison.hazards[self._paired.active]

    @property
    def look(self) -> Look:
        """Where one looks in it."""
        return self._paired.look

    @property
    def _paired(self) -> Pair:
        assert self.pair is not None
        return self.pair

    def go(self, look: Look, message: str = "") -> None:
        """Looks there on the cursor's side; the other follows."""
        assert self.comparison is not None
        self.pair, self._message = followed(self.comparison, self._paired, look), message
        self.repaint()

    def say(self, message: str) -> None:
        """Says something in the last line, until the next key."""
        self._message = message
        self.repaint()

    # ---------------------------------------------------------------- painting

    def _painted(self, width: int, height: int) -> list[Line]:
        comparison, pair = self.comparison, self.pair
        if comparison is None or pair is None:
            lines = [fit_line((Span(" lining the two timelines up …", MUTED),), width)]
            if self.complaint:
                lines = unmatched_lines(*self._indexes, self.complaint, width)
            lines += [fit_line((), width)] * (height - 1 - len(lines))
            return [*lines[: max(height - 1, 0)], self._last_line(width)]
        room = max(height - FIXED_LINES, 0)
        self._rows = rows = max((room - max(room // 4, LEAST_TABLE_LINES)) // 2, 0)
        table_room = max(room - 2 * rows, 0)
        table, self._top = difference_lines(comparison, pair, self._top, width, table_room)
        count = len(comparison.differences(pair.level))
        self._unseen = unseen(count, self._top, max(table_room - TABLE_HEAD_LINES, 0))
        lines = [
            heading_line(comparison, width),
            frame.ruler_line(comparison.sides[pair.active], pair.look, width),
            *self._pane(UPPER, width),
            *lead_lines(comparison, pair, width),
            *self._pane(LOWER, width),
            *table,
        ]
        return [*lines[: height - 1], self._last_line(width)]

    def _last_line(self, width: int) -> Line:
        if self._message:
            return fit_line((Span(f" {self._message}", STRONG),), width)
        if self.complaint:
            goes_on = (("x", f"to {self._indexes[self._own].name} alone"), ("?", "keys"))
            return hint_line((*goes_on, QUIT) if self._is_first else goes_on, width)
        return hint_line(FIRST_HINTS if self._is_first else HINTS, width, self._unseen)

    def _pane(self, side: int, width: int) -> list[Line]:
        """A pane's head and its rows, scrolled to the one of the cursor."""
        assert self.comparison is not None
        index, hazards = self.comparison.sides[side], self.comparison.hazards[side]
        look = scrolled(index, self._paired.looks[side], self._rows)
        unseen = unseen_rows(index, look, self._rows)
        head = pane_line(self.comparison, self._paired, side, width, unseen)
        return [head, *frame.row_lines(index, hazards, look, width, self._rows)]

    # ---------------------------------------------------------------- keys

    def action_do(self, name: str) -> None:
        """Carries out an action by its name in the action table."""
        self._message = ""
        match name:
            case "quit_comparison" if self._is_first:
                self.post_message(LeaveAsked())
            case "leave_comparison" | "quit_comparison":
                self._leave()
                return
            case "help":
                show_keys(self, OWN)
            case "save_picture":
                self.post_message(PictureAsked(self.say, "compare"))
            case "theme":
                self.post_message(ThemeAsked())
            case _ if self.complaint:
                self._message = "nothing is lined up to look at: x goes on"
            case _ if self.comparison is not None and self.pair is not None:
                self._do(name, self.comparison, self.pair)
        self.repaint()

    def _do(self, name: str, comparison: Comparison, pair: Pair) -> None:
        match name:
            case "next_difference" | "previous_difference":
                by, way = (1, "list_down") if name == "next_difference" else (-1, "list_up")
                self._turn(to_difference(comparison, pair, by), end_words(way, pair.chosen + 1))
            case "first_divergence":
                self._turn(to_divergence(comparison, pair), apart_words(comparison))
            case "swap_sides":
                self.pair = swapped(comparison, pair)
            case "regroup":
                self.pair = regrouped(pair)
            case "find_beside":
                self.finder.ask()
            case "match_after" | "match_before":
                self.finder.go(1 if name == "match_after" else -1)
            case "save_table":
                rows = difference_rows(comparison, pair)
                save_table(self, "compare", DIFFERENCE_COLUMNS, rows, "the table")
            case _:
                self._move(name, comparison, pair)

    def _turn(self, pair: Pair, if_alike: str) -> None:
        """Another pair, or what there is to say where it is the same."""
        self._message = if_alike if pair == self.pair else ""
        self.pair = pair

    def _move(self, name: str, comparison: Comparison, pair: Pair) -> None:
        move = named(name).move
        if move is not None:
            follow = marked if name in MARKING else moved
            self.pair = after = follow(comparison, pair, move)
            self._message = said(name, self.index, pair.look, after.look)

    def _leave(self) -> None:
        stage = NO_STAGE if self.pair is None else self.pair.looks[self._own].stage
        self.dismiss(None if stage == NO_STAGE else stage)

    def on_key(self, event: events.Key) -> None:
        """A key that is none here."""
        self.say(no_key_words(event.key, event.character))

    # ---------------------------------------------------------------- mouse

    def on_painted_clicked(self, event: Painted.Clicked) -> None:
        """A click selects a stage on either side, or a line of the table."""
        comparison, pair = self.comparison, self.pair
        if comparison is None or pair is None:
            return
        lower = HEAD_LINES + self._rows + LEAD_LINES
        table = lower + 1 + self._rows + TABLE_HEAD_LINES
        for side, first in ((UPPER, HEAD_LINES), (LOWER, lower + 1)):
            if first - 1 <= event.line < first + self._rows:
                self.pair = pair = pair if pair.active == side else swapped(comparison, pair)
                cell, size = (event.column, event.line - first), (self.size.width, self._rows)
                look = scrolled(self.index, pair.look, self._rows)
                self.go(pointing.pick_row(self.index, look, cell, size))
        place = self._top + event.line - table
        if event.line >= table and place < len(comparison.differences(pair.level)):
            self.pair = to_difference(comparison, pair, place - pair.chosen)
            self.repaint()

    def on_painted_wheeled(self, event: Painted.Wheeled) -> None:
        """The wheel zooms around the pointer; with shift it pans."""
        if self.comparison is None:
            return
        if event.shift:
            self.go(pointing.wheel_pan(self.index, self.look, event.by))
        else:
            width = self.size.width
            self.go(pointing.wheel(self.index, self.look, event.column, event.by, width))
