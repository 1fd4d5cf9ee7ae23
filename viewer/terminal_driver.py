"""Textual's driver of a terminal, which lives through what terminals do and leaves nothing behind.

A terminal can be closed while one looks at it, and can send bytes that are no text. Textual's threads
end with an exception then, and whoever writes to them waits for ever.
"""

import codecs
import errno
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import TextIOWrapper
from typing import TextIO, cast

from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.driver import Driver

CLEAR = "\x1b[H\x1b[2J"
"""Written before the terminal's own screen comes back: one that has grown meanwhile would keep the top
lines otherwise.
"""

GONE = (errno.EIO, errno.ENXIO)
"""What writing to a terminal that was closed ends with."""


ESC = "\x1b"

OF_TEXTUAL = "[O]P_^Nbf\t\x7f\x1b"
"""What with an Esc before it begins a longer sequence, or is a key that moves or deletes in a line."""


class UntilGone:
    """A terminal to write to; once it is gone, what is written goes nowhere."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def write(self, text: str) -> int:
        """Writes the text, and says that it did."""
        with _even_if_gone():
            self._terminal.write(text)
        return len(text)

    def flush(self) -> None:
        """Writes what waits."""
        with _even_if_gone():
            self._terminal.flush()

    def fileno(self) -> int:
        """The terminal's."""
        return self._terminal.fileno()

    def isatty(self) -> bool:
        """As the terminal says."""
        return self._terminal.isatty()


@contextmanager
def _even_if_gone() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in GONE:
            raise


class EscapeFirst(XTermParser):
    """Reads an Esc with a key close behind it as these two. Textual takes it for Alt and the key, which
    most terminals send as the same bytes; no key here has an Alt.
    """

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        is_pair = len(sequence) == 2 and sequence[0] == ESC and sequence[1] not in OF_TEXTUAL
        if alt or is_pair:
            yield events.Key("escape", ESC)
        yield from super()._sequence_to_key_events(sequence[1:] if is_pair else sequence)


if sys.platform == "win32":
    from textual.drivers.windows_driver import WindowsDriver as PlatformDriver
else:
    from textual.drivers import linux_driver
    from textual.drivers.linux_driver import LinuxDriver as PlatformDriver

    def _forgiving(encoding: str) -> partial[codecs.IncrementalDecoder]:
        """A decoder for which a byte that is no text is a sign that is no key."""
        return partial(codecs.getincrementaldecoder(encoding), errors="replace")

    # Textual has no option for these; the names are looked up when the thread that reads keys begins.
    vars(linux_driver)["getincrementaldecoder"] = _forgiving
    vars(linux_driver)["XTermParser"] = EscapeFirst


class TerminalDriver(PlatformDriver):
    """The platform's, whose threads a terminal cannot end."""

    def __init__(
        self,
        app: App[object],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = cast(TextIOWrapper, UntilGone(cast(TextIO, self._file)))

    def stop_application_mode(self) -> None:
        """Leaves nothing of the screen behind."""
        self.write(CLEAR)
        super().stop_application_mode()


def sturdy(driver_class: type[Driver]) -> type[Driver]:
    """This module's driver in place of the platform's own; another one, which was asked for, stays."""
    return TerminalDriver if driver_class is PlatformDriver else driver_class
