"""How far a sweep is: the bar on a terminal; in a pipe or a log a line at the start, then one now and then.

Lines go to stderr, as the bar does; standard output holds the answer alone.
"""

import sys
import time
from typing import TYPE_CHECKING, TextIO

from .flow import counted
from .progress import Progress
from .working import minutes_text

if TYPE_CHECKING:
    from ..replay.sweep.plan import SweepPlan

STEPS = 10
"""A line for each tenth of the points."""

LEAST_SECONDS_BETWEEN_LINES = 5.0

MOST_SECONDS_BETWEEN_LINES = 60.0
"""After so long there is a line for less than a tenth."""


class SweepProgress:
    """Told of points as sweep.Watch says. `done` and `total` are what it was told last."""

    def __init__(self, plan: "SweepPlan", stream: TextIO | None = None) -> None:
        self._plan = plan
        self._stream = stream or sys.stderr
        self._bar = Progress("points", self._stream)
        self._began: float | None = None
        self._said = 0.0
        self._step = 0

    @property
    def done(self) -> int:
        return self._bar.done

    @property
    def total(self) -> int:
        return self._bar.total

    def __call__(self, done: int, total: int) -> None:
        """That many are done, of so many; the first call says how many were before this run."""
        self._bar(done, total)
        if self._stream.isatty():
            return
        now = time.monotonic()
        if self._began is None:
            self._began = now
            self._say(now, start_line(self._plan, done))
        elif done < total and self._is_time(now):
            elapsed = minutes_text(int(now - self._began))
            self._say(now, f"{done:,} of {total:,} points, {elapsed}")
        else:
            return
        self._step = done * STEPS // max(1, total)

    def _is_time(self, now: float) -> bool:
        waited = now - self._said
        is_a_step = self.done * STEPS // self.total > self._step
        return waited >= (LEAST_SECONDS_BETWEEN_LINES if is_a_step else MOST_SECONDS_BETWEEN_LINES)

    def _say(self, now: float, line: str) -> None:
        self._said = now
        print(f"kerntape: {line}", file=self._stream, flush=True)

    def clear(self) -> None:
        """Leave an empty line on a terminal for what is printed next."""
        self._bar.clear()


def start_line(plan: "SweepPlan", kept: int) -> str:
    """What there is to do, and how much of it an earlier run has done."""
    policies = f" under {len(plan.policies)} policies" if len(plan.policies) > 1 else ""
    combinations = len(plan.combinations)
    values = f", {combinations:,} combinations of values" if combinations > 1 else ""
    before = f", {kept:,} kept from before" if kept else ""
    traces = counted(len(plan.traces), "trace")
    return f"{counted(len(plan), 'point')}: {traces}{policies}{values}{before}"
