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

    @dataclass
    class Dragged(Message):
        """The pointer went from column `begun` to `column` with the button down; `is_done` once it is up."""

        begun: int
        column: int
        is_done: bool

    def on_mount(self) -> None:
        self._pressed: int | None = None
        self._is_dragged = False

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._pressed, self._is_dragged = event.x, False
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """With the button down, a drag from the second column on."""
        if self._pressed is None or (event.x == self._pressed and not self._is_dragged):
            return
        self._is_dragged = True
        self.post_message(self.Dragged(self._pressed, event.x, is_done=False))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()
        if self._pressed is not None and self._is_dragged:
            self.post_message(self.Dragged(self._pressed, event.x, is_done=True))
        self._pressed = None

    def on_click(self, event: events.Click) -> None:
        event.stop()
        if not self._is_dragged:
            self.post_message(self.Picked(event.x, event.y))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_message(self.Wheeled(event.x, -1, event.shift))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(self.Wheeled(event.x, 1, event.shift))
