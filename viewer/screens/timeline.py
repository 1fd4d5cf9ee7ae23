"""The main screen: header, minimap, picture, stage box, and the last lines. Holds the one look."""

from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.screen import Screen

from ..actions import HINTS, named, on_timeline, sections
from ..model import frame, pointing
from ..model.hazards import HazardIndex
from ..model.help import help_lines, hint_line
from ..model.index import TimelineIndex
from ..model.look import Look, first_look, scrolled, show_pair
from ..model.stage_box import box_lines, strip_lines
from ..model.text import Line, Span, fit_line
from ..model.tones import STRONG
from ..widgets.painted import Painted
from ..widgets.picture import Picture
from .hazards import HazardPanel
from .jump import JumpLine
from .panel import Panel, bindings
from .summary import SummaryPanel

RULER_LINES = 1

BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (150, "-very-wide")]
"""From how many columns on browser.tcss lays the screen out in which way."""


class TimelineScreen(Screen[None]):
    """Keys make a new look from the old one; everything is painted from it."""

    class ExportAsked(Message):
        """The user wants this screen as a picture; `screen` is told what came of it."""

        def __init__(self, screen: "TimelineScreen") -> None:
            super().__init__()
            self.screen = screen

    BINDINGS = bindings(on_timeline())
    AUTO_FOCUS = None
    ALLOW_SELECT = False
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS

    def __init__(self, index: TimelineIndex) -> None:
        super().__init__()
        self.index = index
        self.hazards = HazardIndex(index)
        self.look: Look = first_look(index)
        self._message = ""

    def compose(self) -> ComposeResult:
        yield Painted(self._header, id="header")
        yield Painted(self._minimap, id="minimap")
        with Horizontal(id="middle"):
            yield Picture(self._picture, id="picture")
            yield Painted(self._box, id="box")
        yield Painted(self._strip, id="strip")
        yield Painted(self._last_lines, id="last")

    # ---------------------------------------------------------------- painting

    def _header(self, width: int, _: int) -> list[Line]:
        return [frame.header_line(self.index, width)]

    def _minimap(self, width: int, _: int) -> list[Line]:
        return frame.minimap_lines(self.index, self.hazards, self.look, width)

    def _picture(self, width: int, height: int) -> list[Line]:
        rows = max(height - RULER_LINES, 0)
        self.look = scrolled(self.index, self.look, rows)
        ruler = frame.ruler_line(self.index, self.look, width)
        return [ruler, *frame.row_lines(self.index, self.hazards, self.look, width, rows)]

    def _box(self, width: int, height: int) -> list[Line]:
        return box_lines(self.index, self.hazards, self.look, width, height)

    def _strip(self, width: int, _: int) -> list[Line]:
        return strip_lines(self.index, self.look, width)

    def _last_lines(self, width: int, _: int) -> list[Line]:
        return [
            frame.why_line(self.index, self.hazards, self.look, width),
            frame.trail_line(self.index, self.look, width),
            frame.kernel_line(self.index, self.look, width),
            self._hints(width),
        ]

    def _hints(self, width: int) -> Line:
        if self._message:
            return fit_line((Span(f" {self._message}", STRONG),), width)
        return hint_line(HINTS, width)

    def go(self, look: Look, message: str = "") -> None:
        """Looks there, and says something in the last line."""
        self.look, self._message = look, message
        for painted in self.query(Painted):
            painted.repaint()

    def say(self, message: str) -> None:
        """Says something in the last line, until the next move."""
        self.go(self.look, message)

    # ---------------------------------------------------------------- keys

    def action_do(self, name: str) -> None:
        """Carries out an action by its name in the action table."""
        action = named(name)
        if action.move is not None:
            self.go(action.move(self.index, self.look))
            return
        match name:
            case "hazards":
                self.app.push_screen(HazardPanel(self.index, self.hazards), self._show_hazard)
            case "summary":
                self.app.push_screen(SummaryPanel(self.index, self.hazards))
            case "jump":
                self.app.push_screen(JumpLine(self.index, self.look), self._jumped)
            case "help":
                self.app.push_screen(Panel("keys", "help", partial(help_lines, tuple(sections()))))
            case "export":
                self.post_message(self.ExportAsked(self))
            case "quit":
                self.app.exit()

    def _show_hazard(self, row: int | None) -> None:
        if row is None:
            return
        sites = self.hazards.sites
        earlier, later = int(sites.earlier[row]), int(sites.later[row])
        if min(earlier, later) >= 0:
            look = show_pair(self.index, self.look, earlier, later)
            self.go(look, self.hazards.sentence(row))

    def _jumped(self, look: Look | None) -> None:
        if look is not None:
            self.go(look)

    # ---------------------------------------------------------------- mouse

    def on_picture_picked(self, event: Picture.Picked) -> None:
        """A click selects a stage, or folds a group."""
        size = self.query_one(Picture).size
        cell = (event.column, event.line)
        self.go(pointing.pick(self.index, self.look, *cell, (size.width, size.height)))

    def on_picture_wheeled(self, event: Picture.Wheeled) -> None:
        """The wheel zooms around the pointer; with shift it pans."""
        if event.shift:
            self.go(pointing.wheel_pan(self.index, self.look, event.by))
            return
        width = self.query_one(Picture).size.width
        self.go(pointing.wheel(self.index, self.look, event.column, event.by, width))
