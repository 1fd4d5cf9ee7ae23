"""How much later each stage could end without moving the makespan, worked out aside, by a thread.

Of a timeline of more than MOST_STAGES it is not: that would take minutes, and many times its memory.
"""

import numpy as np

from ...replay.analysis.slack import slack_ps
from ...replay.durations import durations
from ...replay.lower import lower
from ...schemas.columns import Int64s
from ...schemas.errors import KerntapeError
from ...schemas.timeline import Status, Timeline
from ...schemas.trace_checks import check_trace
from .index import TimelineIndex

MOST_STAGES = 1 << 20


class Slack:
    """The slack of a timeline's stages; `ps` is None until it is known, and where it cannot be."""

    def __init__(self) -> None:
        self.ps: Int64s | None = None
        self.is_done = False

    def of(self, stage: int) -> int | None:
        """A stage's slack in ps, None where it is not known."""
        return None if self.ps is None else int(self.ps[stage])

    def work(self, timeline: Timeline) -> None:
        """Works it out. A second or two for a million stages."""
        self.ps = slack_of(timeline)
        self.is_done = True


def slack_of_index(index: TimelineIndex) -> Slack:
    """The one of a timeline."""
    return index.once("slack", Slack)


def slack_of(timeline: Timeline) -> Int64s | None:
    """Per stage, its slack in ps. None for a deadlock, for more than MOST_STAGES, and for a timeline
    that this version of the model does not lower to the same stages.
    """
    if timeline.status is not Status.OK or len(timeline.stages) > MOST_STAGES:
        return None
    try:
        check_trace(timeline.trace)
        graph = lower(timeline.trace, timeline.topology, timeline.policy)
        lasting = durations(graph, timeline.calibration)
    except KerntapeError:
        return None
    if not np.array_equal(graph.stages.kind, timeline.stages.kind):
        return None
    length = lasting.stage_ps[graph.stages.duration_class]
    if not np.array_equal(length, timeline.end_ps - timeline.start_ps):
        return None
    return slack_ps(graph, lasting, np.asarray(timeline.start_ps))
