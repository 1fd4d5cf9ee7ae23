"""How much later each stage could end without moving the makespan, worked out aside, by a thread."""

import numpy as np

from ...replay.analysis.slack import timeline_slack_ps
from ...schemas.columns import Int32s, Int64s
from ...schemas.errors import KerntapeError
from ...schemas.timeline import Status
from ...schemas.trace_checks import check_trace
from .index import TimelineIndex

MOST_INT32 = int(np.iinfo(np.int32).max)


class Slack:
    """The slack of a timeline's stages; `ps` is None until it is known, and where it cannot be."""

    def __init__(self, index: TimelineIndex) -> None:
        self._index = index
        self.ps: Int32s | Int64s | None = None

    def of(self, stage: int) -> int | None:
        """A stage's slack in ps, None where it is not known."""
        return None if self.ps is None else int(self.ps[stage])

    def work(self) -> None:
        """Works it out. A tenth of a second for a million stages. Kept in half the memory where it fits."""
        ps = slack_of(self._index)
        fits = ps is not None and int(ps.max(initial=0)) <= MOST_INT32
        self.ps = ps.astype(np.int32) if ps is not None and fits else ps


def slack_of_index(index: TimelineIndex) -> Slack:
    """The one of a timeline."""
    return index.once("slack", lambda: Slack(index))


def slack_of(index: TimelineIndex) -> Int64s | None:
    """Per stage, its slack in ps. None for a deadlock, and for a timeline that this version of the
    model does not lower to the same stages.
    """
    timeline = index.timeline
    if timeline.status is not Status.OK:
        return None
    try:
        check_trace(timeline.trace)
        return timeline_slack_ps(timeline, index.lanes.sorted()[0])
    except KerntapeError:
        return None
