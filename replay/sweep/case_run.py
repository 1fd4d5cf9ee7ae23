"""Evaluates the points of one case: a trace lowered once, under one calibration after the other.

A point whose calibration keeps to a recorded order is followed along it; one that breaks them all is
replayed in full, and its order recorded.
"""

from collections.abc import Iterator, Sequence

from ...schemas.errors import TooLongError
from ...schemas.timeline import Timeline
from ..replay import Prepared, time
from .figures import Figures, deadlocked_figures, impossible_figures, replayed_figures
from .order_book import OrderBook
from .points import Asked, PointResult, Way


class CaseRun:
    """A prepared trace and what its replays have shown so far.

    `op_logs`: every point's op_log is hashed, which takes causes, and so a full replay.
    """

    def __init__(self, prepared: Prepared, *, op_logs: bool) -> None:
        self._prepared = prepared
        self._op_logs = op_logs
        self._book = OrderBook(prepared)
        self._deadlocked: Figures | None = None

    def evaluate(self, points: Sequence[Asked]) -> Iterator[list[PointResult]]:
        """The results of the points, a few at a time, in any order.

        A point whose times could pass 2^62 ps is impossible, also where every other one deadlocks: so
        what a point is depends on no other.
        """
        self._book.promise(len(points))
        asked = yield from self._book.follow_all(list(points))
        while asked and self._deadlocked is None:
            first, asked = asked[0], asked[1:]
            try:
                timeline = time(self._prepared, first.calibration)
            except TooLongError:
                yield [_impossible(first)]
                continue
            result = self._replayed(first.point, timeline)
            yield [result]
            if asked and self._record(timeline, result):
                asked = yield from self._book.follow_newest(asked)
        if asked and self._deadlocked is not None:
            yield [self._stuck(each, self._deadlocked) for each in asked]

    def _replayed(self, point: int, timeline: Timeline) -> PointResult:
        """The result of a full replay. A deadlock is one under every calibration."""
        if timeline.deadlock is None:
            figures = replayed_figures(timeline, op_log=self._op_logs)
            return PointResult(point, Way.REPLAYED, figures)
        self._deadlocked = deadlocked_figures(timeline)
        return PointResult(point, Way.DEADLOCKED, self._deadlocked)

    def _stuck(self, asked: Asked, deadlocked: Figures) -> PointResult:
        """The result of a further point of a case that deadlocks."""
        try:
            self._prepared.class_times.durations(asked.calibration)
        except TooLongError:
            return _impossible(asked)
        return PointResult(asked.point, Way.DEADLOCKED, deadlocked)

    def _record(self, timeline: Timeline, result: PointResult) -> bool:
        """Whether there is an order to follow now."""
        has_one = result.way is Way.REPLAYED and not self._op_logs
        return has_one and self._book.record(timeline.start_ps, result.figures)


def _impossible(asked: Asked) -> PointResult:
    return PointResult(asked.point, Way.IMPOSSIBLE, impossible_figures())
