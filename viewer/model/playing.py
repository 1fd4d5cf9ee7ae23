"""Playing: the cursor's time runs on by itself, the selected stage being what the row does then."""

from dataclasses import replace

from .index import NO_STAGE, TimelineIndex
from .look import EDGE_PARTS, Look, window
from .steps import nearest_in_row

TICKS_PER_S = 20
WINDOWS_PER_S = 0.1
"""The speed at first: what is shown passes in ten seconds."""

LEAST_PS_PER_S = TICKS_PER_S


def first_speed(look: Look) -> int:
    """Picoseconds a second, for a window that has not been played yet."""
    return max(int(look.span_ps * WINDOWS_PER_S), LEAST_PS_PER_S)


def faster(speed: int) -> int:
    """Twice as fast."""
    return speed * 2


def slower(speed: int) -> int:
    """Half as fast, down to a picosecond a tick."""
    return max(speed // 2, LEAST_PS_PER_S)


def advanced(index: TimelineIndex, look: Look, by_ps: int) -> Look:
    """The cursor's time `by_ps` later, at most at the end; the window follows it in steps."""
    at_ps = min(look.at_ps + by_ps, index.timeline.makespan_ps)
    stage = nearest_in_row(index, index.tree.rows[look.row], at_ps) if look.row >= 0 else NO_STAGE
    moved = replace(look, at_ps=at_ps, stage=stage, trail=(), is_placed=True)
    margin = look.span_ps // EDGE_PARTS
    if look.from_ps <= at_ps < look.to_ps - margin:
        return moved
    return window(index, moved, at_ps - margin, look.span_ps)


def at_end(index: TimelineIndex, look: Look) -> bool:
    """Whether there is nothing left to play."""
    return look.at_ps >= index.timeline.makespan_ps
