"""A progress bar on one line of a terminal: how far, how fast, how long still. Nothing in a pipe."""

import shutil
import sys
import time
from typing import TextIO

SECONDS_BETWEEN_LINES = 0.1

LEAST_SECONDS = 1.0
"""Over a shorter time a rate is chance."""

CLEAR_LINE = "\r\x1b[K"


class Progress:
    """Draws on stderr if that is a terminal. `unit` is what is counted, in the plural."""

    def __init__(self, unit: str, stream: TextIO | None = None) -> None:
        self.done = 0
        self.total = 0
        self._unit = unit
        self._stream = stream or sys.stderr
        self._kept: int | None = None
        self._began: tuple[float, int] | None = None
        self._drawn = float("-inf")

    def __call__(self, done: int, total: int) -> None:
        """That many are done, of so many. The first call says how many were done before this run; the
        rate is counted from the first that were done in it, since before them everything begins.
        """
        if self._kept is None:
            self._kept = done
        self.done, self.total = done, total
        if not self._stream.isatty():
            return
        now = time.monotonic()
        if self._began is None and done > self._kept:
            self._began = now, done
        if now - self._drawn >= SECONDS_BETWEEN_LINES:
            self._drawn = now
            line = progress_line(done, total, self._unit, *self._measured(now, done))
            width = shutil.get_terminal_size().columns - 1
            print(CLEAR_LINE + line[:width], end="", file=self._stream, flush=True)

    def _measured(self, now: float, done: int) -> tuple[int, float]:
        """How many were done, in how many seconds; none until there were enough of these for a rate."""
        began, done_before = self._began or (now, done)
        is_long_enough = now - began >= LEAST_SECONDS
        return (done - done_before, now - began) if is_long_enough else (0, 0.0)

    def clear(self) -> None:
        """Leave an empty line for what is printed next."""
        if self._stream.isatty():
            print(CLEAR_LINE, end="", file=self._stream, flush=True)


def progress_line(done: int, total: int, unit: str, done_now: int, seconds: float) -> str:
    """The line: `done_now` of the `done` took `seconds`, and the rest is expected to take as long each."""
    bar = "#" * (20 * done // max(1, total))
    line = f"[{bar:.<20}] {done:,} of {total:,} {unit}"
    if not done_now or not seconds:
        return line
    minutes, left = divmod(round((total - done) * seconds / done_now), 60)
    return f"{line}, {_rate(done_now / seconds)}/s, {minutes}:{left:02} left"


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
