"""The line in which one types where to go: a time (7.4us) or a command (#31)."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen
from textual.widgets import Input

from ..model import times
from ..model.index import TimelineIndex
from ..model.look import Look
from ..model.steps import to_command, to_time
from ..model.text import Line, Span, fit_line
from ..model.tones import MUTED, Paint, tone
from ..widgets.painted import Painted

PROMPT = "where to: 7.4us, 12345ns, 3ms, or a command: #31"


def jump(index: TimelineIndex, look: Look, text: str) -> Look:
    """The look at what was typed. Raises TimeTextError where it is neither a time nor a command."""
    command = text.strip().removeprefix("#")
    if text.strip().startswith("#") and command.isdecimal():
        found = to_command(index, look, int(command))
        if found is look:
            raise times.TimeTextError(f"command {command} has no stage on this PE")
        return found
    return to_time(index, look, times.parse(text))


class JumpLine(ModalScreen[Look | None]):
    """Closes with the new look, or with None on Escape; what it cannot read it says and stays."""

    BINDINGS: ClassVar = [Binding("escape,ctrl+c", "dismiss(None)", show=False, priority=True)]
    ALLOW_SELECT = False

    def __init__(self, index: TimelineIndex, look: Look) -> None:
        super().__init__()
        self._index = index
        self._look = look
        self._words: Line = (Span(f" {PROMPT}", MUTED),)

    def compose(self) -> ComposeResult:
        yield Painted(lambda width, _: [fit_line(self._words, width)], id="prompt")
        yield Input(id="where", select_on_focus=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter."""
        try:
            self.dismiss(jump(self._index, self._look, event.value))
        except times.TimeTextError as error:
            self._words = (Span(f" {error}", tone(Paint.VIOLATED)),)
            self.query_one("#prompt", Painted).repaint()
