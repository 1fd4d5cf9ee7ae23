"""The area's figures: added up in a thread, so that no key waits for them."""

from functools import partial

from ..model.area import Area, area_lines, figures_by_kind, figures_by_lane, in_area
from ..model.hazards import HazardIndex
from ..model.index import TimelineIndex
from ..model.text import Line, Span, fit_line
from ..model.tones import MUTED
from .from_thread import shown_by
from .panel import Panel
from .saving import save_stages


class AreaPanel(Panel):
    """Count, sum, percentiles, busy share and hazards of a range of time, per kind and per lane."""

    KEYS = "E save its stages"

    def __init__(self, index: TimelineIndex, hazards: HazardIndex, area: Area) -> None:
        super().__init__("area", "area_figures", self._area_lines)
        self._index = index
        self._hazards = hazards
        self._area = area
        self._lines_for: partial[list[Line]] | None = None

    def on_mount(self) -> None:
        self.run_worker(self._add_up, thread=True)

    def save_listed(self) -> None:
        """Saves the area's stages."""
        save_stages(self, "area", self._index, in_area(self._index, self._area))

    def _add_up(self) -> None:
        place = (self._index, self._hazards, self._area)
        by_kind, by_lane = figures_by_kind(*place), figures_by_lane(*place)
        shown_by(self, self._show, partial(area_lines, self._area, by_kind, by_lane))

    def _show(self, lines_for: partial[list[Line]]) -> None:
        self._lines_for = lines_for
        self.panel.repaint()

    def _area_lines(self, width: int) -> list[Line]:
        if self._lines_for is None:
            return [fit_line((Span("  adding up …", MUTED),), width)]
        return self._lines_for(width)
