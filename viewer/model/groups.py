"""Rows that stand for several lanes: how busy all of them together were, added up when first shown."""

from dataclasses import dataclass

import numpy as np

from ...schemas.columns import Int16s, Int64s
from .lanes import Lanes, Run
from .last_shown import LastShown
from .occupancy import Axis, Density, Occupancy, density, occupancy
from .tones import PAINT_OF_KIND
from .tree import Row


@dataclass(frozen=True)
class Group:
    """Lanes together: their occupied time by paint, and how many of them are ever busy."""

    parts: dict[int, Occupancy]
    busy_lanes: int

    def density(self, shown: Axis) -> Density:
        """Per column the share of those lanes at work; a whole column is all of them."""
        return density(self.parts, self.busy_lanes, shown)

    def __len__(self) -> int:
        return sum(len(part.starts) for part in self.parts.values())


class Groups:
    """The groups by their row. Those that were shown last are kept, of half as many stages again as
    the timeline has: what is on the screen at one time has each stage once.
    """

    def __init__(self, lanes: Lanes, stage_kinds: Int16s) -> None:
        self._lanes = lanes
        self._kinds = stage_kinds
        self._kept: LastShown[Group] = LastShown(3 * len(stage_kinds) // 2)

    def of(self, row: Row) -> Group:
        """The group of a row."""
        found = self._kept.get(row.key)
        if found is None:
            found = self._added_up(row)
            self._kept.put(row.key, found, len(found))
        return found

    def _added_up(self, row: Row) -> Group:
        parts: dict[int, list[tuple[Int64s, Int64s]]] = {}
        busy_lanes = 0
        for run in self._lanes.runs(row.lanes):
            busy_lanes += int(np.count_nonzero(run.busy_ps))
            self._sort_out(run, parts)
        gathered = {paint: zip(*pieces, strict=True) for paint, pieces in sorted(parts.items())}
        found = {
            paint: occupancy(*(np.concatenate(column) for column in columns))
            for paint, columns in gathered.items()
        }
        return Group(found, busy_lanes)

    def _sort_out(self, run: Run, parts: dict[int, list[tuple[Int64s, Int64s]]]) -> None:
        """Adds a run's intervals to those of their paints."""
        paints = PAINT_OF_KIND[self._kinds[run.ids]]
        for paint in np.unique(paints).tolist():
            mine = paints == paint
            parts.setdefault(paint, []).append((run.covered[mine], run.covered_ends[mine]))
