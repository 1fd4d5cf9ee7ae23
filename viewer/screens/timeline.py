"""The main screen: header, minimap, picture, stage box, and the last lines. Holds the one look."""

from pathlib import Path

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen

from ...schemas.timeline import Status
from ..actions import HINTS, named, on_timeline
from ..model import frame, pointing
from ..model.hazards import HazardIndex, own_hazards
from ..model.help import hint_line, no_key_words, said_lines
from ..model.index import TimelineIndex
from ..model.lists import ALL_SEEN
from ..model.look import Look, first_look
from ..model.marking import delta_words
from ..model.minimap import minimap_lines, minimap_room
from ..model.reopened import dropped_words, look_again, reopened_words
from ..model.rows import rows_height, rows_words, scrolled, unseen_rows
from ..model.said import said
from ..model.stage_box import box_lines, strip_lines
from ..model.text import Line
from ..widgets.painted import Painted
from ..widgets.picture import Picture
from .background import Background
from .bookmarks import Bookmarks
from .doings import DOINGS, show_area
from .finder import Finder
from .left_off import LeftOff
from .other_views import COMPARES_NOT, OTHER_VIEWS, OtherViews
from .panel import bindings
from .player import Player
from .reload import Reload, Reopen

DEADLOCK_WORDS = "the run stopped here for ever: ! shows who waits for whom"

PLAYING = ("play_faster", "play_slower")
"""What leaves playing going on."""

BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (150, "-very-wide")]
"""From how many columns on browser.tcss lays the screen out in which way."""


