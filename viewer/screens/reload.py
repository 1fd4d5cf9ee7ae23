"""Opening the file anew, after its kernel was captured again: in a thread, and in place of the old one."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from textual.worker import get_current_worker

from ...schemas.errors import KerntapeError, os_error_words
from ...schemas.timeline import Timeline
from ..model.hazards import own_hazards
from ..model.index import TimelineIndex
from ..model.reopened import check_same_kernel
from ..newest import Newest
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
        self._newest = Newest()
        self._ready: tuple[TimelineIndex, ...] = ()

    def begin(self) -> None:
        """Opens them in a thread; what is shown stays until that is done, and for good if it cannot be. While
        the thread is at it, they may have been written again: it opens them once more then.
        """
        if self._reopen is None:
            self._screen.say(NO_FILE)
            return
        names = " and ".join(one.name for one in self._opened())
        self._screen.say(f"opening {names} anew …")
        self._newest.wish()
        if self._newest.begin():
            self._screen.run_worker(partial(self._work, self._reopen), thread=True)

    def _work(self, reopen: Reopen) -> None:
        worker, is_over = get_current_worker(), False
        while not is_over:
            try:
                while self._newest.take():
                    self._open(reopen)
            finally:
                is_over = self._newest.may_end(is_cancelled=worker.is_cancelled)

    def _open(self, reopen: Reopen) -> None:
        """What came of it is shown, or said, unless they are to be opened once more."""
        try:
            indexes = _arranged(reopen(), self._opened())
        except (KerntapeError, OSError, MemoryError) as error:
            tell = partial(self._screen.say, _why(error))
        else:
            tell = partial(self._keep, indexes)
        if not self._newest.is_wished:
            shown_by(self._screen, tell)

    def _keep(self, indexes: tuple[TimelineIndex, ...]) -> None:
        self._ready = indexes
        self.renew()

    def renew(self) -> None:
        """Shows what is there by now, unless something of the old one lies over the main screen."""
        if self._ready and len(self._screen.app.screen_stack) == 1:
            indexes, self._ready = self._ready, ()
            self._screen.take_reopened(indexes)


def _arranged(
    timelines: tuple[Timeline, ...], opened: tuple[TimelineIndex, ...]
) -> tuple[TimelineIndex, ...]:
    """The timelines ready for looking at, under the names of those that they take the places of."""
    indexes = tuple(
        TimelineIndex(timeline, before.name)
        for timeline, before in zip(timelines, opened, strict=True)
    )
    for index, before in zip(indexes, opened, strict=True):
        check_same_kernel(before.timeline, index.timeline, before.name)
    prepare(indexes[0])
    own_hazards(indexes[0])
    return indexes


def _why(error: KerntapeError | OSError | MemoryError) -> str:
    """Why the files cannot be opened anew, in one line."""
    if isinstance(error, KerntapeError):
        return str(error)
    reason = "out of memory" if isinstance(error, MemoryError) else os_error_words(error)
    return f"cannot be opened anew: {reason}"
