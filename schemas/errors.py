"""What can go wrong for a reason the user can mend. One root; `cli.main` alone turns it into an exit code.

A message is one line: what is wrong, where, and what to do ("X must be Y, not Z").
"""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class KerntapeError(Exception):
    """The input or the run failed; the message is shown as it stands, without a traceback."""


class ConfigError(KerntapeError):
    """A topology, calibration, policy or argument is not what it must be."""


class UsageError(ConfigError):
    """A command line that is wrong whatever the files are: options that do not go together, no number
    where one must be. Alone of all it ends with exit code 2."""


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


def os_error_words(error: OSError) -> str:
    """What the system says, with the file's name where there is one."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


@contextmanager
def wrong_usage() -> Iterator[None]:
    """Around a check of what the command line alone says: what is wrong there is wrong usage."""
    try:
        yield
    except ConfigError as error:
        raise UsageError(str(error)) from None


NEAR = 0.7
"""How like a name another must be to be guessed at: one letter of four may be wrong, not one of three."""

FEW = 6
"""So many names are all listed where none of them, or more than one, may be meant."""


def nearest(name: str, known: Iterable[str], closeness: float = NEAR) -> str | None:
    """The known name that looks most like this one, whatever the case, or None where none does.

    `closeness` is how like it must be: 0 for anything, 1 for the same letters. Of a dotted path it is
    the last step that must be; what leads there decides between several.
    """
    near = _alike(name, known, closeness)
    return near[0] if near else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The tail of a message about an unknown name: `; did you mean 'x'?`, or the names there are where
    none is near, or several of a few are as near as each other; of dotted paths those of its group.
    """
    names = list(known)
    near = _alike(name, names, NEAR)
    if len(near) == 1 or (near and len(names) > FEW):
        return f"; did you mean '{near[0]}'?"
    group, dot, _ = name.rpartition(".")
    listed = [one for one in names if dot and one.startswith(group + dot)] or names
    return f"; known: {', '.join(listed)}" if listed else ""


def _alike(name: str, known: Iterable[str], closeness: float) -> list[str]:
    """Those that look most like the name: more than one where they do so equally."""
    wanted = name.lower()
    likeness = {
        candidate: (
            _ratio(_last_step(candidate.lower()), _last_step(wanted)),
            _ratio(candidate.lower(), wanted),
        )
        for candidate in known
    }
    best = max(likeness.values(), default=(0.0, 0.0))
    return [one for one, found in likeness.items() if found == best and best[0] >= closeness]


def _ratio(candidate: str, name: str) -> float:
    return difflib.SequenceMatcher(None, candidate, name).ratio()


def _last_step(path: str) -> str:
    return path.rpartition(".")[2]
