"""Keeps a sweep that gains nothing from recorded orders within a tenth of the cost of full replays.

Costs are counted in thousandths of a full replay, and so the decisions depend on the points alone and
on no clock. Every point allows a tenth of a replay to be spent on orders; a point that an order
saved from being replayed gives that replay back.
"""

from dataclasses import dataclass

FULL_REPLAY = 1000
SETUP = 500
"""Laying out a graph's columns for passes, once. Measured at 0.8 M stages: 200 to 450."""

RECORD = 150
"""Recording one order. Measured: 110."""

PASS = 200
"""Following an order to its end with as many calibrations as it takes. Measured: 140."""

SHARE = FULL_REPLAY // 10
"""What may be spent in vain per point."""


@dataclass(slots=True)
class Thrift:
    """What may still be spent; never below zero when `affords` was asked before."""

    balance: int = 0

    def promise(self, points: int) -> None:
        """That many more points will be evaluated, one way or the other."""
        self.balance += points * SHARE

    def affords(self, cost: int) -> bool:
        """Whether that much may be spent now."""
        return self.balance >= cost

    def spend(self, cost: int) -> None:
        self.balance -= cost

    def save(self, points: int) -> None:
        """That many points need no full replay."""
        self.balance += points * FULL_REPLAY
