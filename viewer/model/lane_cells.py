"""One row of the picture as glyphs: how busy each column was, in the paint that was busy longest.

    ▁ … █   the busy share of the column, at least ▁ for the shortest stage; █ only if it was all busy
    ◆ ╵     stages of no length: an admission, any other
    ◇ ! ?   a hazard held back, violated, possible: drawn over everything
    ◇#7 held for m────   since when a command was held, and for what
    ━       on the critical path, where that is laid over the rows
    h░░░    idle, and the letter of what for, where that is laid over them
    [ ]     the selected stage, where it is wide enough

Columns are numpy arrays of code points and tones until the end, so a row costs the same for ten
stages and for ten million.
"""

from dataclasses import dataclass

import numpy as np

from ...schemas.columns import Bools, Int64s
from ...schemas.hazards import Outcome
from ...schemas.stages import StageKind
from .hazards import GLYPHS, SEVERITY, HazardIndex
from .idle_cells import idle_columns
from .index import NO_STAGE, TimelineIndex
from .lanes import Lane
from .look import Look, Overlay
from .occupancy import Axis, Density, density
from .path import RUN_GLYPH, on_path
from .text import Line, Span, cells
from .tones import FAINT, LABEL, TONES_PER_PAINT, Paint, Shade, tone
from .tree import Row
from .words import bar_labels

LEVELS = np.array([ord(glyph) for glyph in " ▁▂▃▄▅▆▇█"], dtype=np.uint32)
ADMISSION, INSTANT, GRID, WAITING = (ord(glyph) for glyph in "◆╵╎─")

LEAST_LABEL_COLUMNS = 3
"""A bar narrower than this carries no label."""

COLUMNS_PER_WORDS = 4
"""Words about held commands are tried for as many as there are groups of so many columns."""


@dataclass(frozen=True)
class Cells:
    """A row under construction: one code point and one tone a column."""

    glyphs: np.ndarray[tuple[int], np.dtype[np.uint32]]
    tones: Int64s

    def put(self, column: int, text: str, tone_number: int) -> None:
        """Writes characters that take one cell each."""
        codes = np.array([ord(character) for character in text], dtype=np.uint32)
        self.glyphs[column : column + len(codes)] = codes
        self.tones[column : column + len(codes)] = tone_number


def row_line(
    index: TimelineIndex, hazards: HazardIndex, look: Look, row: Row, shown: Axis, grid: Int64s
) -> Line:
    """A row as spans. `grid` holds the columns that have a tick of the ruler."""
    measured = density(index.row_parts(row), index.row_servers(row), shown)
    picture = _bars(measured)
    _draw_grid(picture, measured, grid)
    if len(row.lanes) == 1 and len(lane := index.lane(row.lanes[0])):
        _tell_apart(picture, lane, shown)
        _draw_admissions(picture, index, lane, measured, shown)
        _draw_labels(picture, index, lane, shown)
    if Overlay.IDLE in look.overlays:
        _draw_idle(picture, index, row, measured, shown)
    _draw_waiting(picture, hazards, row, measured, shown)
    if Overlay.PATH in look.overlays:
        _draw_path(picture, index, row, shown)
    _draw_marked(picture, index, look, row, shown)
    _draw_hazards(picture, hazards, row, shown)
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


def _tell_apart(picture: Cells, lane: Lane, shown: Axis) -> None:
    """Every other stage in another shade, in the columns that show exactly one."""
    last = lane.starts.searchsorted(shown.edges[1:]) - 1
    first = lane.covered_ends.searchsorted(shown.edges[:-1], side="right")
    picture.tones[(first == last) & (last % 2 == 1)] += Shade.OTHER


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


def _draw_labels(picture: Cells, index: TimelineIndex, lane: Lane, shown: Axis) -> None:
    for position in _wide_stages(lane, shown):
        start, end = int(lane.covered[position]), int(lane.covered_ends[position])
        columns = _whole_columns(shown, start, end)
        room = len(columns) - 1
        labels = bar_labels(index, int(lane.ids[position]))
        label = next((text for text in labels if 0 < cells(text) <= room), "")
        if label and cells(label) == len(label):
            at = columns.start + (1 if len(label) < room else 0)
            picture.put(at, label, int(picture.tones[columns.start]) | LABEL)


def _wide_stages(lane: Lane, shown: Axis) -> list[int]:
    """The positions of the shown stages that fill enough columns; at most one for each three columns."""
    first = int(lane.covered_ends.searchsorted(shown.edges[0], side="right"))
    past = int(lane.starts.searchsorted(shown.edges[-1]))
    if past - first > 4 * shown.width:
        return []
    least = int(shown.column_ps.max()) * LEAST_LABEL_COLUMNS
    covered = lane.covered_ends[first:past] - lane.covered[first:past]
    return [first + int(place) for place in np.flatnonzero(covered >= least)]


