"""The recorded orders of one lowered trace: which there are, when one is recorded, when one is tried."""

from collections.abc import Generator
from functools import cached_property
from math import ceil

from ...schemas.columns import Int64s
from ...schemas.errors import TooLongError
from ..replay import Prepared
from ..stage_graph import Durations
from .figures import Figures
from .follower import Follower, Order
from .points import Asked, PointResult, Way
from .thrift import Costs, Thrift
from .timed_figures import TimedFigures

MAX_ORDERS = 4
"""How many orders are kept. The one that held last is tried first, the last of them forgotten first."""

Following = Generator[list[PointResult], None, list[Asked]]
"""Results as they come; at the end, the points for whom no order held."""


class OrderBook:
    """The orders of a prepared trace without a deadlock. What is spent on them stays within Thrift."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._lasting: dict[int, Durations | None] = {}
        self._orders: list[Order] = []
        self._costs = Costs.of(prepared.graph)
        self._thrift = Thrift(self._costs.replay)
        self._caution = 1
        self._figures: Figures = ()

    @cached_property
    def _follower(self) -> Follower:
        return Follower(self._prepared.graph, self._timed_figures.wanted)

    @cached_property
    def _timed_figures(self) -> TimedFigures:
        return TimedFigures(self._prepared)

    def promise(self, points: int) -> None:
        """That many more points will be evaluated; those before are forgotten."""
        self._thrift.promise(points)
        self._lasting.clear()

    def record(self, start_ps: Int64s, figures: Figures) -> bool:
        """Records the order of a full replay, if that and one try are affordable; whether it was.

        Every order since the last that held for a point doubles what must be there to be spent on the
        next: where orders never hold, they are recorded ever more rarely.
        """
        cost = self._costs.record + (0 if self._orders else self._costs.setup)
        first_try = self._costs.follow + self._costs.durations
        if not self._thrift.affords(self._caution * (cost + first_try)):
            return False
        self._thrift.spend(cost)
        self._caution *= 2
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
        """Batch after batch, until the order holds for nobody in one.

        The first has no more points than can be given durations for the price of the pass. Points that
        cannot have durations are left.
        """
        left: list[Asked] = []
        lanes = self._follower.lanes
        size = min(lanes, max(1, self._costs.follow // self._costs.durations))
        while asked and self._affords_a_pass(asked[:size]):
            batch, asked = asked[:size], asked[size:]
            possible = self._possible(batch)
            results = self._pass(order, possible) if possible else []
            done = {result.point for result in results}
            left += [each for each in batch if each.point not in done]
            if results:
                size = lanes
                self._orders.sort(key=lambda known: known is not order)
                yield results
            elif possible:
                break
        return left + asked

    def _affords_a_pass(self, batch: list[Asked]) -> bool:
        unknown = sum(each.point not in self._lasting for each in batch)
        return self._thrift.affords(self._costs.follow + unknown * self._costs.durations)

    def _possible(self, batch: list[Asked]) -> list[tuple[Asked, Durations]]:
        """Those that can have durations, with them."""
        each_lasting = [(each, self._durations(each)) for each in batch]
        return [(each, lasting) for each, lasting in each_lasting if lasting is not None]

    def _pass(self, order: Order, batch: list[tuple[Asked, Durations]]) -> list[PointResult]:
        """The results of those for whom the order holds."""
        lasting = [of_point for _, of_point in batch]
        followed = self._follower.follow(order, lasting)
        self._thrift.spend(ceil(self._costs.follow * followed.share_looked_at))
        self._thrift.save(sum(followed.holds))
        if not any(followed.holds):
            return []
        self._caution = 1
        figures = self._timed_figures.of(self._figures, followed, lasting)
        return [
            PointResult(each.point, Way.FOLLOWED, found)
            for (each, _), found, holds in zip(batch, figures, followed.holds, strict=True)
            if holds
        ]

    def _durations(self, asked: Asked) -> Durations | None:
        """Worked out when an order is first tried on the point: a full replay does so itself. None
        where times would be too long."""
        if asked.point not in self._lasting:
            self._thrift.spend(self._costs.durations)
            try:
                lasting = self._prepared.class_times.durations(asked.calibration)
            except TooLongError:
                lasting = None
            self._lasting[asked.point] = lasting
        return self._lasting[asked.point]
