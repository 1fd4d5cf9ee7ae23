"""The cursor carried from one timeline to another of the same kernel, so that nothing jumps."""

from dataclasses import replace

import numpy as np

from .index import NO_STAGE, TimelineIndex
from .look import NO_TIME, Look, first_look, window


def carried(old: TimelineIndex, new: TimelineIndex, look: Look) -> Look:
    """The look at the same stage, which stays where it was on the screen. The cursor's time and the
    mark's are as far from their stages as they were (`_time_there`); the mark of a stage that the new
    timeline lacks is gone. A bare time stays what it is, and so does an area, as far as they lie in it.

    In an equal timeline that is the look as it is. Where everything was shown, everything is; a stage
    that the new timeline lacks (it stopped earlier) gives the first look.
    """
    stage = same_stage(old, new, look.stage)
    if not have_equal_rows(old, new) or (look.stage != NO_STAGE and stage == NO_STAGE):
        return first_look(new)
    trail = tuple(same_stage(old, new, one) for one in look.trail)
    kept = replace(look, stage=stage, trail=tuple(one for one in trail if one != NO_STAGE))
    kept = with_times(old, new, replace(kept, at_ps=_time_there(old, new, look.stage, look.at_ps)))
    if look.span_ps >= old.span_ps:
        return window(new, kept, 0, new.span_ps)
    if stage == NO_STAGE:
        return window(new, kept, look.from_ps, look.span_ps)
    before = old.start(look.stage) - look.from_ps
    return window(new, kept, new.start(stage) - before, look.span_ps)


def with_times(old: TimelineIndex, new: TimelineIndex, look: Look) -> Look:
    """The mark and the area of the old timeline in the new one, as `carried` says."""
    mark_ps, begun = look.mark_ps, look.area_from_ps
    stage = same_stage(old, new, look.mark_stage)
    is_lost = look.mark_stage != NO_STAGE and stage == NO_STAGE
    if mark_ps != NO_TIME:
        mark_ps = NO_TIME if is_lost else _time_there(old, new, look.mark_stage, mark_ps)
    return replace(
        look,
        mark_ps=mark_ps,
        mark_stage=stage,
        area=_area_there(new, look.area),
        area_from_ps=begun if begun == NO_TIME else _inside(new, begun),
    )


def _time_there(old: TimelineIndex, new: TimelineIndex, stage: int, at_ps: int) -> int:
    """The time as far before the same stage's start, or after its end, as it was; one within the stage as
    far after its start, or at its end where it is shorter now. One beside no stage stays what it is.
    """
    there = same_stage(old, new, stage)
    if there == NO_STAGE:
        return _inside(new, at_ps)
    if at_ps > old.end(stage):
        return _inside(new, new.end(there) + at_ps - old.end(stage))
    return _inside(new, min(new.start(there) + at_ps - old.start(stage), new.end(there)))


def _inside(index: TimelineIndex, at_ps: int) -> int:
    """The time, or the nearer end of the timeline."""
    return min(max(at_ps, 0), index.timeline.makespan_ps)


def _area_there(index: TimelineIndex, area: tuple[int, int] | None) -> tuple[int, int] | None:
    """As much of an area as lies in the timeline; None where nothing does."""
    if area is None:
        return None
    from_ps, to_ps = area[0], min(area[1], index.span_ps)
    return (from_ps, to_ps) if from_ps < to_ps else None


def same_stage(old: TimelineIndex, new: TimelineIndex, stage: int) -> int:
    """The stage of the new timeline that does the same work, or NO_STAGE.

    PE, command, kind, op and tile say which work it is; of several alike, the same one in order.
    """
    if stage == NO_STAGE:
        return NO_STAGE
    if old.timeline.stages is new.timeline.stages:
        return stage
    mine = old.commands.stages(old.command_position(stage))
    pe, command = pe_there(old, new, old.pe(stage)), old.command(stage)
    if pe is None:
        return NO_STAGE
    position = new.commands.position(pe, command)
    if position == len(new.commands.keys) or new.commands.keys[position] != (pe << 32) + command:
        return NO_STAGE
    theirs = new.commands.stages(position)
    alike = _alike(old, mine, old, stage)
    others = _alike(new, theirs, old, stage)
    place = alike.index(stage)
    return others[place] if place < len(others) else NO_STAGE


def pe_there(old: TimelineIndex, new: TimelineIndex, pe: int) -> int | None:
    """The new timeline's PE of the same rank as that one of the old; None where it has none."""
    if old.timeline.trace is new.timeline.trace:
        return pe
    rank = old.timeline.trace.pes[pe].rank
    ranks = (one.rank for one in new.timeline.trace.pes)
    return next((number for number, one in enumerate(ranks) if one == rank), None)


def _alike(index: TimelineIndex, among: range, model: TimelineIndex, stage: int) -> list[int]:
    stages, wanted = index.timeline.stages, model.timeline.stages
    part = slice(among.start, among.stop)
    same = (
        (stages.kind[part] == wanted.kind[stage])
        & (stages.op[part] == wanted.op[stage])
        & (stages.tile[part] == wanted.tile[stage])
    )
    return [among.start + place for place in np.flatnonzero(same).tolist()]


def have_equal_rows(old: TimelineIndex, new: TimelineIndex) -> bool:
    """Row keys mean the same in both."""
    return old.tree.rows == new.tree.rows