def _whole_columns(shown: Axis, start_ps: int, end_ps: int) -> range:
    """The columns that lie within [start, end)."""
    first = int(shown.edges.searchsorted(start_ps))
    past = int(shown.edges.searchsorted(end_ps, side="right")) - 1
    return range(first, max(past, first))


def _draw_idle(
    picture: Cells, index: TimelineIndex, row: Row, measured: Density, shown: Axis
) -> None:
    """The empty columns of a lane by what it waited for; a group has no one reason."""
    if len(row.lanes) != 1:
        return
    empty = (measured.share == 0) & (measured.begun == 0)
    covered, glyphs, tones = idle_columns(index, row.lanes[0], empty, shown)
    picture.glyphs[covered] = glyphs[covered]
    picture.tones[covered] = tones[covered]


def _draw_path(picture: Cells, index: TimelineIndex, row: Row, shown: Axis) -> None:
    """What is on the critical path as a heavy line in its own colour, all else faint."""
    covered, labels = on_path(index, row, shown), picture.tones & LABEL
    picture.tones[~covered] = FAINT + labels[~covered]
    picture.glyphs[covered & (labels == 0)] = ord(RUN_GLYPH)


def _draw_waiting(
    picture: Cells, hazards: HazardIndex, row: Row, measured: Density, shown: Axis
) -> None:
    """A line through the empty columns over which a command was held, with words where they fit."""
    if len(row.lanes) != 1 or not len(hazards):
        return
    near, marks = hazards.of_row(row), hazards.marks
    from_ps, at_ps = marks.from_ps[near], marks.at_ps[near]
    held = (from_ps < at_ps) & (from_ps < shown.edges[-1]) & (at_ps > shown.edges[0])
    waiting = _covered_columns(from_ps[held], at_ps[held], shown)
    empty = waiting & (measured.share == 0) & (measured.begun == 0)
    picture.glyphs[empty] = WAITING
    picture.tones[empty] = tone(Paint.HELD)
    if np.count_nonzero(held) * COLUMNS_PER_WORDS > shown.width:
        return
    for hazard, since in zip(marks.hazard[near][held], from_ps[held], strict=True):
        _write_held(picture, hazards, int(hazard), shown.column_of(int(since)) + 1, empty)


def _write_held(
    picture: Cells, hazards: HazardIndex, hazard: int, column: int, empty: Bools
) -> None:
    """`#7 held for m` behind the mark at which the command began to be held."""
    words = f"#{int(hazards.table.later[hazard])} held for {hazards.handle_words(hazard)}"
    column = max(column, 0)
    room = empty[column : column + len(words) + 1]
    if cells(words) == len(words) < len(room) and room.all():
        picture.put(column, words, tone(Paint.HELD))


def _covered_columns(from_ps: Int64s, to_ps: Int64s, shown: Axis) -> Bools:
    """The columns of which some interval covers the start."""
    begun = np.searchsorted(shown.edges[:-1], np.maximum(from_ps, shown.edges[0]))
    ended = np.searchsorted(shown.edges[:-1], to_ps)
    change = np.bincount(begun, minlength=shown.width + 1)[: shown.width + 1]
    change = change - np.bincount(ended, minlength=shown.width + 1)[: shown.width + 1]
    covered: Bools = np.cumsum(change)[: shown.width] > 0
    return covered


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


def _draw_hazards(picture: Cells, hazards: HazardIndex, row: Row, shown: Axis) -> None:
    if not len(hazards):
        return
    places = hazards.of_row(row)
    times_ps, outcomes = hazards.marks.from_ps[places], hazards.marks.outcome[places]
    inside = (times_ps >= shown.edges[0]) & (times_ps < shown.edges[-1])
    columns = shown.edges.searchsorted(times_ps[inside], side="right") - 1
    worst = np.zeros(shown.width, dtype=np.int8)
    np.maximum.at(worst, columns, SEVERITY[outcomes[inside]])
    for outcome, paint in OUTCOME_PAINTS.items():
        columns = np.flatnonzero(worst == SEVERITY[outcome])
        picture.glyphs[columns] = ord(GLYPHS[outcome])
        picture.tones[columns] = tone(paint)


OUTCOME_PAINTS = {
    Outcome.HELD: Paint.HELD,
    Outcome.VIOLATED: Paint.VIOLATED,
    Outcome.POTENTIAL: Paint.POTENTIAL,
}


def spans(picture: Cells) -> Line:
    """The cells as runs of one tone."""
    text = picture.glyphs.astype("<u4").tobytes().decode("utf-32-le")
    changes = np.flatnonzero(np.diff(picture.tones)) + 1
    starts = [0, *changes.tolist()][: len(text)]
    tones = picture.tones[starts].tolist()
    ends = [*starts[1:], len(text)]
    runs = zip(starts, ends, tones, strict=True)
    return tuple([Span(text[start:end], tone) for start, end, tone in runs])
