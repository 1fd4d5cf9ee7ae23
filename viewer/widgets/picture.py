"""The picture: the ruler and the rows, on which the mouse can drag as well."""

from dataclasses import dataclass

from textual import events
from textual.message import Message

from .painted import Painted


class Picture(Painted):
    """Tells of a drag by its columns, besides clicks and the wheel."""

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
        """The end of a drag is no click."""
        if self._is_dragged:
            event.stop()
            event.prevent_default()
