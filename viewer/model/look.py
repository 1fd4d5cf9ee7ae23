"""Where one looks: the window of time, the one cursor, what is folded. Immutable; a key makes a new one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from .index import NO_STAGE, TimelineIndex

MIN_SPAN_PS = 400
"""The narrowest window. Stages last whole picoseconds, so nothing is hidden by it."""

EDGE_PARTS = 12
"""A selected stage keeps a distance of 1/12 of the window from its edges."""


NO_TIME = -1


class Overlay(Enum):
    """What can be laid over the rows."""

    PATH = "critical path"
    IDLE = "idle time by reason"


@dataclass(frozen=True, slots=True)
class Look:
    """What is shown and selected.

    The window is [from_ps, to_ps). `row` is the key of the row under the cursor, `stage` the
    selected stage (NO_STAGE on an empty row), `at_ps` the time that moving up and down keeps.
    `trail` holds the stages walked through to the selected one, first to last; `top` is the place
    of the first row shown among the visible ones.

    `hidden` are the rows left out, `pinned` those that stay at the top, by key. `mark_ps` is the
    mark (NO_TIME for none), `mark_stage` the stage that was marked. `area` is a range of time under
    study; while its end is yet to be chosen, `area_from_ps` is where it began. `is_placed`: the
    cursor is where somebody put it, and not where it was at first. `rows_like` is the pattern for
    which rows are hidden, '' without one; `rows_besides` counts those of them that are shown
    because the cursor went there.
    """

    from_ps: int
    to_ps: int
    row: int
    stage: int
    at_ps: int
    folded: frozenset[int]
    top: int = 0
    trail: tuple[int, ...] = ()
    overlays: frozenset[Overlay] = frozenset()
    hidden: frozenset[int] = frozenset()
    pinned: tuple[int, ...] = ()
    mark_ps: int = NO_TIME
    mark_stage: int = NO_STAGE
    area_from_ps: int = NO_TIME
    area: tuple[int, int] | None = None
    is_placed: bool = False
    rows_like: str = ""
    rows_besides: int = 0

    @property
    def span_ps(self) -> int:
        return self.to_ps - self.from_ps


Move = Callable[[TimelineIndex, Look], Look]
"""What a key does: a new look from the old one."""


def first_look(index: TimelineIndex) -> Look:
    """Everything in sight, the cursor on the stage that starts first."""
    tree = index.tree
    folded = tree.first_folds()
    look = Look(0, max(index.span_ps, MIN_SPAN_PS), 0 if tree.rows else -1, NO_STAGE, 0, folded)
    if not len(index):
        return look
    return replace(select(index, look, int(index.timeline.start_ps.argmin())), is_placed=False)


def select(index: TimelineIndex, look: Look, stage: int) -> Look:
    """Puts the cursor on a stage; the window moves only where it must, a hidden row is shown again."""
    row = index.tree.shown_row(index.lane_of(stage), look.folded)
    hidden = look.hidden
    if row in hidden:
        hidden -= {row, *index.tree.above(row)}
        besides = look.rows_besides + 1 if look.rows_like and hidden else 0
        look = replace(look, rows_like=look.rows_like if hidden else "", rows_besides=besides)
    chosen = replace(look, stage=stage, row=row, at_ps=index.start(stage), trail=(), hidden=hidden)
    return reveal(index, replace(chosen, is_placed=True))


def jump(index: TimelineIndex, look: Look, stage: int) -> Look:
    """Puts the cursor on a stage in its own row: the groups around it are unfolded."""
    return select(index, unfolded(index, look, stage), stage)


def unfolded(index: TimelineIndex, look: Look, stage: int) -> Look:
    """The groups around a stage's row unfolded, the others as they are."""
    row = index.tree.row_of_lane[index.lane_of(stage)]
    return replace(look, folded=look.folded.difference(index.tree.above(row)))


def reveal(index: TimelineIndex, look: Look) -> Look:
    """Pans until the selected stage's start is in the window, centred if it was far away."""
    if look.stage == NO_STAGE:
        return look
    start = index.start(look.stage)
    margin = look.span_ps // EDGE_PARTS
    if look.from_ps - look.span_ps > start or start >= look.to_ps + look.span_ps:
        return window(index, look, start - look.span_ps // 2, look.span_ps)
    end = min(index.end(look.stage), start + look.span_ps - 2 * margin)
    if start < look.from_ps + margin:
        return window(index, look, min(start - margin, look.from_ps), look.span_ps)
    if end > look.to_ps - margin:
        return window(index, look, max(end + margin - look.span_ps, look.from_ps), look.span_ps)
    return look


def window(index: TimelineIndex, look: Look, from_ps: int, span_ps: int) -> Look:
    """Shows `span_ps` from `from_ps` on, kept inside the timeline."""
    whole = max(index.span_ps, MIN_SPAN_PS)
    span = min(max(span_ps, MIN_SPAN_PS), whole)
    start = min(max(from_ps, 0), whole - span)
    return replace(look, from_ps=start, to_ps=start + span)


def zoom_in(index: TimelineIndex, look: Look) -> Look:
    """Half the time in the same width, the cursor staying in its place."""
    return zoom(index, look, look.span_ps // 2, _anchor(index, look))


def zoom_out(index: TimelineIndex, look: Look) -> Look:
    """Twice the time in the same width, the cursor staying in its place."""
    return zoom(index, look, look.span_ps * 2, _anchor(index, look))


def zoom(index: TimelineIndex, look: Look, span_ps: int, anchor_ps: int) -> Look:
    """Changes the span so that `anchor_ps` stays at the same share of the width."""
    span = min(max(span_ps, MIN_SPAN_PS), max(index.span_ps, MIN_SPAN_PS))
    left = (anchor_ps - look.from_ps) * span // look.span_ps
    return window(index, look, anchor_ps - left, span)


def _anchor(index: TimelineIndex, look: Look) -> int:
    """The selected stage's middle where it is in the window, else the window's."""
    middle = (look.from_ps + look.to_ps) // 2
    if look.stage == NO_STAGE:
        return middle
    chosen = (index.start(look.stage) + index.end(look.stage)) // 2
    return chosen if look.from_ps <= chosen < look.to_ps else middle


def pan_left(index: TimelineIndex, look: Look) -> Look:
    """A quarter of the window earlier."""
    return window(index, look, look.from_ps - max(1, look.span_ps // 4), look.span_ps)


def pan_right(index: TimelineIndex, look: Look) -> Look:
    """A quarter of the window later."""
    return window(index, look, look.from_ps + max(1, look.span_ps // 4), look.span_ps)


def show_all(index: TimelineIndex, look: Look) -> Look:
    """The whole timeline."""
    return window(index, look, 0, index.span_ps)


def show_pair(index: TimelineIndex, look: Look, earlier: int, later: int) -> Look:
    """Both stages in the window and unfolded, the later one selected, the earlier one on the trail."""
    both = unfolded(index, look, earlier)
    chosen = replace(jump(index, both, later), trail=(earlier,))
    from_ps = min(index.start(earlier), index.start(later))
    to_ps = max(index.end(earlier), index.end(later))
    margin = (to_ps - from_ps) // 8
    return window(index, chosen, from_ps - margin, to_ps - from_ps + 2 * margin)


def toggle_overlay(index: TimelineIndex, look: Look, overlay: Overlay) -> Look:
    """Lays something over the rows, or takes it away."""
    return replace(look, overlays=look.overlays ^ {overlay})
