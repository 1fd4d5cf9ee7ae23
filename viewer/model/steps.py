"""The cursor's steps: from stage to stage in a lane, a PE, the machine; along causes; between rows."""

from dataclasses import replace

import numpy as np

from ...schemas.columns import Int64s
from .index import NO_STAGE, TimelineIndex
from .look import MIN_SPAN_PS, Look, jump, reveal, select, window
from .rows import shown_rows
from .tree import Row
from .words import kind_words


def step_row(index: TimelineIndex, look: Look, by: int) -> Look:
    """The next (by=1) or previous (by=−1) stage of the cursor's row, in the order (start, stage id)."""
    if look.stage == NO_STAGE:
        return look
    row = index.tree.rows[look.row]
    here = (index.start(look.stage), look.stage)
    found = [stage for lane in row.lanes if (stage := _beside(index, lane, here, by)) >= 0]
    if not found:
        return look
    chosen = (min if by > 0 else max)((index.start(stage), stage) for stage in found)[1]
    return replace(select(index, look, chosen), row=look.row)


def _beside(index: TimelineIndex, lane: int, here: tuple[int, int], by: int) -> int:
    """The lane's first stage after `here`, or its last before, or NO_STAGE."""
    if not index.lanes.count(lane):
        return NO_STAGE
    stages = index.lane(lane)
    start, stage = here
    at = stages.position(stage, start)
    if by < 0:
        at -= 1
    elif at < len(stages) and int(stages.ids[at]) == stage:
        at += 1
    return int(stages.ids[at]) if 0 <= at < len(stages) else NO_STAGE


def step_pe(index: TimelineIndex, look: Look, by: int) -> Look:
    """The next or previous stage of the same PE, on whichever engine."""
    if look.stage == NO_STAGE:
        return look
    mine = _of_pe(index, look.stage)
    starts = index.timeline.start_ps[mine]
    find = _after if by > 0 else _before
    chosen = find(starts, index.start(look.stage), look.stage - mine.start)
    return look if chosen < 0 else select(index, look, mine.start + chosen)


def step_machine(index: TimelineIndex, look: Look, by: int) -> Look:
    """The next or previous stage anywhere in the machine, in the order (start, stage id)."""
    if look.stage == NO_STAGE:
        return look
    place = index.place_in_time(look.stage) + by
    if not 0 <= place < len(index):
        return look
    return select(index, look, int(index.by_start[place]))


def _after(starts: Int64s, start: int, place: int) -> int:
    """The place of the least (start, place) above the given one, or −1."""
    alike = starts[place + 1 :] == start
    if alike.any():
        return place + 1 + int(alike.argmax())
    later = starts[starts > start]
    return int((starts == later.min()).argmax()) if len(later) else -1


def _before(starts: Int64s, start: int, place: int) -> int:
    """The place of the greatest (start, place) below the given one, or −1."""
    alike = starts[:place] == start
    if alike.any():
        return place - 1 - int(alike[::-1].argmax())
    earlier = starts[starts < start]
    if not len(earlier):
        return -1
    return len(starts) - 1 - int((starts[::-1] == earlier.max()).argmax())


def step_command(index: TimelineIndex, look: Look, by: int) -> Look:
    """The first stage (the dispatch) of the PE's next or previous command."""
    if look.stage == NO_STAGE:
        return look
    commands = index.commands
    position = index.command_position(look.stage) + by
    if not 0 <= position < len(commands.keys):
        return look
    first = commands.stages(position)[0]
    return select(index, look, first) if index.pe(first) == index.pe(look.stage) else look


def step_tile(index: TimelineIndex, look: Look, by: int) -> Look:
    """The PE's stage of the same kind (a MATH stage: of the same op) in the next or previous tile.

    Behind a composite's last tile comes the first one of the next command that has such a stage.
    """
    if look.stage == NO_STAGE:
        return look
    mine = _of_pe(index, look.stage)
    stages, work = index.timeline.stages, kind_words(index, look.stage)
    elsewhere = stages.command[mine] != index.command(look.stage)
    elsewhere |= stages.tile[mine] != index.tile(look.stage)
    alike = np.flatnonzero(elsewhere & (stages.kind[mine] == index.kind(look.stage))) + mine.start
    after = int(np.searchsorted(alike, look.stage))
    onwards = alike[after:] if by > 0 else alike[:after][::-1]
    found = (stage for stage in onwards.tolist() if kind_words(index, stage) == work)
    chosen = next(found, NO_STAGE)
    return look if chosen == NO_STAGE else select(index, look, chosen)


def _of_pe(index: TimelineIndex, stage: int) -> slice:
    """The stage ids of a stage's PE."""
    pe = index.pe(stage)
    first, past = np.searchsorted(index.timeline.stages.pe, np.array([pe, pe + 1])).tolist()
    return slice(first, past)


def first_in_row(index: TimelineIndex, look: Look) -> Look:
    """The row's first stage."""
    return _end_of_row(index, look, 0)


def last_in_row(index: TimelineIndex, look: Look) -> Look:
    """The row's last stage."""
    return _end_of_row(index, look, -1)


