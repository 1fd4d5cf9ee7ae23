"""The summary: busy and idle time by engine and reason, critical path, worst hazards."""

from functools import partial

from textual.worker import get_current_worker

from ..model.hazards import HazardIndex
from ..model.index import TimelineIndex
from ..model.summary import Summary, summarise, summary_lines
from ..model.text import Line, Span, fit_line
from ..model.tones import MUTED
from .panel import Panel


class SummaryPanel(Panel):
    """Adds up in a thread, so that no key waits for it."""

    def __init__(self, index: TimelineIndex, hazards: HazardIndex) -> None:
        super().__init__("summary", "summary", self._summary_lines)
        self._index = index
        self._hazards = hazards
        self._summary: Summary | None = None

    def on_mount(self) -> None:
        self.run_worker(self._add_up, thread=True)

    def _add_up(self) -> None:
        summary = summarise(self._index)
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(partial(self._show, summary))

    def _show(self, summary: Summary) -> None:
        self._summary = summary
        self.panel.repaint()

    def _summary_lines(self, width: int) -> list[Line]:
        if self._summary is None:
            return [fit_line((Span("  adding up …", MUTED),), width)]
        return summary_lines(self._index, self._hazards, self._summary, width)
