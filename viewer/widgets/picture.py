"""The picture: the ruler and the rows, and what the mouse does on them."""

from dataclasses import dataclass

from textual import events
from textual.message import Message

from .painted import Painted


class Picture(Painted):
    """Tells of clicks and of the wheel by cell; what they mean is the screen's to say."""

    @dataclass
    class Picked(Message):
        """A click on a cell, counted from the picture's top left."""

        column: int
        line: int

    @dataclass
    class Wheeled(Message):
        """A turn of the wheel over a cell: `by` −1 is away from the user, with or without shift."""

        column: int
        by: int
        shift: bool

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Picked(event.x, event.y))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_message(self.Wheeled(event.x, -1, event.shift))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(self.Wheeled(event.x, 1, event.shift))