def _end_of_row(index: TimelineIndex, look: Look, place: int) -> Look:
    if look.stage == NO_STAGE:
        return look
    lanes = [lane for lane in index.tree.rows[look.row].lanes if index.lanes.count(lane)]
    ends = [int(index.lane(lane).ids[place]) for lane in lanes]
    chosen = (min if place == 0 else max)((index.start(stage), stage) for stage in ends)[1]
    return replace(select(index, look, chosen), row=look.row)


def cause_back(index: TimelineIndex, look: Look) -> Look:
    """The stage that let this one start: why it did not start earlier."""
    if look.stage == NO_STAGE or index.cause(look.stage) < 0:
        return look
    return _walk(index, look, index.cause(look.stage))


def cause_forward(index: TimelineIndex, look: Look) -> Look:
    """The stage that this one let start, the first to start where there are several."""
    if look.stage == NO_STAGE:
        return look
    released = index.released_by(look.stage)
    return _walk(index, look, int(released[0])) if len(released) else look


def next_released(index: TimelineIndex, look: Look) -> Look:
    """Another one of the stages that the same stage let start, the first again after the last."""
    cause = index.cause(look.stage) if look.stage != NO_STAGE else NO_STAGE
    if cause == NO_STAGE:
        return look
    alike = index.released_by(cause)
    chosen = int(alike[(int((alike == look.stage).argmax()) + 1) % len(alike)])
    return replace(jump(index, look, chosen), trail=look.trail)


def _walk(index: TimelineIndex, look: Look, stage: int) -> Look:
    return replace(jump(index, look, stage), trail=(*look.trail, look.stage))


def trail_back(index: TimelineIndex, look: Look) -> Look:
    """One step back on the trail."""
    if not look.trail:
        return look
    return replace(jump(index, look, look.trail[-1]), trail=look.trail[:-1])


def move_rows(index: TimelineIndex, look: Look, by: int) -> Look:
    """The cursor `by` rows further down, on the stage nearest to where it was in time."""
    visible = shown_rows(index, look)
    if look.row not in visible:
        return look
    place = visible.index(look.row) + by
    return to_row(index, look, visible[min(max(place, 0), len(visible) - 1)])


def to_row(index: TimelineIndex, look: Look, key: int) -> Look:
    """The cursor on a row; on the selected stage still, if the row stands for it."""
    row = index.tree.rows[key]
    if look.stage != NO_STAGE and index.lane_of(look.stage) in row.lanes:
        return replace(look, row=key)
    stage = nearest_in_row(index, row, look.at_ps)
    return reveal(index, replace(look, row=key, stage=stage, trail=(), is_placed=True))


def nearest_in_row(index: TimelineIndex, row: Row, time_ps: int) -> int:
    """The row's stage that runs at a time, or else the closest one; NO_STAGE where it has none."""
    best = (0, 0, NO_STAGE)
    for lane in row.lanes:
        if not index.lanes.count(lane):
            continue
        stages = index.lane(lane)
        at = stages.nearest(time_ps)
        start, end, stage = int(stages.starts[at]), int(stages.ends[at]), int(stages.ids[at])
        distance = max(start - time_ps, time_ps - end, 0)
        candidate = (distance, start, stage)
        best = candidate if best[2] == NO_STAGE else min(best, candidate)
    return best[2]


def focus(index: TimelineIndex, look: Look) -> Look:
    """The selected stage in the middle, over a quarter of the width. One of no length so that its
    neighbours in the lane are seen (`neighbours_span_ps`).

    Where the cursor is still where it was at first, the row's stage in the middle of what is shown.
    """
    if not look.is_placed and look.row >= 0:
        middle = (look.from_ps + look.to_ps) // 2
        found = nearest_in_row(index, index.tree.rows[look.row], middle)
        look = look if found == NO_STAGE else replace(select(index, look, found), row=look.row)
    if look.stage == NO_STAGE:
        return look
    start, end = index.start(look.stage), index.end(look.stage)
    around = neighbours_span_ps(index, look.stage) or look.span_ps
    span = 4 * (end - start) if end > start else around
    return window(index, look, (start + end - max(span, MIN_SPAN_PS)) // 2, span)


def neighbours_span_ps(index: TimelineIndex, stage: int) -> int:
    """The span around a stage of no length in which the end of the stage before it in its lane, and the
    start of the one after it, are no farther from the middle than half way to the edge. 0 where the
    lane has no other stage.
    """
    lane = index.lane(index.lane_of(stage))
    at_ps = index.start(stage)
    place = lane.position(stage, at_ps)
    distances = []
    if place > 0:
        distances.append(max(at_ps - int(lane.ends[place - 1]), 0))
    if place + 1 < len(lane):
        distances.append(int(lane.starts[place + 1]) - at_ps)
    return max(4 * max(distances), MIN_SPAN_PS) if distances else 0


def toggle_fold(index: TimelineIndex, look: Look) -> Look:
    """Folds or unfolds the group that the cursor is on or in."""
    if look.row < 0:
        return look
    row = index.tree.rows[look.row]
    key = row.key if row.is_group else row.parent
    if key < 0:
        return look
    return replace(look, folded=look.folded ^ {key}, row=key)
