"""What the main screen has worked out by threads: idle time by reason, and slack. No key waits for it."""

from collections.abc import Callable
from functools import partial

from textual.worker import get_current_worker

from ..model.hazards import own_hazards
from ..model.idle_cells import idle_times
from ..model.index import NO_STAGE, TimelineIndex
from ..model.look import Overlay, first_look
from ..model.minimap import profile_of
from ..model.rows import in_sight
from ..model.slack import slack_of_index
from ..model.tree import Row
from ..newest import Newest
from .from_thread import shown_by
from .host import Host

ROWS_A_PICTURE = 8
"""After so many rows, what is known so far is shown."""

LEAST_LINES = 100
"""The rows of so many lines are worked out, more than most screens have, and of all that this one has."""


class Background:
    """Begins what the screen needs when it is needed first."""

    def __init__(self, screen: Host) -> None:
        self._screen = screen
        self._slack_of: TimelineIndex | None = None
        self._newest = Newest()

    def prepare(self) -> None:
        """What every picture needs, while the summary is read."""
        self._run(partial(prepare, self._screen.index, _lines(self._screen)))

    def begin(self) -> None:
        """Begins what the look needs and what has not begun yet."""
        screen = self._screen
        if Overlay.PATH in screen.look.overlays and self._slack_of is not screen.index:
            self._slack_of = screen.index
            self._run(partial(self._slack, screen.index))
        if Overlay.IDLE in screen.look.overlays and _idle_rows(screen):
            self._newest.wish()
            if self._newest.begin():
                self._run(self._idle)

    def _run(self, work: Callable[[], None]) -> None:
        self._screen.run_worker(work, thread=True, group="background")

    def _idle(self) -> None:
        """Row after row of what is in sight by now, until all are known."""
        worker = get_current_worker()
        while True:
            while self._newest.take():
                self._work_out_rows(lambda: worker.is_cancelled)
            if self._newest.may_end(is_cancelled=worker.is_cancelled):
                return

    def _work_out_rows(self, is_cancelled: Callable[[], bool]) -> None:
        index = self._screen.index
        for count, row in enumerate(_idle_rows(self._screen), start=1):
            if is_cancelled() or self._newest.is_wished:
                break
            idle_times(index).work(row)
            if count % ROWS_A_PICTURE == 0:
                self._show()
        self._show()

    def _slack(self, index: TimelineIndex) -> None:
        slack_of_index(index).work()
        self._show()

    def _show(self) -> None:
        """What is known by now of whatever timeline is shown by now."""
        shown_by(self._screen, self._screen.repaint)


def prepare(index: TimelineIndex, lines: int = LEAST_LINES) -> None:
    """Works out what every picture needs: the rows of the first lines, the minimap, who released whom,
    the commands and where hazards are.
    """
    look = first_look(index)
    for key in in_sight(index, look, lines):
        row = index.tree.rows[key]
        if not row.is_group:
            index.lane(row.lanes[0])
        elif key in look.folded:
            index.group(row)
    if len(index):
        profile_of(index)
        index.released_by(NO_STAGE)
        hazards = own_hazards(index)
        _ = index.commands, hazards.marks, hazards.counts


def _idle_rows(screen: Host) -> list[Row]:
    """The rows in sight, or about to be, whose idle time is not known yet. An open group shows none."""
    index, look = screen.index, screen.look
    rows = (index.tree.rows[key] for key in in_sight(index, look, _lines(screen)))
    closed = (row for row in rows if not row.is_group or row.key in look.folded)
    return [row for row in closed if idle_times(index).known(row) is None]


def _lines(screen: Host) -> int:
    return max(LEAST_LINES, screen.app.size.height)
