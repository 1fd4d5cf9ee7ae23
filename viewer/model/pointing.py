"""What a cell of the picture means: the mouse's clicks and wheel as moves."""

from dataclasses import replace

from .frame import lane_axis
from .index import NO_STAGE, TimelineIndex
from .look import Look, pan_left, pan_right, reveal, window, zoom
from .marking import set_area
from .rows import in_sight, row_pitch, rows_height
from .steps import nearest_in_row, toggle_fold


def pick(index: TimelineIndex, look: Look, column: int, line: int, size: tuple[int, int]) -> Look:
    """Puts the cursor where one clicked on the picture. `line` counts from the ruler (0); `size` is the
    picture's width and height in cells.
    """
    width, height = size
    return pick_row(
        index, look, (column, line - 1), (width, rows_height(index, look, width, height))
    )


def pick_row(
    index: TimelineIndex, look: Look, cell: tuple[int, int], size: tuple[int, int]
) -> Look:
    """Puts the cursor on a stage, or, on a title, on its row (a group folds). `cell` is (column, line)
    from the first row on, `size` the width and height of the rows in cells.
    """
    (column, line), (width, room) = cell, size
    keys = in_sight(index, look, room)
    place = line // row_pitch(index, look, room)
    if not 0 <= line < room or place >= len(keys):
        return look
    row = index.tree.rows[keys[place]]
    label_cells = index.tree.label_cells
    if column < label_cells and row.is_group:
        return toggle_fold(index, replace(look, row=row.key))
    at_ps = _middle(look, max(column - label_cells, 0), width - label_cells)
    stage = nearest_in_row(index, row, at_ps)
    chosen = replace(look, row=row.key, stage=stage, at_ps=at_ps, trail=(), is_placed=True)
    return chosen if stage == NO_STAGE else reveal(index, chosen)


def pick_on_map(index: TimelineIndex, look: Look, column: int, room: int) -> Look:
    """The window around the time of a column of the minimap, whose strip has `room` columns from 1 on."""
    place = min(max(column - 1, 0), room - 1)
    middle = index.span_ps * (2 * place + 1) // (2 * room)
    return window(index, look, middle - look.span_ps // 2, look.span_ps)


def drag(index: TimelineIndex, look: Look, begun: int, column: int, width: int) -> Look:
    """The area between two columns of the picture, both included."""
    label_cells = index.tree.label_cells
    edges = lane_axis(look, width - label_cells).edges
    left, right = sorted(min(max(one - label_cells, 0), len(edges) - 2) for one in (begun, column))
    return set_area(index, look, int(edges[left]), int(edges[right + 1]))


def wheel(index: TimelineIndex, look: Look, column: int, by: int, width: int) -> Look:
    """Zooms in (by −1) or out (by 1) around the time under the pointer."""
    label_cells = index.tree.label_cells
    anchor = _middle(look, max(column - label_cells, 0), width - label_cells)
    span = look.span_ps // 2 if by < 0 else look.span_ps * 2
    return zoom(index, look, span, anchor)


def wheel_pan(index: TimelineIndex, look: Look, by: int) -> Look:
    """Pans with the wheel."""
    return pan_left(index, look) if by < 0 else pan_right(index, look)


def _middle(look: Look, column: int, width: int) -> int:
    """The time in the middle of a column."""
    edges = lane_axis(look, width).edges
    column = min(column, len(edges) - 2)
    return (int(edges[column]) + int(edges[column + 1])) // 2
