"""One row of the picture as glyphs: how busy each column was, in the paint that was busy longest.

    ▁ … █   the busy share of the column, at least ▁ for the shortest stage; █ only if it was all busy
    ◆ ╵     stages of no length: an admission, any other
    ◇ ! ?   hazards, over everything (hazard_cells)
    ━       on the critical path, where that is laid over the rows
    h░░░    idle, and the letter of what for, where that is laid over them; above a bar, its colour
    [ ]     the selected stage, where it is wide enough

Columns are numpy arrays of code points and tones until the end, so a row costs the same for ten
stages and for ten million.
"""

import numpy as np

from ...schemas.columns import Int64s
from ...schemas.stages import StageKind
from .cells import LEVELS, Cells, spans
from .hazard_cells import draw_hazards, draw_waiting
from .hazards import HazardIndex
from .idle_cells import idle_columns
from .index import NO_STAGE, TimelineIndex
from .lane import Lane, Seen
from .look import Look, Overlay
from .occupancy import Axis, Density
from .path import RUN_GLYPH, on_path
from .text import Line, cells
from .tones import FAINT, GROUND, LABEL, TONES_PER_PAINT, Paint, Shade, on_ground, tone
from .tree import Row
from .words import bar_labels

ADMISSION, INSTANT, GRID = (ord(glyph) for glyph in "◆╵╎")

LEAST_LABEL_COLUMNS = 3
"""A bar narrower than this carries no label."""


def row_line(
    index: TimelineIndex, hazards: HazardIndex, look: Look, row: Row, shown: Axis, grid: Int64s
) -> Line:
    """A row as spans. `grid` holds the columns that have a tick of the ruler."""
    if len(row.lanes) == 1:
        lane = index.lane(row.lanes[0])
        seen = lane.seen(shown)
        measured = seen.density
        picture = _bars(measured)
        _tell_apart(picture, seen)
        _draw_admissions(picture, index, lane, measured, shown)
        _draw_labels(picture, index, lane, seen, shown)
    else:
        measured = index.group(row).density(shown)
        picture = _bars(measured)
    _draw_grid(picture, measured, grid)
    if Overlay.IDLE in look.overlays:
        _draw_idle(picture, index, row, measured, shown)
    draw_waiting(picture, hazards, row, measured, shown)
    if Overlay.PATH in look.overlays:
        _draw_path(picture, index, row, shown)
    _draw_marked(picture, index, look, row, shown)
    draw_hazards(picture, hazards, row, shown)
    return spans(picture)


def _bars(measured: Density) -> Cells:
    busy = measured.share > 0
    levels = np.minimum((measured.share * 8).astype(np.int64), 8)
    levels[busy] = np.maximum(levels[busy], 1)
    instants = ~busy & (measured.begun > 0)
    glyphs = LEVELS[levels]
    glyphs[instants] = INSTANT
    return Cells(glyphs, measured.paint * TONES_PER_PAINT)


def _draw_grid(picture: Cells, measured: Density, grid: Int64s) -> None:
    free = grid[(measured.share[grid] == 0) & (measured.begun[grid] == 0)]
    picture.glyphs[free] = GRID
    picture.tones[free] = tone(Paint.FAINT)


def _tell_apart(picture: Cells, seen: Seen) -> None:
    """Every other stage in another shade, in the columns that show exactly one."""
    picture.tones[seen.is_single & (seen.last % 2 == 1)] += Shade.OTHER


def _draw_admissions(
    picture: Cells, index: TimelineIndex, lane: Lane, measured: Density, shown: Axis
) -> None:
    if not (picture.glyphs == INSTANT).any():
        return
    first, past = lane.starts.searchsorted(shown.edges[[0, -1]])
    kinds = index.timeline.stages.kind[lane.ids[first:past]]
    admitted = lane.starts[first:past][kinds == StageKind.ADMIT]
    columns = shown.edges.searchsorted(admitted, side="right") - 1
    picture.glyphs[columns[measured.share[columns] == 0]] = ADMISSION


