"""A line on a terminal that says what is being done and for how long, where nobody knows how much is left.

Nothing in a pipe, and nothing for what is done within a second.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from .progress import CLEAR_LINE

SECONDS_TO_FIRST_LINE = 1
SECONDS_BETWEEN_LINES = 1


@contextmanager
def working(what: str, stream: TextIO | None = None) -> Iterator[None]:
    """Around the work; the line is gone when it ends, by an error too."""
    out = stream or sys.stderr
    if not out.isatty():
        yield
        return
    over = threading.Event()
    drawing = threading.Thread(target=_draw, args=(what, out, over), daemon=True)
    drawing.start()
    try:
        yield
    finally:
        over.set()
        drawing.join()


def _draw(what: str, out: TextIO, over: threading.Event) -> None:
    """Draws the line each second until it is over, then clears it if there is one."""
    seconds = SECONDS_TO_FIRST_LINE
    if over.wait(SECONDS_TO_FIRST_LINE):
        return
    while True:
        print(CLEAR_LINE + working_line(what, seconds), end="", file=out, flush=True)
        if over.wait(SECONDS_BETWEEN_LINES):
            print(CLEAR_LINE, end="", file=out, flush=True)
            return
        seconds += SECONDS_BETWEEN_LINES


def working_line(what: str, seconds: int) -> str:
    """The line after so many seconds."""
    return f"{what} … {minutes_text(seconds)}"


def minutes_text(seconds: int) -> str:
    """Minutes and seconds: 75 are 1:15."""
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}:{rest:02}"
