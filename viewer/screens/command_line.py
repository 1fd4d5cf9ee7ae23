"""The line after `:` or `/`: Tab completes what is typed, and above it stands how it could go on."""

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen
from textual.widgets import Input

from ..model.help import entries_line, offers_line
from ..model.text import Line, Span, fit_line
from ..model.tones import Paint, tone
from ..typed import completed
from ..widgets.painted import Painted
from ..widgets.typed_line import TypedLine


class CommandLine(ModalScreen[str | None]):
    """Closes with what was typed, or with None on Escape.

    `prompt` is of entries with ` · ` between them, as many are shown as fit. `complaint` is given the
    text and says what is wrong with it; '' where nothing is. `offers` gives the whole texts as which
    one could go on, with `behind` behind the only one. `text` stands there at first and gives way to
    what is typed.
    """

    BINDINGS: ClassVar = [Binding("escape,ctrl+c", "dismiss(None)", show=False, priority=True)]
    ALLOW_SELECT = False

    def __init__(
        self,
        prompt: str,
        complaint: Callable[[str], str],
        offers: Callable[[str], tuple[str, ...]],
        text: str = "",
        behind: str = " ",
    ) -> None:
        super().__init__()
        self._prompt = prompt
        self._complaint = complaint
        self._offers = offers
        self._behind = behind
        self._found: tuple[str, ...] = ()
        self._wrong = self._refused = ""
        self._above = Painted(self._painted, id="prompt")
        self.line = TypedLine(self._submitted, text, id="typed", select_on_focus=True)

    def compose(self) -> ComposeResult:
        yield self._above
        yield self.line

    def _painted(self, width: int, _: int) -> list[Line]:
        if self._wrong:
            return [fit_line((Span(f" {self._wrong}", tone(Paint.VIOLATED)),), width)]
        if self._found:
            return [offers_line(self._found, width)]
        return [entries_line(self._prompt, width)]

    def on_key(self, event: events.Key) -> None:
        """Tab completes what has been typed."""
        if event.key == "tab":
            event.stop()
            event.prevent_default()
            line = self.line
            found = self._offers(line.value)
            self._found = found
            self._say("" if found else "nothing completes this")
            line.value = completed(line.value, found, self._behind)
            line.cursor_position = len(line.value)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Shows how it could go on. A change from before the Enter leaves what that said."""
        typed = self.line.value  # `event.value` may be of keys before others that came at once
        self._found = self._offers(typed) if typed else ()
        if not self._wrong or typed != self._refused:
            self._say("")

    def _submitted(self, text: str) -> None:
        """Enter."""
        wrong = self._complaint(text)
        if wrong:
            self._say(wrong)
        else:
            self.dismiss(text)

    def _say(self, wrong: str) -> None:
        """What is wrong with what is typed; '' for nothing, the text may go on."""
        self._wrong = wrong
        self._refused = self.line.value if wrong else ""
        self._above.repaint()
