"""Writes a file whole or not at all: nobody ever sees half of one, whatever happens in the middle.

The bytes go to a new file beside the target, which takes the target's name once they are on disk.
On every other way out (an exception, Ctrl-C) the new file is removed and the target is as it was; a
process that ends while its threads still write calls `remove_unfinished`.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .errors import FileError

_REMEDIES = {
    errno.ENOSPC: "free some space there, or write to another disk",
    errno.EDQUOT: "free some space there, or write to another disk",
    errno.EFBIG: "raise the limit on file sizes, or write to another disk",
    errno.ENOENT: "create the folder first",
    errno.ENOTDIR: "name a file inside a folder",
    errno.EACCES: "choose a place that you may write to",
    errno.EPERM: "choose a place that you may write to",
    errno.EROFS: "choose a place that you may write to",
    errno.ENAMETOOLONG: "choose a shorter name",
}

_unfinished: set[Path] = set()
"""The new files that this process is writing now."""


@contextmanager
def write_whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which becomes `path` when the block ends without an exception.

    Its permissions are what the umask gives a new file, or those of the file it replaces. A
    symbolic link is replaced itself; what it points to is never written to. Raises FileError where
    the target is no plain file or no name of one, its folder is missing or forbidden, or the disk full.
    """
    permissions = _permissions_to_keep(path)
    temporary = path.parent / f".kerntape-{secrets.token_hex(6)}.part"
    try:
        file = temporary.open("xb")
    except OSError as error:
        raise cannot_write(path, error) from error
    _unfinished.add(temporary)
    try:
        with file:
            if permissions is not None:
                os.fchmod(file.fileno(), permissions)
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
        _unfinished.discard(temporary)


def remove_unfinished() -> None:
    """Removes the new files that no thread will finish any more: the process is about to end."""
    for temporary in tuple(_unfinished):
        temporary.unlink(missing_ok=True)


def check_replaceable(path: Path) -> None:
    """Raises FileError as `write_whole` does where something is there that it would not replace."""
    _permissions_to_keep(path)


def _permissions_to_keep(path: Path) -> int | None:
    """Those of the file about to be replaced; None where there is none yet."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise cannot_write(path, error) from error
    except ValueError:
        raise FileError(f"{str(path)!r}: no file can be called so; choose another name") from None
    if stat.S_ISDIR(found.st_mode):
        raise FileError(f"{path}: must be a file to write, not a folder; name a file inside it")
    if not stat.S_ISREG(found.st_mode):
        raise FileError(f"{path}: must be a plain file to write, not a device or a pipe")
    if not os.access(path, os.W_OK):
        raise cannot_write(path, PermissionError(errno.EACCES, "the file is write-protected"))
    return stat.S_IMODE(found.st_mode) & 0o777


def cannot_write(path: Path, error: OSError) -> FileError:
    """One line about a file that could not be written: why, and what to do."""
    reason = error.strerror or str(error)
    remedy = _REMEDIES.get(error.errno or 0)
    if error.errno == errno.ENOENT:
        if path.parent.is_dir():  # as /proc: one in which nothing can be made
            remedy = "name another folder"
        else:
            reason = f"there is no folder {path.parent}"
    return FileError(f"{path}: cannot be written: {reason}" + (f"; {remedy}" if remedy else ""))
