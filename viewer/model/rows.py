"""Which rows are on the screen: pinned ones first, then what is neither folded away nor hidden."""

from dataclasses import replace

from .hazards import own_hazards
from .idle_cells import legend_height
from .index import NO_STAGE, TimelineIndex
from .lists import Unseen, unseen
from .look import Look, Overlay, select
from .matching import compiled, matching
from .text import MOST_QUOTED, cut, printable


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


def rows_height(index: TimelineIndex, look: Look, width: int, height: int) -> int:
    """The lines for rows among `height` of the picture: less the ruler and what overlays need."""
    strip = Overlay.PATH in look.overlays
    legend = legend_height(index, width) if Overlay.IDLE in look.overlays else 0
    return max(height - 1 - strip - legend, 0)


def scrolled(index: TimelineIndex, look: Look, height: int) -> Look:
    """Scrolls the rows until the cursor's is among those that `height` lines show."""
    rows, fixed = shown_rows(index, look)[len(look.pinned) :], len(look.pinned)
    if look.row in look.pinned or look.row not in rows or height < 1:
        return look
    room = max(height // row_pitch(index, look, height) - fixed, 1)
    place = rows.index(look.row)
    top = min(max(look.top, place - room + 1), place)
    return replace(look, top=max(0, min(top, len(rows) - room)))


def unseen_rows(index: TimelineIndex, look: Look, height: int) -> Unseen:
    """How many rows lie above and below those that `height` lines show; pinned ones do not scroll."""
    fixed = len(look.pinned)
    room = max(len(in_sight(index, look, height)) - fixed, 0)
    return unseen(len(shown_rows(index, look)) - fixed, look.top, room)


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

    Where no row would be left, the look as it was. Raises PatternError for a pattern that is none, or
    takes too long.
    """
    names = lane_names(index)
    wanted = matching(compiled(pattern), list(names.values()))
    unwanted = {lane for lane, is_wanted in zip(names, wanted, strict=True) if not is_wanted}
    found = _without(index, look, unwanted)
    if found is look:
        return look
    return replace(found, rows_like=pattern if found.hidden else "", rows_besides=0)


def rows_words(look: Look) -> str:
    """Which rows are shown, where a pattern chooses them: `rows like gemm`, `rows like gemm and 1 more`."""
    if not look.rows_like:
        return ""
    besides = f" and {look.rows_besides} more" if look.rows_besides else ""
    return f"rows like {cut(printable(look.rows_like), MOST_QUOTED)}{besides}"


def lane_names(index: TimelineIndex) -> dict[int, str]:
    """Per lane that has a row, its name with those of the groups around it."""
    rows = index.tree.rows
    return {
        lane: " ".join([*(rows[up].title for up in reversed([*index.tree.above(key)])), row.title])
        for lane, key in index.tree.row_of_lane.items()
        if (row := rows[key])
    }


def toggle_idle_rows(index: TimelineIndex, look: Look) -> Look:
    """Hides the lanes that do nothing in what is shown now, and show no hazard; where some are hidden,
    shows all again.
    """
    if look.hidden:
        return replace(look, hidden=frozenset(), rows_like="", rows_besides=0)
    return _without(index, look, idle_lanes(index, look))


def idle_lanes(index: TimelineIndex, look: Look) -> set[int]:
    """The lanes that do nothing in what is shown, nor are held there by a hazard."""
    lanes = index.tree.row_of_lane
    return {lane for lane in lanes if _idle(index, look, lane) and not _held(index, look, lane)}


def _idle(index: TimelineIndex, look: Look, lane: int) -> bool:
    stages = index.lane(lane)
    begun = int(stages.starts.searchsorted(look.to_ps))
    if not begun:
        return True
    last, ended = int(stages.starts[begun - 1]), int(stages.covered_ends[begun - 1])
    return last < look.from_ps and ended <= look.from_ps


def _held(index: TimelineIndex, look: Look, lane: int) -> bool:
    """Whether a hold of the lane has any part of itself in the window."""
    marks = own_hazards(index).marks
    first, past = marks.offsets[lane : lane + 2].tolist()
    first += int(marks.at_ps[first:past].searchsorted(look.from_ps))
    return bool((marks.from_ps[first:past] < look.to_ps).any())


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
