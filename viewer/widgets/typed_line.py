"""A line to type in, whose keys mean what they should however quickly they come.

Over a slow link many keys arrive at once: `/fetch`, Enter, `n`. Enter is done in its turn, after the
characters before it, and what comes behind it waits until then: it is for the screen in front by then.
"""

from collections.abc import Callable
from typing import Protocol, cast

from textual import events
from textual.widgets import Input


class TakesKeys(Protocol):
    """The app, which gives keys to the line."""

    def line_has_taken_enter(self) -> None: ...


class TypedLine(Input):
    """`submitted` is called with the text on Enter; it closes the screen, or says what is wrong. Where
    the screen is closed or another lies over it, Enter is not for this line any more.
    """

    def __init__(
        self,
        submitted: Callable[[str], None],
        text: str = "",
        *,
        id: str,
        placeholder: str = "",
        select_on_focus: bool = False,
    ) -> None:
        super().__init__(text, placeholder, id=id, select_on_focus=select_on_focus)
        self._submitted = submitted

    async def _on_key(self, event: events.Key) -> None:
        if event.key != "enter":
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        if self.screen.is_active:
            self._submitted(self.value)
        cast(TakesKeys, self.app).line_has_taken_enter()
