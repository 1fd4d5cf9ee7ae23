"""Finding on the main screen: `/` asks for a pattern, `n` and `N` go along what it found."""

from typing import TYPE_CHECKING

from ..model.finding import Matches, PatternError, compiled, find, match_from
from ..model.index import NO_STAGE, TimelineIndex
from ..model.look import select
from .ask import AskLine

if TYPE_CHECKING:
    from .timeline import TimelineScreen

PROMPT = "find (a regular expression): kinds of stages, ops, labels of handles, kernel lines"


def pattern_complaint(text: str) -> str:
    """What is wrong with a pattern; '' where nothing is."""
    try:
        compiled(text)
    except PatternError as error:
        return str(error)
    return ""


class Finder:
    """The last pattern, and what it found in the timeline that is shown."""

    def __init__(self, screen: "TimelineScreen") -> None:
        self._screen = screen
        self._pattern = ""
        self._found: Matches | None = None
        self._in: TimelineIndex | None = None

    def ask(self) -> None:
        """Asks for a pattern and goes to the first match."""
        line = AskLine(PROMPT, pattern_complaint, self._pattern)
        self._screen.app.push_screen(line, self._answered)

    def _answered(self, pattern: str | None) -> None:
        if pattern:
            self.find(pattern)

    def find(self, pattern: str) -> None:
        """Goes to the first match from the cursor on, the cursor's own stage included."""
        self._pattern, self._found = pattern, None
        matches, here = self._matches(), self._screen.look.stage
        if len(matches) and here != NO_STAGE and here in matches.stages:
            place = int((matches.stages == here).argmax())
            self._screen.go(self._screen.look, matches.words(place))
        else:
            self.go(1)

    def go(self, by: int) -> None:
        """The next (by=1) or previous match, beyond the last one the first again."""
        screen = self._screen
        if not self._pattern:
            screen.say("nothing to find yet: / asks for a pattern")
            return
        matches = self._matches()
        place, stage = match_from(matches, screen.index, screen.look.stage, by)
        if stage == NO_STAGE:
            screen.say(f"no match for {self._pattern}")
        else:
            screen.go(select(screen.index, screen.look, stage), matches.words(place))

    def _matches(self) -> Matches:
        if self._found is None or self._in is not self._screen.index:
            self._in = self._screen.index
            self._found = find(self._in, self._pattern)
        return self._found
