"""The cursor in a file that was opened anew, after its kernel was captured again: as near as can be."""

from dataclasses import replace

from ...schemas.errors import FileError
from ...schemas.timeline import Status, Timeline
from . import times
from .calibrating import Settings
from .carried import carried, have_equal_rows, pe_there, same_stage, with_times
from .index import NO_STAGE, TimelineIndex
from .look import Look, first_look, jump, window
from .matching import PatternError
from .rows import filter_rows


def check_same_kernel(before: Timeline, after: Timeline, name: str) -> None:
    """FileError where the file of that name has come to hold another kernel."""
    was, is_now = before.trace.header.kernel, after.trace.header.kernel
    if was != is_now:
        raise FileError(
            f"{name}: must be of the kernel {was} still, not of {is_now}: leave, and view it anew"
        )


def look_again(old: TimelineIndex, new: TimelineIndex, look: Look) -> Look:
    """The look at the same stage (`carried`), as it is where nothing has changed; where there is none, at
    the nearest of its PE (`nearest_stage`), which is then where that one was on the screen. Rows are
    folded and hidden as they were where they are the same rows, and else as at first, but for a pattern
    that chose them.
    """
    is_there = look.stage == NO_STAGE or same_stage(old, new, look.stage) != NO_STAGE
    if have_equal_rows(old, new) and is_there:
        return carried(old, new, look)
    kept = with_times(old, new, _kept(old, new, look))
    stage = nearest_stage(old, new, look.stage)
    if stage == NO_STAGE:
        return kept
    if look.span_ps < old.span_ps:
        before = old.start(look.stage) - look.from_ps
        kept = window(new, kept, new.start(stage) - before, look.span_ps)
    return jump(new, kept, stage)


def _kept(old: TimelineIndex, new: TimelineIndex, look: Look) -> Look:
    """The first look, with what of the other one means something there, or will (`with_times`)."""
    first = first_look(new)
    if have_equal_rows(old, new):
        kept = replace(look, row=first.row, stage=first.stage, at_ps=first.at_ps, trail=())
        return window(new, kept, 0, new.span_ps)
    first = replace(
        first,
        overlays=look.overlays,
        mark_ps=look.mark_ps,
        mark_stage=look.mark_stage,
        area=look.area,
        area_from_ps=look.area_from_ps,
    )
    try:
        return filter_rows(new, first, look.rows_like)
    except PatternError:
        return first


def nearest_stage(old: TimelineIndex, new: TimelineIndex, stage: int) -> int:
    """The new timeline's stage that does the same work; else one of the same kind in the same command of
    the same PE, else that command's first; of the command with the nearest number where it is not there.
    NO_STAGE where nothing of that PE ran.
    """
    if stage == NO_STAGE:
        return NO_STAGE
    same, pe = same_stage(old, new, stage), pe_there(old, new, old.pe(stage))
    if same != NO_STAGE or pe is None:
        return same
    first, past = (new.commands.position(number, 0) for number in (pe, pe + 1))
    wanted = (pe << 32) + old.command(stage)
    places = range(first, past)
    if not places:
        return NO_STAGE
    place = min(places, key=lambda one: abs(int(new.commands.keys[one]) - wanted))
    ids = new.commands.stages(place)
    return next((one for one in ids if new.kind(one) is old.kind(stage)), ids[0])


Place = tuple[TimelineIndex, Look]


def reopened_words(opened: TimelineIndex, before: Place, after: Place) -> str:
    """How long the run is now, and was when it was `opened` last; that it stops for ever; and where the
    cursor is if that is another command than before.
    """
    was, is_now = (one.timeline.makespan_ps for one in (opened, after[0]))
    words = f"opened anew: {times.short(is_now)}, as before"
    if was != is_now:
        words = f"opened anew: {times.short(is_now)}, was {times.short(was)}"
    if after[0].timeline.status is Status.DEADLOCK:
        words += " · it stopped for ever: ! shows who waits for whom"
    return words + _moved_words(before, after)


def dropped_words(turned: Settings, opened: Timeline) -> str:
    """That what was turned is not turned again, where the timeline was opened under other numbers than
    those that it was turned from, or another policy; '' where it can be, or nothing was.
    """
    if turned.is_base:
        return ""
    bases = (
        ("calibration", turned.base, opened.calibration),
        ("hazard policy", turned.base_policy, opened.policy),
    )
    changed = [f"the {word}" for word, was, is_now in bases if was != is_now]
    if not changed:
        return ""
    have = "has" if len(changed) == 1 else "have"
    return f" · what was turned is dropped: {' and '.join(changed)} {have} changed"


def _moved_words(before: Place, after: Place) -> str:
    if NO_STAGE in (before[1].stage, after[1].stage) or not before[1].is_placed:
        return ""
    (rank, command), (there, now) = _command(*before), _command(*after)
    if (rank, command) == (there, now):
        return ""
    return f" · command {command} of PE {rank} is gone: at command {now} of PE {there}"


def _command(index: TimelineIndex, look: Look) -> tuple[int, int]:
    """The PE's rank and the command."""
    return index.timeline.trace.pes[index.pe(look.stage)].rank, index.command(look.stage)
