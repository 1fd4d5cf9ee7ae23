"""Being ended by a signal: which signals, what becomes of the process, and what if it hangs meanwhile."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from threading import Timer

from ..schemas.atomic_file import remove_unfinished

PATIENCE_S = 2.0
"""How long leaving with the terminal as it was may take."""


class Ending:
    """Calls `leave` when a signal asks for the end: an interrupt, a kill, a terminal that was closed."""

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave = leave
        self._asked_by: signal.Signals | None = None
        self._last_resort: Timer | None = None

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """From now on, while the loop runs."""
        if sys.platform != "win32":
            for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(ending, self._end, ending)

    def _end(self, ending: signal.Signals) -> None:
        """Leaves; where something hangs, the process ends as it is."""
        self._asked_by = ending
        self._last_resort = Timer(PATIENCE_S, partial(_end_now, _exit_code(ending)))
        self._last_resort.daemon = True
        self._last_resort.start()
        self._leave()

    def conclude(self, return_code: int) -> None:
        """After the run. Raises SystemExit with `return_code` unless that is 0; where a signal ended it,
        with 128 + the signal's number, as a shell tells it of others; an interrupt is a
        KeyboardInterrupt, as in every subcommand. What was being saved then leaves nothing.
        """
        if self._last_resort is not None:
            self._last_resort.cancel()
        exit_code = return_code if self._asked_by is None else _exit_code(self._asked_by)
        if exit_code:
            remove_unfinished()
            raise KeyboardInterrupt if self._asked_by is signal.SIGINT else SystemExit(exit_code)


def _exit_code(ending: signal.Signals) -> int:
    return 1 if ending is signal.SIGINT else 128 + ending


def _end_now(exit_code: int) -> None:
    remove_unfinished()
    os._exit(exit_code)
