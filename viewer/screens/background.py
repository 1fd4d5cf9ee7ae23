"""What the main screen has worked out by threads: idle time by reason, and slack. No key waits for it."""

from functools import partial
from typing import TYPE_CHECKING

from textual.worker import get_current_worker

from ..model.idle_cells import idle_times
from ..model.index import TimelineIndex
from ..model.look import Overlay
from ..model.slack import slack_of_index

if TYPE_CHECKING:
    from .timeline import TimelineScreen

LANES_A_PICTURE = 256
"""After so many lanes, what is known so far is shown."""


class Background:
    """Begins what an overlay needs when it is first laid over a timeline."""

    def __init__(self, screen: "TimelineScreen") -> None:
        self._screen = screen
        self._begun: set[tuple[int, Overlay]] = set()

    def begin(self) -> None:
        """Begins what the look needs and what has not begun yet."""
        screen = self._screen
        for overlay, work in ((Overlay.IDLE, self._idle), (Overlay.PATH, self._slack)):
            place = (id(screen.index), overlay)
            if overlay in screen.look.overlays and place not in self._begun:
                self._begun.add(place)
                screen.run_worker(partial(work, screen.index), thread=True, group=overlay.name)

    def _idle(self, index: TimelineIndex) -> None:
        worker = get_current_worker()
        for count, _ in enumerate(idle_times(index).work(), start=1):
            if worker.is_cancelled:
                return
            if count % LANES_A_PICTURE == 0:
                self._show(index)
        self._show(index)

    def _slack(self, index: TimelineIndex) -> None:
        slack_of_index(index).work(index.timeline)
        if not get_current_worker().is_cancelled:
            self._show(index)

    def _show(self, index: TimelineIndex) -> None:
        if index is self._screen.index:
            self._screen.app.call_from_thread(self._screen.repaint)
