"""Finding on a screen: `/` asks for a pattern, `n` and `N` go along what it found."""

from functools import partial

from textual.worker import get_current_worker

from ..model.finding import Matches, PatternError, compiled, find, match_from
from ..model.index import NO_STAGE, TimelineIndex
from ..model.look import select
from .ask import AskLine
from .host import Host

PROMPT = "find (a regular expression): kinds of stages, ops, labels of handles, kernel lines"

AT_ONCE_STAGES = 1 << 18
"""So many stages are searched before the next picture, more of them by a thread."""


def pattern_complaint(text: str) -> str:
    """What is wrong with a pattern; '' where nothing is."""
    try:
        compiled(text)
    except PatternError as error:
        return str(error)
    return ""


class Finder:
    """The last pattern, and what it found in the timeline that the cursor is in."""

    def __init__(self, screen: Host) -> None:
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
        self._pattern = pattern
        self._search(0)

    def go(self, by: int) -> None:
        """The next (by=1) or previous match, beyond the last one the first again."""
        if not self._pattern:
            self._screen.say("nothing to find yet: / asks for a pattern")
        elif self._found is not None and self._in is self._screen.index:
            self._go(self._found, by)
        else:
            self._search(by)

    def _search(self, by: int) -> None:
        """Finds, and goes from the cursor: by=0 stays on a match."""
        index, pattern = self._screen.index, self._pattern
        self._found, self._in = None, index
        if len(index) <= AT_ONCE_STAGES:
            self._keep(find(index, pattern), by)
        else:
            self._screen.say(f"searching for {pattern} …")
            self._screen.run_worker(partial(self._work, index, pattern, by), thread=True)

    def _work(self, index: TimelineIndex, pattern: str, by: int) -> None:
        """In a thread."""
        matches, worker = find(index, pattern), get_current_worker()
        if not worker.is_cancelled:
            self._screen.app.call_from_thread(self._keep, matches, by)

    def _keep(self, matches: Matches, by: int) -> None:
        """What was found, unless something else is wanted by now."""
        if matches.pattern == self._pattern and self._in is self._screen.index:
            self._found = matches
            self._go(matches, by)

    def _go(self, matches: Matches, by: int) -> None:
        screen, here = self._screen, self._screen.look.stage
        place, stage = match_from(matches, screen.index, here, by or 1)
        if not by and here != NO_STAGE and len(matches):
            before = (place - 1) % len(matches)
            place, stage = (before, here) if matches.stage(before) == here else (place, stage)
        if stage == NO_STAGE:
            screen.say(f"no match for {matches.pattern}")
        else:
            screen.go(select(screen.index, screen.look, stage), matches.words(place))
