"""The main screen's lines: header, ruler, rows, and what the last lines say of the selection.

Every function gives lines of exactly the width it is asked for.
"""

from itertools import groupby
from operator import itemgetter

import numpy as np

from ...schemas.columns import Int64s
from ...schemas.timeline import Status
from . import times
from .changes import signed_percent
from .hazards import HazardIndex
from .idle_cells import legend_lines
from .index import NO_STAGE, TimelineIndex
from .lane_cells import row_line
from .look import NO_TIME, Look, Overlay
from .occupancy import Axis, axis
from .path import path_line
from .rows import in_sight, row_pitch
from .text import Line, Span, cells, fit, fit_line, line_cells, printable, spread
from .tones import ACCENT, FAINT, LABEL, MUTED, STRONG, TEXT, Paint, tone
from .tree import Row
from .why import trail_words, why_words

TICK_CELLS = (10, 14, 18, 24)
"""Distances between two ticks of the ruler, to choose from by the length of their labels."""

FOLD_GLYPHS = {True: "▸ ", False: "▾ "}
PIN_GLYPH = "┬ "


def header_line(index: TimelineIndex, width: int, *more_words: str) -> Line:
    """File, topology, calibration, policy · makespan and tiles. A deadlock says so first, before it
    stands what else there is to say of the look (Δ to a mark), unless it is ''.
    """
    timeline = index.timeline
    parts = (timeline.topology.name, timeline.calibration.name, timeline.policy.name)
    setting = printable(" · ".join(parts))
    left = (Span(f" {printable(index.name)}", STRONG), Span(f"   {setting}", MUTED))
    right = _makespan(index)
    if timeline.status is Status.DEADLOCK:
        stopped = (Span("DEADLOCK", tone(Paint.VIOLATED)), Span(" after ", MUTED))
        right = (*stopped, *right)
    told = "   ".join(words for words in more_words if words)
    if told:
        right = (Span(f"{told}   ", ACCENT), *right)
    for more in _tiles(index):
        if line_cells((*left, *right, more)) <= width - 4:
            right = (*right, more)
    return spread(left, (Span("  "), *right, Span(" ")), width)


def _makespan(index: TimelineIndex) -> Line:
    """`30.31 µs`, or `30.31 µs → 28.20 µs −6.96 %` where it took the place of another timeline."""
    now = index.timeline.makespan_ps
    if index.before_ps is None:
        return (Span(times.short(now), STRONG),)
    change = f" {signed_percent(now - index.before_ps, index.before_ps)}"
    told_before, told_now = times.alike((index.before_ps, now))
    return (
        Span(f"{told_before} → ", MUTED),
        Span(told_now, STRONG),
        Span(change, tone(Paint.DISPATCH)),
    )


