"""A widget that shows lines computed by the model, and paints again only those that changed."""

from collections.abc import Callable

from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from ..model.text import Line
from ..model.tones import TEXT
from .palette import style_of

Painter = Callable[[int, int], list[Line]]
"""Gives the lines for a width and a height."""


def strip_of(line: Line, width: int) -> Strip:
    """A line that takes `width` cells as a strip."""
    return Strip([Segment(text, style_of(tone)) for text, tone in line], width)


class Painted(Widget):
    """Shows what its painter gives for its size, on every `repaint` and when the size changes."""

    can_focus = False

    def __init__(self, painter: Painter, *, id: str) -> None:
        super().__init__(id=id)
        self._painter = painter
        self._lines: list[Line] = []
        self._width = 0

    @property
    def lines(self) -> list[Line]:
        """What is shown; nothing while the widget is hidden."""
        return self._lines if self.display else []

    def on_resize(self) -> None:
        """Lines are as wide as the widget, so a new size needs new ones."""
        self.repaint()

    def repaint(self) -> None:
        """Asks the painter again; lines that stay the same are left alone."""
        self._width = self.size.width
        before, self._lines = self._lines, self._painter(self._width, self.size.height)
        if len(before) != len(self._lines):
            self.refresh()
            return
        pairs = enumerate(zip(before, self._lines, strict=True))
        changed = [Region(0, y, self.size.width, 1) for y, (old, new) in pairs if old != new]
        if changed:
            self.refresh(*changed)

    def render_line(self, y: int) -> Strip:
        """One line as a strip, exactly as wide as the widget."""
        if y >= len(self._lines):
            return Strip.blank(self.size.width, style_of(TEXT))
        return strip_of(self._lines[y], self._width).adjust_cell_length(self.size.width)