class TimelineScreen(Screen[None]):
    """Keys make a new look from the old one; everything is painted from it."""

    BINDINGS = bindings(on_timeline())
    AUTO_FOCUS = None
    ALLOW_SELECT = False
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS

    def __init__(
        self,
        index: TimelineIndex,
        other: TimelineIndex | None = None,
        path: Path | None = None,
        reopen: Reopen | None = None,
    ) -> None:
        super().__init__()
        self.index = index
        self.hazards = own_hazards(index)
        self.look = first_look(index)
        self._message = DEADLOCK_WORDS if index.timeline.status is Status.DEADLOCK else ""
        self._unseen_rows = ALL_SEEN
        self.finder, self.player = Finder(self), Player(self)
        self.left_off = LeftOff()
        self.background = Background(self)
        self.bookmarks = Bookmarks(self, path)
        self.others = OtherViews(self, other)
        self.reload = Reload(self, lambda: self.others.opened, reopen)

    def compose(self) -> ComposeResult:
        yield Painted(self._header, id="header")
        yield Painted(self._minimap, id="minimap")
        with Horizontal(id="middle"):
            yield Picture(self._picture, id="picture")
            yield Painted(self._box, id="box")
        yield Painted(self._strip, id="strip")
        yield Painted(self._last_lines, id="last")

    def on_mount(self) -> None:
        """The summary comes first; two files are shown side by side at once."""
        if self.others.other is not None:
            self.others.compare(is_first=True)
        else:
            self.others.summary(is_first=True)
        self.background.prepare()

    def on_resize(self) -> None:
        """A higher screen shows more rows, of which more may have to be worked out; the last line says
        how many it does not.
        """
        self.background.begin()
        self.call_after_refresh(self.repaint)

    def on_screen_resume(self) -> None:
        """What changed while another screen lay over this one is shown now."""
        self.others.renew()
        self.reload.renew()
        self.repaint()

    # ---------------------------------------------------------------- painting

    def _header(self, width: int, _: int) -> list[Line]:
        return [frame.header_line(self.index, width, rows_words(self.look), delta_words(self.look))]

    def _minimap(self, width: int, _: int) -> list[Line]:
        return minimap_lines(self.index, self.hazards, self.look, width)

    def _picture(self, width: int, height: int) -> list[Line]:
        rows = rows_height(self.index, self.look, width, height)
        self.look = scrolled(self.index, self.look, rows)
        self._unseen_rows = unseen_rows(self.index, self.look, rows)
        ruler = frame.ruler_line(self.index, self.look, width)
        lines = [ruler, *frame.row_lines(self.index, self.hazards, self.look, width, rows)]
        return [*lines, *frame.overlay_lines(self.index, self.look, width)][:height]

    def _box(self, width: int, height: int) -> list[Line]:
        return box_lines(self.index, self.hazards, self.look, width, height)

    def _strip(self, width: int, _: int) -> list[Line]:
        return strip_lines(self.index, self.look, width)

    def _last_lines(self, width: int, _: int) -> list[Line]:
        lines = [
            frame.why_line(self.index, self.hazards, self.look, width),
            frame.trail_line(self.index, self.look, width),
            frame.kernel_line(self.index, self.look, width),
            hint_line(HINTS, width, self._unseen_rows),
        ]
        said = said_lines(self._message, width)
        return [*lines[: len(lines) - len(said)], *said]

    def go(self, look: Look, message: str = "") -> None:
        """Looks there, and says something in the last line."""
        self.look, self._message = look, message
        self.background.begin()
        self.repaint()

    def show(
        self, index: TimelineIndex, hazards: HazardIndex, look: Look, *, keeps_words: bool = False
    ) -> None:
        """Shows another timeline, or more about the same one; the last line may keep what it says."""
        self.index, self.hazards = index, hazards
        self.go(look, self._message if keeps_words else "")

    def take_reopened(self, indexes: tuple[TimelineIndex, ...]) -> None:
        """Shows what the files hold now in place of what they held. What was turned is turned again, if
        from the same numbers, and bookmarks go along.
        """
        index, *others = indexes
        before, was = (self.index, self.look), self.others
        turned = was.recalibration.settings
        dropped = dropped_words(turned, index.timeline)
        was.end()
        self.show(index, own_hazards(index), look_again(self.index, index, self.look))
        self.others = OtherViews(self, *others)
        self.bookmarks.take_along(index)
        if not turned.is_base and not dropped:
            self.others.turn_again(turned, before)
        self.say(reopened_words(was.opened[0], before, (index, self.look)) + dropped)

    def repaint(self) -> None:
        """Paints again what has changed."""
        for painted in self.query(Painted):
            painted.repaint()

    def say(self, message: str) -> None:
        """Says something in the last line, until the next key."""
        self.go(self.look, message)

    # ---------------------------------------------------------------- keys

    def action_do(self, name: str) -> None:
        """Carries out an action by its name in the action table. All but the speed ends playing. What was
        said until now is said no more.
        """
        if self._message:
            self.say("")
        was_playing = self.player.is_playing
        if was_playing and name not in PLAYING:
            self.player.stop()
        if was_playing and name == "play":
            return
        action = named(name)
        if action.move is not None:
            after = action.move(self.index, self.look)
            self.go(after, said(name, self.index, self.look, after))
        elif name in OTHER_VIEWS:
            OTHER_VIEWS[name](self.others)
        else:
            DOINGS[name](self)

    def on_key(self, event: events.Key) -> None:
        """A key without an action ends playing too; else it is said to be none."""
        if self.player.is_playing:
            self.player.stop()
        elif event.key == "escape":
            was_waiting = self.others.compares_not()
            self.say(
                COMPARES_NOT if was_waiting else "nothing is open that Esc would close: q quits"
            )
        else:
            self.say(no_key_words(event.key, event.character))

    def on_recalibrated(self) -> None:
        """Shows the newest complete timeline, and what was measured."""
        self.others.renew()

    # ---------------------------------------------------------------- mouse

    def on_painted_clicked(self, event: Painted.Clicked) -> None:
        """A click selects a stage, or folds a group; one on the minimap goes there, one on the box shows
        it whole.
        """
        if event.place == "picture":
            size = self.query_one(Picture).size
            cell = (event.column, event.line)
            self.go(pointing.pick(self.index, self.look, *cell, (size.width, size.height)))
        elif event.place in ("box", "strip"):
            self.action_do("stage_box")
        elif event.place == "minimap":
            width = self.query_one("#minimap", Painted).size.width
            room = minimap_room(self.index, self.hazards, self.look, width)
            self.go(pointing.pick_on_map(self.index, self.look, event.column, room))

    def on_picture_dragged(self, event: Picture.Dragged) -> None:
        """A drag chooses an area; while it goes on, its end follows the pointer."""
        width = self.query_one(Picture).size.width
        self.go(pointing.drag(self.index, self.look, event.begun, event.column, width))
        if event.is_done:
            show_area(self)

    def on_painted_wheeled(self, event: Painted.Wheeled) -> None:
        """The wheel zooms around the pointer; with shift it pans, and beside the picture too."""
        if event.shift or event.place != "picture":
            self.go(pointing.wheel_pan(self.index, self.look, event.by))
            return
        width = self.query_one(Picture).size.width
        self.go(pointing.wheel(self.index, self.look, event.column, event.by, width))
