"""Opening the file anew, after its kernel was captured again: in a thread, and in place of the old one."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from ...schemas.errors import KerntapeError
from ...schemas.timeline import Timeline
from ..model.hazards import own_hazards
from ..model.index import TimelineIndex
from ..model.reopened import check_same_kernel
from .background import prepare
from .from_thread import shown_by
from .host import Host

Reopen = Callable[[], tuple[Timeline, ...]]
"""Opens all the files that were opened, as they were, and gives their timelines in the same order."""

NO_FILE = "nothing to open anew: this was not opened from a file"


class Reopening(Host, Protocol):
    """The main screen."""

    def take_reopened(self, indexes: tuple[TimelineIndex, ...]) -> None:
        """Shows these in place of those that were opened."""


class Reload:
    """`opened` gives what is to be replaced: what the files held when they were opened."""

    def __init__(
        self,
        screen: Reopening,
        opened: Callable[[], tuple[TimelineIndex, ...]],
        reopen: Reopen | None,
    ) -> None:
        self._screen = screen
        self._opened = opened
        self._reopen = reopen
        self._is_at_it = False
        self._ready: tuple[TimelineIndex, ...] = ()

    def begin(self) -> None:
        """Opens them in a thread; what is shown stays until that is done, and for good if it cannot be."""
        if self._reopen is None:
            self._screen.say(NO_FILE)
            return
        names = " and ".join(one.name for one in self._opened())
        self._screen.say(f"opening {names} anew …")
        if not self._is_at_it:
            self._is_at_it = True
            self._screen.run_worker(partial(self._work, self._reopen), thread=True)

    def _work(self, reopen: Reopen) -> None:
        opened = self._opened()
        try:
            timelines = reopen()
            for before, timeline in zip(opened, timelines, strict=True):
                check_same_kernel(before.timeline, timeline, before.name)
        except KerntapeError as error:
            shown_by(self._screen, self._refuse, str(error))
            return
        names = (one.name for one in opened)
        indexes = tuple(TimelineIndex(*one) for one in zip(timelines, names, strict=True))
        prepare(indexes[0])
        own_hazards(indexes[0])
        shown_by(self._screen, self._keep, indexes)

    def _refuse(self, why: str) -> None:
        self._is_at_it = False
        self._screen.say(why)

    def _keep(self, indexes: tuple[TimelineIndex, ...]) -> None:
        self._ready = indexes
        self.renew()

    def renew(self) -> None:
        """Shows what is there by now, unless something of the old one lies over the main screen."""
        if self._ready and len(self._screen.app.screen_stack) == 1:
            indexes, self._ready, self._is_at_it = self._ready, (), False
            self._screen.take_reopened(indexes)
