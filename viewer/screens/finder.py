"""Finding on a screen: `/` asks for a pattern, `n` and `N` go along what it found."""

from functools import partial

from ..model.finding import (
    PREFIXES,
    Matches,
    find,
    find_completions,
    match_from,
    no_match_words,
    wanted_of,
)
from ..model.index import NO_STAGE, TimelineIndex
from ..model.look import jump
from ..model.matching import PatternError, compiled, is_quick
from .command_line import CommandLine
from .from_thread import shown_by
from .host import Host

PROMPT = f"find (a regular expression) anywhere · {' '.join(PREFIXES)} in that only · Tab completes"

AT_ONCE_STAGES = 1 << 18
"""So many stages are searched before the next picture; more of them by a thread, and with a pattern that
may take long.
"""


def pattern_complaint(text: str) -> str:
    """What is wrong with a pattern; '' where nothing is."""
    try:
        compiled(text)
    except PatternError as error:
        return str(error)
    return ""


def find_complaint(text: str) -> str:
    """What is wrong with a pattern to find, its prefix included; '' where nothing is."""
    try:
        wanted_of(text)
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
        self._steps = 0

    def ask(self) -> None:
        """Asks for a pattern and goes to the first match."""
        offers = partial(find_completions, self._screen.index)
        line = CommandLine(PROMPT, find_complaint, offers, self._pattern, behind="")
        self._screen.app.push_screen(line, self._answered)

    def _answered(self, pattern: str | None) -> None:
        if pattern:
            self.find(pattern)

    def find(self, pattern: str) -> None:
        """Goes to the first match from the cursor on, the cursor's own stage included."""
        self._pattern = pattern
        self._search(0)

    def go(self, by: int) -> None:
        """The next (by=1) or previous match, beyond the last one the first again; while it is searched,
        as soon as that is done.
        """
        if not self._pattern:
            self._screen.say("nothing to find yet: / asks for a pattern")
        elif self._in is not self._screen.index:
            self._search(by)
        elif self._found is not None:
            self._go(self._found, by)
        else:
            self._steps += by

    def _search(self, by: int) -> None:
        """Finds, and goes from the cursor: by=0 stays on a match."""
        index, pattern = self._screen.index, self._pattern
        self._found, self._in, self._steps = None, index, 0
        if len(index) <= AT_ONCE_STAGES and is_quick(wanted_of(pattern).regex):
            self._keep(find(index, pattern), by)
        else:
            self._screen.say(f"searching for {pattern} …")
            self._screen.run_worker(partial(self._work, index, pattern, by), thread=True)

    def _work(self, index: TimelineIndex, pattern: str, by: int) -> None:
        """In a thread."""
        try:
            matches = find(index, pattern)
        except PatternError as error:
            shown_by(self._screen, self._give_up, pattern, str(error))
        else:
            shown_by(self._screen, self._keep, matches, by)

    def _give_up(self, pattern: str, why: str) -> None:
        """Nothing will be found, and why."""
        if pattern == self._pattern:
            self._in = None
            self._screen.say(why)

    def _keep(self, matches: Matches, by: int) -> None:
        """What was found, unless something else is wanted by now."""
        if matches.pattern == self._pattern and self._in is self._screen.index:
            self._found = matches
            self._go(matches, by)
            for _ in range(abs(self._steps)):
                self._go(matches, 1 if self._steps > 0 else -1)

    def _go(self, matches: Matches, by: int) -> None:
        screen, here = self._screen, self._screen.look.stage
        place, stage = match_from(matches, screen.index, here, by or 1)
        if not by and here != NO_STAGE and len(matches):
            before = (place - 1) % len(matches)
            place, stage = (before, here) if matches.stage(before) == here else (place, stage)
        if stage == NO_STAGE:
            screen.say(no_match_words(matches.pattern))
        else:
            words = f"{matches.words(place)}{_round_words(screen.index, here, stage, by or 1)}"
            screen.go(jump(screen.index, screen.look, stage), words)


def _round_words(index: TimelineIndex, before: int, stage: int, by: int) -> str:
    """Whether the way from a stage led round an end; '' where it did not."""
    if before == NO_STAGE:
        return ""
    gone = index.place_in_time(stage) - index.place_in_time(before)
    if by * gone >= 0:
        return ""
    return ", from the start again" if by > 0 else ", from the end again"
