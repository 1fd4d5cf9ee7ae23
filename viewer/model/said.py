"""What there is to say of a move: why a key led nowhere, and what is not seen at once where it did."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from . import times
from .index import NO_STAGE, TimelineIndex
from .look import NO_TIME, Look
from .rows import idle_lanes
from .steps import neighbours_span_ps
from .words import stage_name

Reason = Callable[[TimelineIndex, Look], str]
"""Why a move leads nowhere from a look."""

Remark = Callable[[TimelineIndex, Look], str]
"""What to say of the look that a move led to."""

NOTHING_RAN = "nothing ran: there is no stage to go to"


def said(name: str, index: TimelineIndex, before: Look, after: Look) -> str:
    """What to say of the move of that name (viewer.timeline_actions): why nothing is seen to change,
    or a remark on what did; '' where nothing needs to be said.
    """
    if name in REASONS and _is_alike(before, after):
        return REASONS[name](index, before)
    return REMARKS[name](index, after) if name in REMARKS else ""


def _is_alike(before: Look, after: Look) -> bool:
    """Whether nothing that is seen differs."""
    unseen = replace(after, at_ps=before.at_ps, is_placed=before.is_placed, top=before.top)
    return unseen == before


def _stage(words: str) -> Reason:
    """The words, where there is a stage at all."""
    return lambda index, look: NOTHING_RAN if look.stage == NO_STAGE else words


def _always(words: str) -> Reason:
    return lambda index, look: words


def _only_released(index: TimelineIndex, look: Look) -> str:
    cause = index.cause(look.stage) if look.stage != NO_STAGE else NO_STAGE
    if cause == NO_STAGE:
        return _no_cause(index, look)
    return f"{stage_name(index, cause, beside=look.stage)} let only this one start"


_no_cause = _stage("nothing let this one start: it waited for nothing")


def _not_folded(index: TimelineIndex, look: Look, words: str) -> str:
    has_groups = any(row.is_group for row in index.tree.rows)
    return words if has_groups else "there are no groups to fold"


def _no_idle_rows(index: TimelineIndex, look: Look) -> str:
    if idle_lanes(index, look):
        return "no row does anything here: hiding them would leave none"
    return "every row does something here: there is none to hide"


def _closest(index: TimelineIndex, look: Look) -> str:
    return f"{times.exact(look.span_ps)} is as close as it gets"


def _at_edge(index: TimelineIndex, look: Look, words: str) -> str:
    return WHOLE if look.span_ps >= index.span_ps else words


def _to_no_mark(index: TimelineIndex, look: Look) -> str:
    return "no mark yet: m sets one" if look.mark_ps == NO_TIME else "the mark is here"


def _focused(index: TimelineIndex, look: Look) -> str:
    if look.stage == NO_STAGE or index.end(look.stage) > index.start(look.stage):
        return ""
    if not neighbours_span_ps(index, look.stage):
        return "a stage of no length, the only one of its lane"
    return "a stage of no length: shown with the stages before and after it in its lane"


def _focused_already(index: TimelineIndex, look: Look) -> str:
    if look.stage == NO_STAGE:
        return NOTHING_RAN
    return _focused(index, look) or "the selected stage is in the middle already"


WHOLE = "the whole timeline is shown"

REASONS: dict[str, Reason] = {
    "next_stage": _stage("no later stage in this row"),
    "previous_stage": _stage("no earlier stage in this row"),
    "next_in_pe": _stage("no later stage on this PE"),
    "previous_in_pe": _stage("no earlier stage on this PE"),
    "next_in_machine": _stage("no later stage in the whole machine"),
    "previous_in_machine": _stage("no earlier stage in the whole machine"),
    "next_command": _stage("no later command on this PE"),
    "previous_command": _stage("no earlier command on this PE"),
    "next_tile": _stage("no later tile or composite does the same work"),
    "previous_tile": _stage("no earlier tile or composite does the same work"),
    "first_stage": _stage("this is the first stage of the row"),
    "last_stage": _stage("this is the last stage of the row"),
    "cause": _no_cause,
    "released": _stage("this one let no other start"),
    "next_released": _only_released,
    "trail_back": _always("no trail to go back on: [ and ] make one"),
    "row_down": _always("this is the last row"),
    "row_up": _always("this is the first row"),
    "page_down": _always("this is the last row"),
    "page_up": _always("this is the first row"),
    "fold": _always("this row is in no group that could be folded"),
    **{
        f"fold_{level}": partial(_not_folded, words="the rows are folded like this already")
        for level in (1, 2, 3, 4)
    },
    "pin": _always("there is no row to pin"),
    "idle_rows": _no_idle_rows,
    "zoom_in": _closest,
    "zoom_out": _always(WHOLE),
    "show_all": _always(WHOLE),
    "pan_left": partial(_at_edge, words="the timeline begins here"),
    "pan_right": partial(_at_edge, words="the timeline ends here"),
    "focus": _focused_already,
    "to_mark": _to_no_mark,
}
"""By the action's name. Those that are not here always change something."""


def _marked(index: TimelineIndex, look: Look) -> str:
    if look.mark_ps == NO_TIME:
        return "the mark is taken away"
    return "marked: Δ counts from here, ' comes back"


def _hidden(index: TimelineIndex, look: Look) -> str:
    count = len(look.hidden)
    rows = "1 row does" if count == 1 else f"{count:,} rows do"
    return f"{rows} nothing here: hidden until I again" if count else ""


def _swapped(index: TimelineIndex, look: Look) -> str:
    return (
        "" if look.mark_ps == NO_TIME else "at the mark, which is now where you were: ' swaps back"
    )


REMARKS: dict[str, Remark] = {
    "focus": _focused,
    "set_mark": _marked,
    "to_mark": _swapped,
    "idle_rows": _hidden,
}
"""By the action's name."""
