"""Two timelines side by side: two panes, one axis, one cursor, and where the difference comes from."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.worker import get_current_worker

from ...schemas.errors import KerntapeError
from ..action import Action
from ..actions import ROWS, STAGES, TIME, WHY, everywhere, named, on_timeline, without_keys_of
from ..model import frame, pointing
from ..model.comparing import (
    LOWER,
    UPPER,
    Comparison,
    Pair,
    first_pair,
    followed,
    marked,
    moved,
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
from ..model.help import hint_line
from ..model.index import NO_STAGE, TimelineIndex
from ..model.look import Look
from ..model.rows import scrolled
from ..model.text import Line, Span, fit_line
from ..model.tones import MUTED, STRONG, Paint, tone
from ..panel_actions import COMPARE, in_section
from ..widgets.painted import Painted
from .finder import Finder
from .host import ExportAsked, ThemeAsked
from .keys import show_keys
from .panel import bindings
from .saving import save_table

HEAD_LINES, LEAD_LINES = 3, 3
"""Heading, ruler and the upper pane's head; who is ahead, and by how much."""

FIXED_LINES = 8
"""These, the lower pane's head and the hints."""

LEAST_TABLE_LINES = 3

MARKING = ("set_mark", "to_mark")

HINTS = (
    (", .", "stage"),
    ("n N", "differences"),
    ("v", "first apart"),
    ("⇥", "other side"),
    ("g", "group"),
    ("/", "find"),
    ("m", "mark"),
    ("?", "keys"),
    ("x", "back"),
)


def compare_moves() -> tuple[Action, ...]:
    """The timeline's moves that work here too: those whose keys this screen does not need itself."""
    moves = (
        action
        for action in on_timeline()
        if action.move is not None
        and action.section in (STAGES, ROWS, TIME, WHY)
        and action.name != "idle"
    )
    return without_keys_of(tuple(moves), (*in_section(COMPARE), *everywhere()))


OWN = (*in_section(COMPARE), *compare_moves(), *everywhere())


class CompareScreen(Screen[int | None]):
    """Closes with the stage of the `own` side that the cursor is at.

    The two are lined up in a thread; `complaint` is why they cannot be.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(OWN)
    AUTO_FOCUS = None
    ALLOW_SELECT = False

    def __init__(self, upper: TimelineIndex, lower: TimelineIndex, own: int) -> None:
        super().__init__()
        self._indexes = (upper, lower)
        self._own = own
        self.comparison: Comparison | None = None
        self.pair: Pair | None = None
        self.complaint = ""
        self.finder = Finder(self)
        self._message = ""
        self._top = 0
        self._rows = 0

    def compose(self) -> ComposeResult:
        yield Painted(self._painted, id="compare")

    def on_mount(self) -> None:
        self.run_worker(self._line_up, thread=True)

    def _line_up(self) -> None:
        try:
            comparison = Comparison(*self._indexes)
            pair = first_pair(comparison)
            comparison.differences(pair.level)
        except KerntapeError as error:
            self._tell(None, None, str(error))
        else:
            self._tell(comparison, pair, "")

    def _tell(self, comparison: Comparison | None, pair: Pair | None, complaint: str) -> None:
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._show, comparison, pair, complaint)

    def _show(self, comparison: Comparison | None, pair: Pair | None, complaint: str) -> None:
        self.comparison, self.pair, self.complaint = comparison, pair, complaint
        self.repaint()

    def repaint(self) -> None:
        """Paints again what has changed."""
        self.query_one("#compare", Painted).repaint()

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
            looks = tone(Paint.VIOLATED) if self.complaint else MUTED
            words = self.complaint or "lining the two timelines up …"
            blank = [fit_line((), width)] * max(height - 2, 0)
            return [fit_line((Span(f" {words}", looks),), width), *blank, hint_line(HINTS, width)]
        room = max(height - FIXED_LINES, 0)
        self._rows = rows = max((room - max(room // 4, LEAST_TABLE_LINES)) // 2, 0)
        table, self._top = difference_lines(
            comparison, pair, self._top, width, max(room - 2 * rows, 0)
        )
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
        return hint_line(HINTS, width)

    def _pane(self, side: int, width: int) -> list[Line]:
        """A pane's head and its rows, scrolled to the one of the cursor."""
        assert self.comparison is not None
        index, hazards = self.comparison.sides[side], self.comparison.hazards[side]
        look = scrolled(index, self._paired.looks[side], self._rows)
        head = pane_line(self.comparison, self._paired, side, width)
        return [head, *frame.row_lines(index, hazards, look, width, self._rows)]

    # ---------------------------------------------------------------- keys

    def action_do(self, name: str) -> None:
        """Carries out an action by its name in the action table."""
        self._message = ""
        match name:
            case "leave_comparison":
                self._leave()
                return
            case "help":
                show_keys(self, OWN)
            case "export":
                self.post_message(ExportAsked(self.say))
            case "theme":
                self.post_message(ThemeAsked())
            case _ if self.comparison is not None and self.pair is not None:
                self._do(name, self.comparison, self.pair)
        self.repaint()

    def _do(self, name: str, comparison: Comparison, pair: Pair) -> None:
        match name:
            case "next_difference":
                self.pair = to_difference(comparison, pair, 1)
            case "previous_difference":
                self.pair = to_difference(comparison, pair, -1)
            case "first_divergence":
                self.pair = to_divergence(comparison, pair)
            case "swap_sides":
                self.pair = swapped(comparison, pair)
            case "regroup":
                self.pair = regrouped(pair)
            case "find_beside":
                self.finder.ask()
            case "match_after" | "match_before":
                self.finder.go(1 if name == "match_after" else -1)
            case "export_csv":
                rows = difference_rows(comparison, pair)
                save_table(self, "differences", DIFFERENCE_COLUMNS, rows, "the table")
            case _:
                self._move(name, comparison, pair)

    def _move(self, name: str, comparison: Comparison, pair: Pair) -> None:
        move = named(name).move
        if move is not None:
            follow = marked if name in MARKING else moved
            self.pair = follow(comparison, pair, move)

    def _leave(self) -> None:
        stage = NO_STAGE if self.pair is None else self.pair.looks[self._own].stage
        self.dismiss(None if stage == NO_STAGE else stage)

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
