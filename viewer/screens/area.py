"""The area's figures: added up in a thread, so that no key waits for them."""

import threading
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.worker import get_current_worker

from ..actions import named
from ..model.area import Area, Figures, area_lines, figures_by_kind, figures_by_lane, in_area
from ..model.hazards import HazardIndex
from ..model.index import TimelineIndex
from ..model.text import Line, Span, fit_line
from ..model.tones import MUTED
from .from_thread import shown_by
from .panel import Panel
from .saving import save_stages


class _ClosedError(Exception):
    """Nobody looks at the figures any more."""


class AreaPanel(Panel):
    """Count, sum, percentiles, busy share and hazards of a range of time, per kind and per lane.

    What is added up for a panel that was closed ends, and before that nothing begins for another. Two keys
    open it, the one that ends an area and the one that shows it again: both close it.
    """

    KEYS = "E save its stages"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, "do('close')", show=False, priority=True) for key in named("area").keys
    ]

    def __init__(self, index: TimelineIndex, hazards: HazardIndex, area: Area) -> None:
        super().__init__("area", "area_figures", self._area_lines)
        self._index = index
        self._hazards = hazards
        self._area = area
        self._percent = 0
        self._figures: tuple[list[Figures], list[Figures]] | None = None
        self._fitted: tuple[int, list[Line]] = (0, [])

    def on_mount(self) -> None:
        self.run_worker(self._add_up, thread=True)

    def save_listed(self) -> None:
        """Saves the area's stages."""
        save_stages(self, "area", self._index, in_area(self._index, self._area))

    def _add_up(self) -> None:
        worker = get_current_worker()

        def watch(done: int, total: int, before: int) -> None:
            if worker.is_cancelled:
                raise _ClosedError
            percent = before + 50 * done // max(total, 1)
            if percent != self._percent:
                shown_by(self, self._show_percent, percent)

        place = (self._index, self._hazards, self._area)
        with self._index.once("areas", threading.Lock):
            try:
                watch(0, 0, 0)
                by_kind = figures_by_kind(*place, lambda done, total: watch(done, total, 0))
                by_lane = figures_by_lane(*place, lambda done, total: watch(done, total, 50))
            except _ClosedError:
                return
        shown_by(self, self._show, (by_kind, by_lane))

    def _show_percent(self, percent: int) -> None:
        self._percent = percent
        self.panel.repaint()

    def _show(self, figures: tuple[list[Figures], list[Figures]]) -> None:
        self._figures = figures
        self.panel.repaint()

    def _area_lines(self, width: int) -> list[Line]:
        """Kept: there may be a line for each of thousands of lanes."""
        if self._figures is None:
            words = f"  adding up, {self._percent} %" if self._percent else "  adding up …"
            return [fit_line((Span(words, MUTED),), width)]
        if self._fitted[0] != width:
            self._fitted = (width, area_lines(self._area, *self._figures, width))
        return self._fitted[1]
