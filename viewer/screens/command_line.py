"""The line after `:`: one types what to do, Tab completes, and above it stands how it could go on."""

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen
from textual.widgets import Input

from ..model.index import TimelineIndex
from ..model.text import Line, Span, fit_line
from ..model.tones import ACCENT, MUTED, Paint, tone
from ..typed import completed, completions
from ..widgets.painted import Painted
from ..widgets.typed_line import TypedLine

PROMPT = "7.4us · #31 · command 31 · pe 5 · line 118 · find K · export csv NAME · or any action"


class CommandLine(ModalScreen[str | None]):
    """Closes with what was typed, or with None on Escape.

    `complaint` is given the text and says what is wrong with it; '' where nothing is.
    """

    BINDINGS: ClassVar = [Binding("escape,ctrl+c", "dismiss(None)", show=False, priority=True)]
    ALLOW_SELECT = False

    def __init__(self, index: TimelineIndex, complaint: Callable[[str], str]) -> None:
        super().__init__()
        self._index = index
        self._complaint = complaint
        self._words: Line = (Span(f" {PROMPT}", MUTED),)

    def compose(self) -> ComposeResult:
        yield Painted(lambda width, _: [fit_line(self._words, width)], id="prompt")
        yield TypedLine(self._submitted, id="typed")

    def on_key(self, event: events.Key) -> None:
        """Tab completes what has been typed."""
        if event.key == "tab":
            event.stop()
            event.prevent_default()
            line = self.query_one(Input)
            line.value = completed(line.value, self._index)
            line.cursor_position = len(line.value)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Shows how it could go on."""
        found = completions(event.value, self._index)
        line: Line = (Span(f" {PROMPT}", MUTED),)
        if event.value and found:
            line = (Span(" "), *(Span(f"{text}  ", ACCENT) for text in found))
        self._say(line)

    def _submitted(self, text: str) -> None:
        """Enter."""
        wrong = self._complaint(text)
        if wrong:
            self._say((Span(f" {wrong}", tone(Paint.VIOLATED)),))
        else:
            self.dismiss(text)

    def _say(self, words: Line) -> None:
        self._words = words
        self.query_one("#prompt", Painted).repaint()
