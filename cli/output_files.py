"""Keeps a command from writing over a file that it reads, or one of its outputs over another."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from ..schemas.errors import UsageError

Named: TypeAlias = tuple[str, str | None]
"""(what the command calls the file, its path; None where it was not given)."""


def check_output_files(outputs: Iterable[Named], inputs: Iterable[Named]) -> None:
    """Raises UsageError for an output that is the same file as an input or an output before it.

    An input may be a shipped thing's name instead of a path: only files that are there count.
    """
    taken = [
        (name, Path(path)) for name, path in inputs if path is not None and Path(path).is_file()
    ]
    for name, path in outputs:
        if path is None:
            continue
        for other_name, other in taken:
            if _same_file(Path(path), other):
                raise UsageError(
                    f"{name} must not be {other_name}, and {path} is the same file; name another"
                )
        taken.append((name, Path(path)))


def _same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, that is there or would be made, links followed."""
    if one.resolve() == other.resolve():
        return True
    return one.exists() and other.exists() and one.samefile(other)
