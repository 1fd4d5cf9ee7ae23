"""What the parts of a screen may ask of the screen that they are parts of: a timeline and a look at it.

The main screen and the screen of two timelines are such hosts; their parts (finding, playing,
bookmarks, what threads work out) know no more of them than this.
"""

from collections.abc import Callable
from typing import Protocol

from textual.app import App
from textual.message import Message
from textual.timer import Timer

from ..model.hazards import HazardIndex
from ..model.index import TimelineIndex
from ..model.look import Look


class PictureAsked(Message):
    """The user wants the screen as a picture, under a name or '' for one made of the file's and of
    `view`, the screen's; `say` is told what came of it.
    """

    def __init__(self, say: Callable[[str], None], view: str, name: str = "") -> None:
        super().__init__()
        self.say = say
        self.view = view
        self.name = name


class ThemeAsked(Message):
    """The user wants the other colours: light ones for dark, or dark ones for light."""


class TakesKeysNow(Message):
    """A screen that keys had to wait for knows by now what they mean."""


class LeaveAsked(Message):
    """The user wants to leave the browser."""


class Host(Protocol):
    """A screen that shows a timeline where its look looks."""

    @property
    def app(self) -> App[object]: ...
    @property
    def is_attached(self) -> bool: ...
    @property
    def index(self) -> TimelineIndex: ...
    @property
    def hazards(self) -> HazardIndex: ...
    @property
    def look(self) -> Look: ...

    def go(self, look: Look, message: str = "") -> None:
        """Looks there, and says something in the last line."""

    def say(self, message: str) -> None:
        """Says something in the last line, until the next key."""

    def repaint(self) -> None:
        """Paints again what has changed."""

    def run_worker(
        self, work: Callable[[], None], *, group: str = "default", thread: bool = False
    ) -> object:
        """Textual's: does some work, in a thread."""

    def set_interval(self, interval: float, callback: Callable[[], None]) -> Timer:
        """Textual's: calls back again and again."""

    def post_message(self, message: Message) -> bool:
        """Textual's: tells the screen and the app."""


class ShowingHost(Host, Protocol):
    """A screen whose timeline another one can take the place of."""

    def show(
        self, index: TimelineIndex, hazards: HazardIndex, look: Look, *, keeps_words: bool = False
    ) -> None:
        """Shows another timeline, or more about the same one; the last line may keep what it says."""
