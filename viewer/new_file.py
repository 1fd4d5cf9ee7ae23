"""Names that are typed for a new file: never one that is taken, and one that a file can have."""

import os
from pathlib import Path

from ..schemas.errors import FileError

MOST_BYTES = 255
"""What file systems allow a file's own name."""


def check_new(path: Path) -> None:
    """FileError where something of that name is there already, or no file can be called so."""
    try:
        name_bytes = len(os.fsencode(path.name))
    except UnicodeEncodeError:
        name_bytes = 0
    if not name_bytes or "\0" in str(path):
        raise FileError("a file's name must be without NUL and of whole characters: type another")
    if name_bytes > MOST_BYTES:
        raise FileError(
            f"a file's name must be of at most {MOST_BYTES} bytes, not {name_bytes:,}: type another"
        )
    if os.path.lexists(path):
        raise FileError(f"{path.name}: exists already; choose another name")
