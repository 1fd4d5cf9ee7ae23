"""A line in which one types an answer; what is wrong with it is said, and can be typed again."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

from ..model.text import Line, Span, fit_line
from ..model.tones import MUTED, Paint, tone
from ..widgets.painted import Painted
from ..widgets.typed_line import TypedLine


class AskLine(ModalScreen[str | None]):
    """Closes with what was typed, or with None on Escape.

    `complaint` is given the text and says what is wrong with it; '' where nothing is.
    """

    BINDINGS: ClassVar = [Binding("escape,ctrl+c", "dismiss(None)", show=False, priority=True)]
    ALLOW_SELECT = False

    def __init__(self, prompt: str, complaint: Callable[[str], str], text: str = "") -> None:
        super().__init__()
        self._complaint = complaint
        self._words: Line = (Span(f" {prompt}", MUTED),)
        self._prompt = Painted(lambda width, _: [fit_line(self._words, width)], id="prompt")
        self.line = TypedLine(self._submitted, text, id="answer", select_on_focus=True)

    def compose(self) -> ComposeResult:
        yield self._prompt
        yield self.line

    def _submitted(self, text: str) -> None:
        """Enter."""
        wrong = self._complaint(text)
        if not wrong:
            self.dismiss(text)
            return
        self._words = (Span(f" {wrong}", tone(Paint.VIOLATED)),)
        self._prompt.repaint()
