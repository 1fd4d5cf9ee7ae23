"""The recorded orders of one lowered trace: which there are, when one is recorded, when one is tried."""

from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from ...schemas.columns import Int64s
from ..replay import Prepared
from ..stage_graph import Durations
from .figures import Figures
from .follower import Follower, Order
from .point_result import PointResult, Way
from .thrift import PASS, RECORD, SETUP, Thrift
from .timed_figures import TimedFigures

MAX_ORDERS = 4
"""How many orders are kept. The one that held last is tried first, the last of them forgotten first."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A point that is not evaluated yet."""

    point: int
    lasting: Durations


Following = Generator[list[PointResult], None, list[Asked]]
"""Results as they come; at the end, the points for whom no order held."""


class OrderBook:
    """The orders of a prepared trace without a deadlock. What is spent on them stays within Thrift."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._orders: list[Order] = []
        self._thrift = Thrift()
        self._figures: Figures = ()

    @cached_property
    def _follower(self) -> Follower:
        return Follower(self._prepared.graph)

    @cached_property
    def _timed_figures(self) -> TimedFigures:
        return TimedFigures(self._prepared)

    def promise(self, points: int) -> None:
        """That many more points will be evaluated."""
        self._thrift.promise(points)

    def record(self, start_ps: Int64s, figures: Figures) -> bool:
        """Records the order of a full replay, if its cost and one try are affordable; whether it was."""
        setup = 0 if self._orders else SETUP
        if not self._thrift.affords(setup + RECORD + PASS):
            return False
        self._thrift.spend(setup + RECORD)
        self._figures = figures
        self._orders = [self._follower.record(start_ps), *self._orders][:MAX_ORDERS]
        return True

    def follow_all(self, asked: list[Asked]) -> Following:
        """Tries every order on the points."""
        for order in tuple(self._orders):
            asked = yield from self._follow(order, asked)
        return asked

    def follow_newest(self, asked: list[Asked]) -> Following:
        """Tries the order that was recorded last."""
        return self._follow(self._orders[0], asked)

    def _follow(self, order: Order, asked: list[Asked]) -> Following:
        """Batch after batch, until the order holds for nobody in one."""
        left: list[Asked] = []
        lanes = self._follower.lanes
        while asked and self._thrift.affords(PASS):
            batch, asked = asked[:lanes], asked[lanes:]
            results = self._pass(order, batch)
            done = {result.point for result in results}
            left += [each for each in batch if each.point not in done]
            if not results:
                break
            self._orders.sort(key=lambda known: known is not order)
            yield results
        return left + asked

    def _pass(self, order: Order, batch: list[Asked]) -> list[PointResult]:
        """The results of those for whom the order holds."""
        lasting = [each.lasting for each in batch]
        followed = self._follower.follow(order, lasting)
        self._thrift.spend(ceil(PASS * followed.share_looked_at))
        self._thrift.save(sum(followed.holds))
        if not any(followed.holds):
            return []
        figures = self._timed_figures.of(self._figures, followed, lasting)
        return [
            PointResult(each.point, Way.FOLLOWED, found)
            for each, found, holds in zip(batch, figures, followed.holds, strict=True)
            if holds
        ]
