"""The cursor carried from one timeline to another of the same kernel, so that nothing jumps."""

from dataclasses import replace

import numpy as np

from .index import NO_STAGE, TimelineIndex
from .look import NO_TIME, Look, first_look, window


def carried(old: TimelineIndex, new: TimelineIndex, look: Look) -> Look:
    """The look at the same stage, which stays where it was on the screen. The cursor's time and the
    mark's are those of their stages in the new timeline; the mark of a stage that it lacks is gone.

    Where everything was shown, everything is; a stage that the new timeline lacks (it stopped
    earlier) gives the first look.
    """
    stage = same_stage(old, new, look.stage)
    if not have_equal_rows(old, new) or (look.stage != NO_STAGE and stage == NO_STAGE):
        return first_look(new)
    trail = tuple(same_stage(old, new, one) for one in look.trail)
    kept = replace(look, stage=stage, trail=tuple(one for one in trail if one != NO_STAGE))
    kept = _with_mark(kept, new, same_stage(old, new, look.mark_stage))
    if stage != NO_STAGE:
        kept = replace(kept, at_ps=new.start(stage))
    if look.span_ps >= old.span_ps:
        return window(new, kept, 0, new.span_ps)
    if stage == NO_STAGE:
        return window(new, kept, look.from_ps, look.span_ps)
    before = old.start(look.stage) - look.from_ps
    return window(new, kept, new.start(stage) - before, look.span_ps)


def _with_mark(look: Look, new: TimelineIndex, stage: int) -> Look:
    """The mark on the new timeline's stage. One at a bare time stays where it is."""
    if look.mark_stage == NO_STAGE:
        return look
    mark_ps = NO_TIME if stage == NO_STAGE else new.start(stage)
    return replace(look, mark_stage=stage, mark_ps=mark_ps)


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
