"""The rows of the picture: SIP → CUBE → PE → engine, each level only where the launch has several.

A group's row stands for all lanes below it. Folding hides what is below; nothing else changes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ...schemas.timeline import Timeline
from .lanes import engine_title, lane_rank, link_level

LABEL_CELLS = 12
"""The least width of the row titles' column."""

MAX_LABEL_CELLS = 22


@dataclass(frozen=True, slots=True)
class Row:
    """A row. `key` numbers it from the top, all unfolded; `lanes` are the engines it stands for.

    `end` is one past the key of the last row below it: a row without rows below ends at key + 1.
    """

    key: int
    title: str
    depth: int
    parent: int
    lanes: tuple[int, ...]
    end: int

    @property
    def is_group(self) -> bool:
        return self.end > self.key + 1


@dataclass
class _Group:
    title: str
    lanes: list[int] = field(default_factory=list)
    groups: dict[str, "_Group"] = field(default_factory=dict)

    def below(self, title: str) -> "_Group":
        return self.groups.setdefault(title, _Group(title))

    def all_lanes(self) -> list[int]:
        return self.lanes + [lane for group in self.groups.values() for lane in group.all_lanes()]


@dataclass(frozen=True)
class Tree:
    """All rows, from top to bottom, and the leaf row of every lane that has one."""

    rows: tuple[Row, ...]
    row_of_lane: dict[int, int]
    least_label_cells: int = LABEL_CELLS

    def visible(self, folded: frozenset[int]) -> tuple[int, ...]:
        """The keys of the rows that are not inside a folded one, from top to bottom."""
        keys, key = [], 0
        while key < len(self.rows):
            keys.append(key)
            key = self.rows[key].end if key in folded else key + 1
        return tuple(keys)

    def shown_row(self, lane: int, folded: frozenset[int]) -> int:
        """The row that shows a lane: its own, or the outermost folded one around it."""
        key = self.row_of_lane[lane]
        return next((above for above in reversed(list(self.above(key))) if above in folded), key)

    def above(self, key: int) -> Iterator[int]:
        """The groups around a row, innermost first."""
        while (key := self.rows[key].parent) >= 0:
            yield key

    @cached_property
    def label_cells(self) -> int:
        """The width of the titles' column."""
        widest = max((row.depth + len(row.title) + 4 for row in self.rows), default=0)
        return min(max(widest, self.least_label_cells), MAX_LABEL_CELLS)

    def first_folds(self) -> frozenset[int]:
        """What is folded at first: every group but the first of its level."""
        return frozenset(
            row.key
            for row in self.rows
            if row.is_group
            and any(not self._is_first(key) for key in (row.key, *self.above(row.key)))
        )

    def _is_first(self, key: int) -> bool:
        parent = self.rows[key].parent
        return key == parent + 1


def tree_of(timeline: Timeline, busy_lanes: list[int]) -> Tree:
    """The rows of a timeline: the lanes that have a stage, PE by PE, then the links between them by level."""
    engines = timeline.engines
    shown = [lane for lane in busy_lanes if engines[lane].rank >= 0]
    shown.sort(key=lambda lane: (engines[lane].rank, lane_rank(engines[lane])))
    root = _Group("")
    ranks = sorted({engines[lane].rank for lane in shown})
    names = place_names(timeline, ranks)
    for lane in shown:
        group = root
        for title in names[engines[lane].rank]:
            group = group.below(title)
        group.lanes.append(lane)
    for lane in sorted(lane for lane in busy_lanes if engines[lane].rank < 0):
        root.below(f"{link_level(engines[lane]).upper()} links".lstrip()).lanes.append(lane)
    return _flatten(timeline, root)


def place_names(timeline: Timeline, ranks: list[int]) -> dict[int, tuple[str, ...]]:
    """Per rank, the titles from the outermost level that tells these ranks apart down to the PE."""
    places = {rank: timeline.topology.place(rank) for rank in ranks}
    several_sips = len({place.sip for place in places.values()}) > 1
    several_cubes = len({(place.sip, place.cube) for place in places.values()}) > 1
    return {
        rank: (
            *((f"SIP {place.sip}",) if several_sips else ()),
            *((f"CUBE {place.cube}",) if several_cubes else ()),
            f"PE {place.pe}",
        )
        for rank, place in places.items()
    }


def _flatten(timeline: Timeline, root: _Group) -> Tree:
    rows: list[Row] = []
    row_of_lane: dict[int, int] = {}

    def add(group: _Group, depth: int, parent: int) -> None:
        for below in group.groups.values():
            key = len(rows)
            rows.append(Row(key, below.title, depth, parent, tuple(below.all_lanes()), key + 1))
            add(below, depth + 1, key)
            rows[key] = Row(key, below.title, depth, parent, rows[key].lanes, len(rows))
        for lane in group.lanes:
            key = len(rows)
            row_of_lane[lane] = key
            rows.append(
                Row(key, engine_title(timeline.engines[lane]), depth, parent, (lane,), key + 1)
            )

    add(root, 0, -1)
    return Tree(tuple(rows), row_of_lane)