def _tiles(index: TimelineIndex) -> Line:
    """`· 2,048 tiles`, `, one every 9.717 ns`, for a kernel whose arguments say over what it loops. PEs
    sweep shares of the context side by side: how long one tile takes is another matter.
    """
    arguments = index.timeline.trace.header.arguments
    length, tile = arguments.get("s_kv"), arguments.get("tile")
    if not isinstance(length, int) or not isinstance(tile, int) or min(length, tile) < 1:
        return ()
    count = -(-length // tile)
    each = times.short(index.timeline.makespan_ps // count)
    return (Span(f" · {count:,} tiles", MUTED), Span(f", one every {each}", MUTED))


def lane_axis(look: Look, width: int) -> Axis:
    """The columns of the rows and of the ruler."""
    return axis(look.from_ps, look.to_ps, max(width, 1))


def ruler_line(index: TimelineIndex, look: Look, width: int) -> Line:
    """Round times above their columns, the area on a ground of its own, m at the mark, ▼ above the
    selected stage, in place of a label it meets. A label is whole or left out.
    """
    label_cells = index.tree.label_cells
    shown = lane_axis(look, width - label_cells)
    caret = _caret_column(index, look, shown)
    text = [" "] * shown.width
    marks = _ruler(look, shown)
    for tick in marks.ticks:
        column = shown.column_of(tick.time_ps)
        label = f"│{tick.label}"
        is_whole = column + len(label) <= shown.width
        if not is_whole or column <= caret <= column + len(label):
            label = "│"
        for offset, character in enumerate(label):
            text[column + offset] = character
    looks = [MUTED] * shown.width
    for column in _area_columns(look, shown):
        looks[column] = ACCENT + LABEL
    mark = shown.column_of(look.mark_ps) if look.mark_ps != NO_TIME else -1
    for column, glyph, tone_of_glyph in ((mark, "m", ACCENT), (caret, "▼", STRONG)):
        if 0 <= column < shown.width:
            text[column], looks[column] = glyph, tone_of_glyph
    title = Span(fit(f" time, {marks.unit}", label_cells), FAINT)
    written = groupby(zip(text, looks, strict=True), key=itemgetter(1))
    runs = (Span("".join(glyph for glyph, _ in run), tone_of_run) for tone_of_run, run in written)
    return fit_line((title, *runs), width)


def _area_columns(look: Look, shown: Axis) -> range:
    """The columns of the area; while its end is yet to be chosen, from its beginning to the cursor."""
    area = look.area
    if area is None and look.area_from_ps != NO_TIME:
        begun, at = sorted((look.area_from_ps, look.at_ps))
        area = (begun, at + 1)
    if area is None or area[1] <= shown.edges[0] or area[0] >= shown.edges[-1]:
        return range(0)
    return shown.columns_of(*area)


def _ruler(look: Look, shown: Axis) -> times.Ruler:
    """As many ticks as leave every label room."""
    for tick_cells in TICK_CELLS:
        ruler = times.ruler(look.from_ps, look.to_ps, shown.width // tick_cells)
        if max((len(tick.label) for tick in ruler.ticks), default=0) < tick_cells - 2:
            break
    return ruler


def _caret_column(index: TimelineIndex, look: Look, shown: Axis) -> int:
    if look.stage == NO_STAGE:
        return -1
    start, end = index.start(look.stage), index.end(look.stage)
    if end < look.from_ps or start >= look.to_ps:
        return -1
    columns = shown.columns_of(start, end)
    return (columns.start + columns.stop - 1) // 2


def row_lines(
    index: TimelineIndex, hazards: HazardIndex, look: Look, width: int, height: int
) -> list[Line]:
    """The visible rows from `look.top` on, each with its title, with air between them if there is room."""
    label_cells = index.tree.label_cells
    shown = lane_axis(look, width - label_cells)
    ticks = _ruler(look, shown).ticks
    grid = np.array([shown.column_of(tick.time_ps) for tick in ticks], dtype=np.int64)
    pitch = row_pitch(index, look, height)
    keys = in_sight(index, look, height)
    between = fit_line((Span(" " * label_cells), *_grid_only(shown, grid)), width)
    lines: list[Line] = []
    for key in keys:
        lines.append(_row(index, hazards, look, index.tree.rows[key], shown, grid, width))
        lines += [between] * (pitch - 1)
    if not lines:
        lines = [fit_line((Span("  nothing ran", MUTED),), width)]
    blank = fit_line((), width)
    return lines[:height] + [blank] * (height - len(lines))


def overlay_lines(index: TimelineIndex, look: Look, width: int) -> list[Line]:
    """A line below the rows for each overlay: the critical path's strip, the legend of idle time."""
    label_cells = index.tree.label_cells
    lines = []
    if Overlay.PATH in look.overlays:
        shown = lane_axis(look, width - label_cells)
        lines.append(path_line(index, shown, label_cells, width))
    if Overlay.IDLE in look.overlays:
        lines += legend_lines(index, label_cells, width)
    return lines


def _row(
    index: TimelineIndex,
    hazards: HazardIndex,
    look: Look,
    row: Row,
    shown: Axis,
    grid: Int64s,
    width: int,
) -> Line:
    label_cells = index.tree.label_cells
    is_closed = row.key in look.folded or row.key in look.pinned
    fold = FOLD_GLYPHS[is_closed] if row.is_group else "  "
    fold = PIN_GLYPH if row.key in look.pinned else fold
    title = fit(" " * row.depth + fold + row.title, label_cells - 1)
    is_here = row.key == look.row
    looks = ACCENT if is_here else STRONG if row.is_group else TEXT
    label = (Span("›" if is_here else " ", ACCENT), Span(title, looks))
    if row.is_group and not is_closed:
        line = (*label, *_grid_only(shown, grid))
    else:
        line = (*label, *row_line(index, hazards, look, row, shown, grid))
    return line if width > label_cells else fit_line(line, width)


def _grid_only(shown: Axis, grid: Int64s) -> Line:
    """An unfolded group's own row, or the air between rows: its lanes are below it."""
    text = np.full(shown.width, " ")
    text[grid] = "╎"
    return (Span("".join(text), FAINT),)


def why_line(index: TimelineIndex, hazards: HazardIndex, look: Look, width: int) -> Line:
    """Why the selected stage started when it did."""
    words = "nothing selected"
    if look.stage != NO_STAGE:
        words = why_words(index, hazards, look.stage)
    return fit_line((Span(" why    ", FAINT), Span(words, TEXT)), width)


def trail_line(index: TimelineIndex, look: Look, width: int) -> Line:
    """The path walked along the causes; of a long one its latest part."""
    words = trail_words(index, look.trail, look.stage)
    if not words:
        return fit_line((), width)
    room = width - 9
    if cells(words) > room:
        words = "…" + words[len(words) - room + 1 :]
    return fit_line((Span(" trail  ", FAINT), Span(words, ACCENT)), width)


def kernel_line(index: TimelineIndex, look: Look, width: int) -> Line:
    """The kernel's source line that issued the selected stage's command."""
    if look.stage == NO_STAGE:
        return fit_line((), width)
    line = index.line(index.pe(look.stage), index.command(look.stage))
    place = printable(f" {line}  ")
    return fit_line((Span(place, MUTED), Span(printable(line.text.strip()), TEXT)), width)