def _draw_labels(picture: Cells, index: TimelineIndex, lane: Lane, seen: Seen, shown: Axis) -> None:
    for position in _wide_stages(lane, seen, shown):
        start, end = int(lane.covered[position]), int(lane.covered_ends[position])
        columns = _whole_columns(shown, start, end)
        room = len(columns) - 1
        labels = bar_labels(index, int(lane.ids[position]))
        label = next((text for text in labels if 0 < cells(text) <= room), "")
        if label and cells(label) == len(label):
            at = columns.start + (1 if len(label) < room else 0)
            picture.put(at, label, int(picture.tones[columns.start]) | LABEL)


def _wide_stages(lane: Lane, seen: Seen, shown: Axis) -> list[int]:
    """The positions of the shown stages that fill enough columns; at most one for each three columns."""
    first, past = int(seen.first[0]), int(seen.last[-1]) + 1
    if past - first > 4 * shown.width:
        return []
    least = int(shown.column_ps.max()) * LEAST_LABEL_COLUMNS
    covered = lane.covered_ends[first:past] - lane.covered[first:past]
    return [first + place for place in np.flatnonzero(covered >= least).tolist()]


def _whole_columns(shown: Axis, start_ps: int, end_ps: int) -> range:
    """The columns that lie within [start, end)."""
    first = int(shown.edges.searchsorted(start_ps))
    past = int(shown.edges.searchsorted(end_ps, side="right")) - 1
    return range(first, max(past, first))


def _draw_idle(
    picture: Cells, index: TimelineIndex, row: Row, measured: Density, shown: Axis
) -> None:
    """What the row waited for: in its empty columns, and as the ground of those in part idle."""
    empty = (measured.share == 0) & (measured.begun == 0)
    idle = idle_columns(index, row, empty, shown)
    covered, above = idle.is_known & empty, idle.waits & ~empty & (measured.share < 1)
    picture.glyphs[covered] = idle.glyphs[covered]
    picture.tones[covered] = idle.tones[covered]
    picture.tones[above] += on_ground(idle.paints[above])


def _draw_path(picture: Cells, index: TimelineIndex, row: Row, shown: Axis) -> None:
    """What is on the critical path as a heavy line in its own colour, all else faint, grounds too."""
    covered, labels = on_path(index, row, shown), picture.tones & LABEL
    picture.tones[covered] %= GROUND
    picture.tones[~covered] = FAINT + labels[~covered]
    picture.glyphs[covered & (labels == 0)] = ord(RUN_GLYPH)


def _draw_marked(picture: Cells, index: TimelineIndex, look: Look, row: Row, shown: Axis) -> None:
    """The trail, the cause, and last the selected stage, in their own shades."""
    if look.stage == NO_STAGE:
        return
    for stage in (*look.trail, index.cause(look.stage)):
        if stage >= 0 and index.lane_of(stage) in row.lanes:
            _shade(picture, shown, index.start(stage), index.end(stage), Shade.MARKED)
    if index.lane_of(look.stage) not in row.lanes:
        return
    start, end = index.start(look.stage), index.end(look.stage)
    columns = _shade(picture, shown, start, end, Shade.SELECTED)
    whole = _whole_columns(shown, max(start, int(shown.edges[0])), min(end, int(shown.edges[-1])))
    if columns and len(whole) >= LEAST_LABEL_COLUMNS:
        _draw_brackets(picture, whole[0], whole[-1])


def _draw_brackets(picture: Cells, left: int, right: int) -> None:
    """At the ends of a bar, unless its label needs their cells."""
    if (picture.tones[[left, right]] & LABEL).any():
        return
    for column, bracket in ((left, "["), (right, "]")):
        picture.put(column, bracket, int(picture.tones[column]) | LABEL)


def _shade(picture: Cells, shown: Axis, start_ps: int, end_ps: int, shade: Shade) -> range:
    if end_ps < shown.edges[0] or start_ps >= shown.edges[-1]:
        return range(0)
    columns = shown.columns_of(start_ps, end_ps)
    part = picture.tones[columns.start : columns.stop]
    part[:] = part - part % LABEL + shade
    return columns
