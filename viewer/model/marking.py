"""The mark and the area: a place to come back to and to measure from, and a range of time to study."""

from dataclasses import replace

from . import times
from .index import NO_STAGE, TimelineIndex
from .jumps import to_time
from .look import NO_TIME, Look, jump


def set_mark(index: TimelineIndex, look: Look) -> Look:
    """Marks the selected stage, or the cursor's time; at the mark, takes it away."""
    if look.mark_ps == look.at_ps and look.mark_stage == look.stage:
        return replace(look, mark_ps=NO_TIME, mark_stage=NO_STAGE)
    return replace(look, mark_ps=look.at_ps, mark_stage=look.stage)


def to_mark(index: TimelineIndex, look: Look) -> Look:
    """Jumps to the mark, which takes the cursor's old place, so that a second jump leads back."""
    if look.mark_ps == NO_TIME:
        return look
    left = replace(look, mark_ps=look.at_ps, mark_stage=look.stage)
    if look.mark_stage != NO_STAGE:
        return jump(index, left, look.mark_stage)
    return to_time(index, left, look.mark_ps)


def delta_words(look: Look) -> str:
    """`Δ +203 ns`, from the mark to the cursor; empty without a mark."""
    if look.mark_ps == NO_TIME:
        return ""
    delta = look.at_ps - look.mark_ps
    return f"Δ {'−' if delta < 0 else '+'}{times.exact(abs(delta))}"


def mark_area(index: TimelineIndex, look: Look) -> Look:
    """First begins an area at the cursor, then ends it there, then takes it away. One without a length,
    begun and ended at one instant, is none.
    """
    if look.area is not None:
        return replace(look, area=None)
    if look.area_from_ps == NO_TIME:
        return replace(look, area_from_ps=look.at_ps)
    begun = min(look.area_from_ps, look.at_ps)
    ended = max(look.area_from_ps, _end(index, look))
    return replace(look, area=(begun, ended) if ended > begun else None, area_from_ps=NO_TIME)


def area_words(before: Look, after: Look) -> str:
    """What `mark_area` did, where no figures tell it."""
    if after.area_from_ps != NO_TIME:
        return "area: go to its other end, v again ends it there"
    if before.area is not None:
        return "the area is taken away: v begins another"
    return "" if after.area else "no area: it would be empty; v begins one, v elsewhere ends it"


def _end(index: TimelineIndex, look: Look) -> int:
    return look.at_ps if look.stage == NO_STAGE else max(index.end(look.stage), look.at_ps)


def set_area(index: TimelineIndex, look: Look, from_ps: int, to_ps: int) -> Look:
    """The area between two times, in either order."""
    begun, ended = sorted((from_ps, to_ps))
    return replace(look, area=(max(begun, 0), max(ended, begun + 1)), area_from_ps=NO_TIME)
