"""Keeps a sweep that gains nothing from recorded orders within a tenth of the cost of full replays.

Every point allows a twelfth of a replay to be spent on orders (the rest of the tenth is for what the
estimates below miss); a point that an order saved from being replayed gives that replay back. Costs are
estimates from the graph's size, not measurements, so that the decisions depend on the sweep alone
and on no clock.
"""

from dataclasses import dataclass

from ..stage_graph import StageGraph

ALLOWED_SHARE = 12
"""One replay in so many may be spent in vain."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What things cost, in nanoseconds of the machine on which they were measured (a 2.6 GHz EPYC core,
    graphs of 464 to 939,808 stages); only their ratios matter. A replay is taken for as quick as the
    quickest that was seen, so that a tenth of it is never less than that.

    `replay`: a point in full · `setup`: laying out the graph's columns, once · `record`: one order ·
    `durations`: a point's, for a pass · `follow`: a pass with as many calibrations as it takes.
    """

    replay: int
    setup: int
    record: int
    durations: int
    follow: int

    @classmethod
    def of(cls, graph: StageGraph) -> "Costs":
        """The costs for this graph."""
        stages = len(graph)
        durations = 5_500 * (len(graph.duration_classes) + len(graph.lag_classes))
        return cls(
            replay=350_000 + durations + 180 * stages,
            setup=300_000 + 90 * stages,
            record=50_000 + 80 * stages,
            durations=durations,
            follow=140_000 + 22 * stages,
        )


class Thrift:
    """What may still be spent: not below zero, if `affords` is asked before every `spend`."""

    def __init__(self, replay: int) -> None:
        self._replay = replay
        self._balance = 0

    def promise(self, points: int) -> None:
        """That many more points will be evaluated, one way or the other."""
        self._balance += points * self._replay // ALLOWED_SHARE

    def affords(self, cost: int) -> bool:
        """Whether that much may be spent now."""
        return self._balance >= cost

    def spend(self, cost: int) -> None:
        """That much was spent."""
        self._balance -= cost

    def save(self, points: int) -> None:
        """That many points need no full replay."""
        self._balance += points * self._replay
