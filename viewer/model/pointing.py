"""What a cell of the picture means: the mouse's clicks and wheel as moves."""

from dataclasses import replace

from .frame import lane_axis
from .index import NO_STAGE, TimelineIndex
from .look import Look, pan_left, pan_right, reveal, zoom
from .marking import set_area
from .rows import in_sight, row_pitch, rows_height
from .steps import nearest_in_row, toggle_fold


def pick(index: TimelineIndex, look: Look, column: int, line: int, size: tuple[int, int]) -> Look:
    """Puts the cursor where one clicked: on a stage, or, on a title, on its row (a group folds).

    `line` counts from the ruler (0); `size` is the picture's width and height in cells.
    """
    width, height = size
    room = rows_height(look, height)
    keys = in_sight(index, look, room)
    place = (line - 1) // row_pitch(index, look, room)
    if not 1 <= line <= room or place >= len(keys):
        return look
    row = index.tree.rows[keys[place]]
    label_cells = index.tree.label_cells
    if column < label_cells and row.is_group:
        return toggle_fold(index, replace(look, row=row.key))
    at_ps = _middle(look, max(column - label_cells, 0), width - label_cells)
    stage = nearest_in_row(index, row, at_ps)
    chosen = replace(look, row=row.key, stage=stage, at_ps=at_ps, trail=())
    return chosen if stage == NO_STAGE else reveal(index, chosen)


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
