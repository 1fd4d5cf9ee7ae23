"""Two timelines side by side: two panes, one axis, one cursor, and where the difference comes from."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.worker import get_current_worker

from ...schemas.errors import KerntapeError
from ..action import Action
from ..actions import ROWS, STAGES, TIME, WHY, named, on_timeline
from ..model import frame
from ..model.comparing import (
    LOWER,
    UPPER,
    Comparison,
    Pair,
    first_pair,
    moved,
    regrouped,
    swapped,
    to_difference,
    to_divergence,
)
from ..model.comparing_lines import difference_lines, heading_line, lead_lines, pane_line
from ..model.help import hint_line
from ..model.index import NO_STAGE, TimelineIndex
from ..model.rows import scrolled
from ..model.text import Line, Span, fit_line
from ..model.tones import MUTED, Paint, tone
from ..panel_actions import COMPARE, in_section
from ..widgets.painted import Painted
from .panel import bindings

FIXED_LINES = 8
"""Heading, ruler, the heads of the two panes, the lead's three lines, the hints."""

LEAST_TABLE_LINES = 3

HINTS = (
    (", .", "stage"),
    ("n N", "differences"),
    ("v", "first apart"),
    ("⇥", "other side"),
    ("g", "group"),
    ("W S", "zoom"),
    ("x", "back"),
)


def compare_moves() -> tuple[Action, ...]:
    """The timeline's moves that work here too: those whose keys this screen does not need itself."""
    mine = {key for action in in_section(COMPARE) for key in action.keys}
    return tuple(
        action
        for action in on_timeline()
        if action.move is not None
        and action.section in (STAGES, ROWS, TIME, WHY)
        and not mine.intersection(action.keys)
    )


class CompareScreen(Screen[int | None]):
    """Closes with the stage of the `own` side that the cursor is at.

    The two are lined up in a thread; `complaint` is why they cannot be.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings((*in_section(COMPARE), *compare_moves()))
    AUTO_FOCUS = None
    ALLOW_SELECT = False

    def __init__(self, upper: TimelineIndex, lower: TimelineIndex, own: int) -> None:
        super().__init__()
        self._indexes = (upper, lower)
        self._own = own
        self.comparison: Comparison | None = None
        self.pair: Pair | None = None
        self.complaint = ""
        self._top = 0

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
        self._repaint()

    def _repaint(self) -> None:
        self.query_one("#compare", Painted).repaint()

    # ---------------------------------------------------------------- painting

    def _painted(self, width: int, height: int) -> list[Line]:
        if self.comparison is None or self.pair is None:
            looks = tone(Paint.VIOLATED) if self.complaint else MUTED
            words = self.complaint or "lining the two timelines up …"
            blank = [fit_line((), width)] * max(height - 2, 0)
            return [fit_line((Span(f" {words}", looks),), width), *blank, hint_line(HINTS, width)]
        room = max(height - FIXED_LINES, 0)
        rows = max((room - max(room // 4, LEAST_TABLE_LINES)) // 2, 0)
        upper, lower = self._pane(UPPER, width, rows), self._pane(LOWER, width, rows)
        pair = self.pair
        table, self._top = difference_lines(
            self.comparison, pair, self._top, width, max(room - 2 * rows, 0)
        )
        active = self.comparison.sides[pair.active]
        lines = [
            heading_line(self.comparison, width),
            frame.ruler_line(active, pair.look, width),
            *upper,
            *lead_lines(self.comparison, pair, width),
            *lower,
            *table,
        ]
        return [*lines[: height - 1], hint_line(HINTS, width)]

    def _pane(self, side: int, width: int, height: int) -> list[Line]:
        """A pane's head and its rows, scrolled to the one of the cursor."""
        assert self.comparison is not None
        assert self.pair is not None
        index, hazards = self.comparison.sides[side], self.comparison.hazards[side]
        look = scrolled(index, self.pair.looks[side], height)
        head = pane_line(self.comparison, self.pair, side, width)
        return [head, *frame.row_lines(index, hazards, look, width, height)]

    # ---------------------------------------------------------------- keys

    def action_do(self, name: str) -> None:
        """Carries out an action by its name in the action table."""
        if name == "leave_comparison":
            self._leave()
            return
        comparison, pair = self.comparison, self.pair
        if comparison is None or pair is None:
            return
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
            case _:
                self._move(name, comparison, pair)
        self._repaint()

    def _move(self, name: str, comparison: Comparison, pair: Pair) -> None:
        move = named(name).move
        if move is not None:
            self.pair = moved(comparison, pair, move)

    def _leave(self) -> None:
        stage = NO_STAGE if self.pair is None else self.pair.looks[self._own].stage
        self.dismiss(None if stage == NO_STAGE else stage)
