"""A widget that shows lines computed by the model, and paints again only those that changed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ..model.text import Line
from ..model.tones import TEXT
from .palette import Palette

Painter = Callable[[int, int], list[Line]]
"""Gives the lines for a width and a height."""


class Coloured(Protocol):
    """The app, of which a widget knows no more than its palette."""

    @property
    def palette(self) -> Palette: ...


def strip_of(line: Line, width: int, palette: Palette) -> Strip:
    """A line that takes `width` cells as a strip."""
    return Strip(map(palette.segment, line), width)


class Painted(Widget):
    """Shows what its painter gives for its size, on every `repaint` and when the size changes.

    Tells of clicks and of the wheel by cell, counted from its top left; what they mean is the
    screen's to say.
    """

    @dataclass
    class Clicked(Message):
        """A click on a cell of the widget `place`."""

        place: str
        column: int
        line: int

    @dataclass
    class Wheeled(Message):
        """A turn of the wheel over a cell of the widget `place`: `by` −1 is away from the user, with or
        without shift.
        """

        place: str
        column: int
        by: int
        shift: bool

    can_focus = False

    def __init__(self, painter: Painter, *, id: str) -> None:
        super().__init__(id=id)
        self._painter = painter
        self._lines: list[Line] = []
        self._width = 0
        self._place = id

    @property
    def lines(self) -> list[Line]:
        """What is shown; nothing while the widget is hidden."""
        return self._lines if self.display else []

    def on_resize(self) -> None:
        """Lines are as wide as the widget, so a new size needs new ones."""
        self.repaint()

    def repaint(self) -> None:
        """Asks the painter again; lines that stay the same are left alone. Where another screen
        covers this one, nothing is asked: the screen repaints when it is seen again. Nor is it where
        the screen is not there yet, or no longer: it is painted when it gets its size.
        """
        if not self.is_attached or self._is_covered:
            return
        self._width = self.size.width
        before, self._lines = self._lines, self._painter(self._width, self.size.height)
        if len(before) != len(self._lines):
            self.refresh()
            return
        pairs = enumerate(zip(before, self._lines, strict=True))
        changed = [Region(0, y, self.size.width, 1) for y, (old, new) in pairs if old != new]
        if changed:
            self.refresh(*changed)

    @property
    def _is_covered(self) -> bool:
        """Whether a screen that leaves nothing of this one to be seen lies over it."""
        stack = self.app.screen_stack
        above = stack[stack.index(self.screen) + 1 :] if self.screen in stack else []
        return not all(screen.is_modal for screen in above)

    def render_line(self, y: int) -> Strip:
        """One line as a strip, exactly as wide as the widget."""
        if y >= len(self._lines):
            return Strip.blank(self.size.width, self._palette.style(TEXT))
        strip = strip_of(self._lines[y], self._width, self._palette)
        return strip.adjust_cell_length(self.size.width, self._palette.style(TEXT))

    @property
    def _palette(self) -> Palette:
        return cast(Coloured, self.app).palette

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Clicked(self._place, event.x, event.y))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_message(self.Wheeled(self._place, event.x, -1, event.shift))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(self.Wheeled(self._place, event.x, 1, event.shift))
