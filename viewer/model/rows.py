"""Which rows are on the screen: pinned ones first, then what is neither folded away nor hidden."""

import re
from dataclasses import replace

import numpy as np

from .index import NO_STAGE, TimelineIndex
from .look import Look, select


def shown_rows(index: TimelineIndex, look: Look) -> tuple[int, ...]:
    """The keys of the rows, from top to bottom."""
    last: dict[object, tuple[int, ...]] = index.once("rows", dict)
    chosen = (look.folded, look.hidden, look.pinned)
    if chosen not in last:
        last.clear()
        aside = look.hidden | set(look.pinned)
        visible = index.tree.visible(look.folded)
        last[chosen] = (*look.pinned, *(key for key in visible if key not in aside))
    return last[chosen]


def in_sight(index: TimelineIndex, look: Look, height: int) -> tuple[int, ...]:
    """The keys of the rows that `height` lines show: the pinned ones, then those from `look.top` on."""
    rows, fixed = shown_rows(index, look), len(look.pinned)
    count = -(-height // row_pitch(index, look, height))
    return (*rows[:fixed], *rows[fixed + look.top :])[:count]


def row_pitch(index: TimelineIndex, look: Look, height: int) -> int:
    """Lines from one row to the next: 2 where all rows have room for it, else 1."""
    return 2 if 2 * len(shown_rows(index, look)) <= height + 1 else 1


def rows_height(look: Look, height: int) -> int:
    """The lines for rows among `height` of the picture: less the ruler and what overlays need."""
    return max(height - 1 - len(look.overlays), 0)


def scrolled(index: TimelineIndex, look: Look, height: int) -> Look:
    """Scrolls the rows until the cursor's is among those that `height` lines show."""
    rows, fixed = shown_rows(index, look)[len(look.pinned) :], len(look.pinned)
    if look.row in look.pinned or look.row not in rows or height < 1:
        return look
    room = max(height // row_pitch(index, look, height) - fixed, 1)
    place = rows.index(look.row)
    top = min(max(look.top, place - room + 1), place)
    return replace(look, top=max(0, min(top, len(rows) - room)))


def toggle_pin(index: TimelineIndex, look: Look) -> Look:
    """Keeps the cursor's row at the top, or lets it go back to its place."""
    if look.row < 0:
        return look
    if look.row in look.pinned:
        return replace(look, pinned=tuple(key for key in look.pinned if key != look.row))
    return replace(look, pinned=(*look.pinned, look.row))


def fold_to(index: TimelineIndex, look: Look, depth: int) -> Look:
    """Folds every group of that depth (0 is the outermost) and unfolds those around them."""
    groups = [row for row in index.tree.rows if row.is_group]
    deepest = max((row.depth for row in groups), default=0)
    level = min(depth, deepest + 1)
    look = replace(look, folded=frozenset(row.key for row in groups if row.depth >= level))
    return _on_a_shown_row(index, look)


def filter_rows(index: TimelineIndex, look: Look, pattern: str) -> Look:
    """Shows only lanes whose name (`PE 3 GEMM`) matches, whatever the case; an empty pattern shows all.

    Raises re.error for a pattern that is none.
    """
    wanted = re.compile(pattern, re.IGNORECASE)
    names = lane_names(index)
    unwanted = {lane for lane, name in names.items() if not wanted.search(name)}
    return _without(index, look, unwanted)


def lane_names(index: TimelineIndex) -> dict[int, str]:
    """Per lane that has a row, its name with those of the groups around it."""
    rows = index.tree.rows
    return {
        lane: " ".join([*(rows[up].title for up in reversed([*index.tree.above(key)])), row.title])
        for lane, key in index.tree.row_of_lane.items()
        if (row := rows[key])
    }


def toggle_idle_rows(index: TimelineIndex, look: Look) -> Look:
    """Hides the lanes that do nothing in what is shown now; where some are hidden, shows all again."""
    if look.hidden:
        return replace(look, hidden=frozenset())
    return _without(
        index, look, {lane for lane in index.tree.row_of_lane if _idle(index, look, lane)}
    )


def _idle(index: TimelineIndex, look: Look, lane: int) -> bool:
    stages = index.lane(lane)
    ended, begun = (
        int(np.searchsorted(stages.covered_ends, look.from_ps, side="right")),
        int(np.searchsorted(stages.starts, look.to_ps)),
    )
    return ended >= begun


def _without(index: TimelineIndex, look: Look, lanes: set[int]) -> Look:
    """Hides lanes, and groups of which nothing is left; never all rows there are."""
    hidden = frozenset(row.key for row in index.tree.rows if lanes.issuperset(row.lanes))
    if len(hidden) == len(index.tree.rows):
        return look
    return _on_a_shown_row(index, replace(look, hidden=hidden, top=0))


def _on_a_shown_row(index: TimelineIndex, look: Look) -> Look:
    """The cursor where it is if its row is shown; else on the row around it, or the first of all."""
    rows = shown_rows(index, look)
    if look.row in rows or look.row < 0:
        return look
    if look.stage != NO_STAGE:
        row = index.tree.shown_row(index.lane_of(look.stage), look.folded)
        if row in rows:
            return replace(look, row=row)
    leaf = next((key for key in rows if not index.tree.rows[key].is_group), rows[0])
    lane = index.lane(index.tree.rows[leaf].lanes[0])
    chosen = select(index, look, int(lane.ids[lane.nearest(look.at_ps)]))
    return replace(chosen, row=leaf, hidden=look.hidden)
