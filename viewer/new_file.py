"""Names that are typed for a new file: never one that is taken, and one that a file can have and get.

A prompt asks this before it closes, so that a wrong name can be typed again.
"""

import errno
import os
import stat
from pathlib import Path
from tempfile import TemporaryFile

from ..schemas.atomic_file import cannot_write
from ..schemas.errors import FileError

OTHER_KINDS = {
    ".svg": ("png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "pdf", "eps", "ps"),
    ".csv": ("tsv", "xls", "xlsx", "ods", "json", "parquet", "html"),
}
"""By the ending of what is written, those of files for the same use of another kind."""

MOST_BYTES = 255
"""What file systems allow a file's own name."""


def typed_path(name: str, ending: str, kind: str) -> Path:
    """The file for a typed name, with `ending` behind it where it has none; `~` is the user's folder.

    FileError where the name is that of another `kind` of file, which would not be in it, or there is no
    such user.
    """
    stem, _, last = name.rpartition(".")
    if stem and last.lower() in OTHER_KINDS[ending]:
        raise FileError(f"a {kind} must be saved as {ending}, not .{last}: type {stem}{ending}")
    whole = name if name.lower().endswith(ending) else f"{name}{ending}"
    return at_home(whole)


def at_home(name: str) -> Path:
    """The path for a typed name, with the user's folder for a `~` in front, as a shell has it. FileError
    where there is no such user.
    """
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise FileError(f"{name}: ~ must be the folder of a user that there is") from error


def check_new(path: Path) -> None:
    """FileError where something of that name is there already, no file can be called so, or none can be
    made in its folder.
    """
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
    try:
        _check_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error


def _check_folder(folder: Path) -> None:
    """OSError where no file can be made in it, or nothing be written: rights alone do not tell that of
    every file system, nor whether it is full.
    """
    if not stat.S_ISDIR(folder.stat().st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    with TemporaryFile(dir=folder, buffering=0) as file:
        file.write(b"\n")
