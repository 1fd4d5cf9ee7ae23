"""Why a stage started when it did and not earlier, in words."""

from itertools import pairwise

from ...schemas.stages import StageKind, Why
from . import times
from .hazards import HazardIndex
from .index import NO_STAGE, TimelineIndex
from .tones import Paint
from .words import kind_words, stage_name

REASON_WORDS = {
    Why.PROGRAM_ORDER: "the dispatch before it",
    Why.BLOCKED: "the command before it to finish",
    Why.WAITED: "the result it uses",
    Why.DATA: "its data",
    Why.BUFFER: "a free tile buffer",
    Why.IN_FLIGHT: "a place among the composites in flight",
    Why.SCHEDULER_QUEUE: "a place in the scheduler's queue",
    Why.HAZARD: "a hazard",
    Why.CREDIT: "a credit of the queue",
    Why.SEND_DEPTH: "a place among the accepted sends",
    Why.MESSAGE: "a message",
    Why.DISPATCH: "its dispatch",
    Why.ADMISSION: "the composite before it to be admitted",
    Why.RETIREMENT: "the composite before it to retire",
}
"""What the last thing was that a stage waited for; the engine is told in its own way."""

SAID_KINDS = {
    Why.PROGRAM_ORDER: StageKind.DISPATCH,
    Why.DISPATCH: StageKind.DISPATCH,
    Why.BLOCKED: StageKind.FINISH,
    Why.ADMISSION: StageKind.ADMIT,
    Why.RETIREMENT: StageKind.RETIRE,
}
"""The kind of stage that a reason's words name already."""


def why_words(index: TimelineIndex, hazards: HazardIndex, stage: int) -> str:
    """One sentence: what the stage waited for last, for how long where that is known, and who ended it."""
    cause = index.cause(stage)
    why = Why(int(index.timeline.why[stage]))
    if cause < 0 or why is Why.NOTHING:
        return f"waited for nothing: {_at(index.start(stage))}"
    if why is Why.ENGINE:
        waited = times.exact(index.start(stage) - index.ready(stage))
        return f"waited {waited} for the engine: {stage_name(index, cause, beside=stage)}"
    if why is Why.HAZARD and (held := hazards.held_words(stage)):
        return f"waited {held}"
    what = REASON_WORDS[why]
    if why is Why.DATA and index.paint(stage) is Paint.CONTROL:
        what = "what comes before it"
    who = _who(index, stage, cause, why)
    return f"waited for {what}{who}{_lag(index, stage, cause)}{_idle(index, stage)}"


def _who(index: TimelineIndex, stage: int, cause: int, why: Why) -> str:
    """`: fetch tile 1`, the stage that ended the wait; without its kind where the reason says that."""
    name = stage_name(index, cause, beside=stage)
    if SAID_KINDS.get(why) is index.kind(cause):
        name = name.removeprefix(kind_words(index, cause)).removeprefix(" of ")
    return f": {name}" if name else ""


def _at(start_ps: int) -> str:
    return "it starts the timeline" if start_ps == 0 else f"it starts at {times.exact(start_ps)}"


def _lag(index: TimelineIndex, stage: int, cause: int) -> str:
    """How long after the cause: a latency, since an engine's wait is not told here."""
    ready = index.ready(stage)
    if index.end(cause) <= ready:
        lag = ready - index.end(cause)
        return f", {times.exact(lag)} after its end" if lag else ""
    return f", {times.exact(ready - index.start(cause))} after its start"


def _idle(index: TimelineIndex, stage: int) -> str:
    if not index.engine(stage).arbitrates:
        return ""
    idle = index.engine_idle_before(stage)
    return f" (the engine was idle for {times.exact(idle)})" if idle else ""


def trail_words(index: TimelineIndex, trail: tuple[int, ...], stage: int) -> str:
    """The path walked, first to last: `GEMM tile 3 of command 31 ← fetch tile 3 ← HBM read tile 3`.

    ← leads to a cause, → to a stage released, ─ to the other one of a hazard's pair.
    """
    if stage == NO_STAGE or not trail:
        return ""
    path = [*trail, stage]
    words = stage_name(index, path[0])
    for before, step in pairwise(path):
        words += f" {_arrow(index, before, step)} {stage_name(index, step, beside=before)}"
    return words


def _arrow(index: TimelineIndex, before: int, step: int) -> str:
    if index.cause(before) == step:
        return "←"
    return "→" if index.cause(step) == before else "─"
