"""What can go wrong for a reason the user can mend. One root; `cli.main` alone turns it into an exit code.

A message is one line: what is wrong, where, and what to do ("X must be Y, not Z").
"""

import difflib
from collections.abc import Iterable


class KerntapeError(Exception):
    """The input or the run failed; the message is shown as it stands, without a traceback."""


class ConfigError(KerntapeError):
    """A topology, calibration, policy or argument is not what it must be."""


class TooLongError(ConfigError):
    """A calibration under which times would not fit the range that they have."""


class FileError(KerntapeError):
    """A trace or timeline cannot be read or written."""


class KernelError(KerntapeError):
    """The kernel asked for something that cannot be done. The message ends with its source line."""


class CaptureDeadlockError(KernelError):
    """No PE of the launch can go on: each waits for a message."""


class KernelRaisedError(KerntapeError):
    """The kernel's own code raised; its traceback (from its own file) is for its author to read."""

    def __init__(self, message: str, kernel_traceback: str) -> None:
        super().__init__(message)
        self.kernel_traceback = kernel_traceback


class SanityError(KerntapeError):
    """A replay broke physics. A bug in kerntape, and the message says so."""


def nearest(name: str, known: Iterable[str], closeness: float = 0.5) -> str | None:
    """The known name that looks most like this one, whatever the case, or None where none does.

    `closeness` is how like it must be: 0 for anything, 1 for the same letters.
    """
    by_lower_case = {candidate.lower(): candidate for candidate in known}
    near = difflib.get_close_matches(name.lower(), by_lower_case, n=1, cutoff=closeness)
    return by_lower_case[near[0]] if near else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The tail of a message about an unknown name: `; did you mean 'x'?` or the names there are."""
    names = list(known)
    near = nearest(name, names)
    if near is not None:
        return f"; did you mean '{near}'?"
    return f"; known: {', '.join(names)}" if names else ""
