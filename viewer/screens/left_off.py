"""Where one was in the lists when they were closed, so that they open there again."""

from dataclasses import dataclass, field

import numpy as np

from ...schemas.trace import Trace
from ..model.calibrate_lines import Row
from ..model.calibrating import POLICY
from ..model.hazard_filter import EVERYTHING, HazardFilter
from ..model.hazards import HazardIndex
from ..model.index import TimelineIndex
from ..model.summary_lines import Target

Pair = tuple[int, ...]
"""What tells a pair from every other in any replay of its trace: PE, commands, handles and kind."""

NO_ROW = -1


def pair_at(hazards: HazardIndex, row: int) -> Pair:
    """The pair of a row of the hazard table."""
    return tuple(int(column[row]) for column in _columns(hazards))


def row_of(hazards: HazardIndex, pair: Pair) -> int:
    """The row of the hazard table that is about that pair, NO_ROW where none is."""
    alike = np.ones(len(hazards.table), dtype=np.bool_)
    for column, value in zip(_columns(hazards), pair, strict=True):
        alike &= column == value
    return int(alike.argmax()) if alike.any() else NO_ROW


def _columns(hazards: HazardIndex) -> tuple[np.ndarray, ...]:
    table = hazards.table
    handles = (table.earlier_handle, table.later_handle)
    return (table.pe, table.earlier, table.later, *handles, table.kind)


@dataclass
class LeftOff:
    """What was chosen. Lines of a run mean nothing in another; pairs of hazards, with the filter that
    they were listed under, do in every replay of one trace, and numbers of a calibration in any.
    """

    number: Row = POLICY
    _of_run: dict[str, tuple[TimelineIndex, Target | int | None]] = field(default_factory=dict)
    _hazards: tuple[Trace, HazardFilter, Pair | None] | None = None

    def in_summary(self, index: TimelineIndex) -> Target | None:
        """What the line is about that was chosen in this run's summary."""
        chosen = self._in_run("summary", index)
        return chosen if isinstance(chosen, Target) else None

    def leave_summary(self, index: TimelineIndex, chosen: Target | None) -> None:
        self._of_run["summary"] = index, chosen

    def in_deadlock(self, index: TimelineIndex) -> int:
        """The place that was chosen among this run's blocked commands; the first of all to begin with."""
        place = self._in_run("deadlock", index)
        return place if isinstance(place, int) else 0

    def leave_deadlock(self, index: TimelineIndex, place: int) -> None:
        self._of_run["deadlock"] = index, place

    def _in_run(self, view: str, index: TimelineIndex) -> Target | int | None:
        of_run, chosen = self._of_run.get(view, (None, None))
        return chosen if of_run is index else None

    def in_hazards(self, trace: Trace) -> tuple[HazardFilter, Pair | None]:
        """The filter, and the pair that was chosen, if any was."""
        of_trace, wanted, pair = self._hazards or (None, EVERYTHING, None)
        return (wanted, pair) if of_trace is trace else (EVERYTHING, None)

    def leave_hazards(self, trace: Trace, wanted: HazardFilter, pair: Pair | None) -> None:
        self._hazards = trace, wanted, pair
