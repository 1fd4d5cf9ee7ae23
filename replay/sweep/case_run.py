"""Evaluates the points of one case: a trace lowered once, under one calibration after the other.

A point whose calibration keeps to a recorded order is followed along it; one that breaks them all is
replayed in full, and its order recorded.
"""

from collections.abc import Iterator, Sequence

from ...schemas.calibration import Calibration
from ...schemas.errors import ConfigError
from ...schemas.timeline import Timeline
from ..replay import Prepared, time
from ..stage_graph import Durations
from .class_times import ClassTimes
from .figures import Figures, deadlocked_figures, replayed_figures
from .order_book import Asked, OrderBook
from .point_result import PointResult, Way


class CaseRun:
    """A prepared trace and what its replays have shown so far.

    `op_logs`: every point's op_log is hashed, which takes causes, and so a full replay.
    """

    def __init__(self, prepared: Prepared, *, op_logs: bool) -> None:
        self._prepared = prepared
        self._op_logs = op_logs
        self._times = ClassTimes(prepared.graph)
        self._book = OrderBook(prepared)
        self._deadlocked: Figures | None = None

    def evaluate(self, points: Sequence[tuple[int, Calibration]]) -> Iterator[list[PointResult]]:
        """The results of the points (number, calibration), a few at a time, in any order.

        Raises ConfigError where a point's times could pass 2^62 ps.
        """
        calibrations = dict(points)
        asked = [Asked(point, self._durations(point, costs)) for point, costs in points]
        self._book.promise(len(asked))
        asked = yield from self._book.follow_all(asked)
        while asked and self._deadlocked is None:
            first, asked = asked[0], asked[1:]
            timeline = time(self._prepared, calibrations[first.point])
            result = self._replayed(first.point, timeline)
            yield [result]
            if result.way is Way.REPLAYED and asked and self._record(timeline, result):
                asked = yield from self._book.follow_newest(asked)
        if asked and self._deadlocked is not None:
            yield [PointResult(each.point, Way.DEADLOCKED, self._deadlocked) for each in asked]

    def _durations(self, point: int, calibration: Calibration) -> Durations:
        try:
            return self._times.durations(calibration)
        except ConfigError as error:
            raise ConfigError(f"point {point} of the sweep: {error}") from None

    def _replayed(self, point: int, timeline: Timeline) -> PointResult:
        """The result of a full replay. A deadlock is one under every calibration."""
        if timeline.deadlock is None:
            figures = replayed_figures(timeline, op_log=self._op_logs)
            return PointResult(point, Way.REPLAYED, figures)
        self._deadlocked = deadlocked_figures(timeline)
        return PointResult(point, Way.DEADLOCKED, self._deadlocked)

    def _record(self, timeline: Timeline, result: PointResult) -> bool:
        return not self._op_logs and self._book.record(timeline.start_ps, result.figures)
