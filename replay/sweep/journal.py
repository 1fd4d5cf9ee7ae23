"""The journal of a sweep: which points are done, in a file beside the results, so that a sweep that was
killed goes on where it was.

One line a batch: a checksum, a space, JSON. The first line names the sweep by its hash, the second, for
people, by the command that began it. A line that was being written when the sweep was killed is dropped;
a sweep of other arguments or by another kerntape, or damage anywhere else, is refused. While a sweep has
the journal open, no other can.
"""

import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Sequence
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

from ...schemas.atomic_file import cannot_write
from ...schemas.errors import FileError
from .points import PointResult, Way

CHECKSUM_DIGITS = 16


def journal_path(results: Path) -> Path:
    """Where the journal of those results is."""
    return results.with_name(f"{results.name}.partial")


class Journal:
    """An open journal. `results`: what was found in it, and what was appended since, by point."""

    def __init__(self, path: Path, sweep_sha256: str, command: str = "") -> None:
        """Opens it, or makes a new one. `command` is what a refusal of it shall tell. Raises FileError
        where it cannot be, or is another sweep's."""
        self.path = path
        self.results: dict[int, PointResult] = {}
        self._file = _locked(path)
        try:
            self._read(_line({"sweep": sweep_sha256}), _line({"command": command}))
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes it; one that holds no point is removed."""
        if not self.results:
            self.remove()
        self._file.close()

    def append(self, results: Sequence[PointResult]) -> None:
        """Writes a batch down. Raises FileError where the disk is full."""
        self._write(_line({"points": [[each.point, each.way, each.figures] for each in results]}))
        self.results |= {each.point: each for each in results}

    def remove(self) -> None:
        """There is nothing, or nothing left, to go on with."""
        self.path.unlink(missing_ok=True)

    def _read(self, title: bytes, command: bytes) -> None:
        content = self._file.read()
        if title.startswith(content):  # new, or killed before it could begin
            self._begin(title + command)
            return
        lines = content.splitlines(keepends=True)
        if len(lines) > 1 and _written(lines[-1]) is None:
            lines.pop()
        self._check_title(lines, title)
        for number, line in enumerate(lines[1:], 2):
            self._take(number, line)
        self._end_at(sum(map(len, lines)))

    def _begin(self, head: bytes) -> None:
        """Nothing is left behind where not even the head can be written."""
        self._end_at(0)
        try:
            self._write(head)
        except FileError:
            self.remove()
            raise

    def _check_title(self, lines: Sequence[bytes], title: bytes) -> None:
        if _written(lines[0]) is None:
            raise self._damaged(1)
        if lines[0] != title:
            raise FileError(
                f"{self.path}: must be of this sweep, not of one with other arguments or by another"
                f" kerntape{_command_in(lines)}; continue it with those, or delete the file"
            )

    def _take(self, number: int, line: bytes) -> None:
        """A batch that was appended; the command is for people."""
        written = _written(line)
        if written is None:
            raise self._damaged(number)
        for point, way, figures in written.get("points", ()):
            self.results[point] = PointResult(point, Way(way), tuple(figures))

    def _damaged(self, number: int) -> FileError:
        return FileError(f"{self.path}: line {number} is damaged; delete the file to begin anew")

    def _end_at(self, size: int) -> None:
        self._file.truncate(size)
        self._file.seek(size)

    def _write(self, line: bytes) -> None:
        left = memoryview(line)
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            raise cannot_write(self.path, error) from error


def _locked(path: Path) -> FileIO:
    """The file, made if need be, open for this process alone."""
    while True:
        file = _opened(path)
        try:
            _lock(file, path)
            if _is_there(file, path):
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # the sweep that had it locked has ended meanwhile, and removed it


def _opened(path: Path) -> FileIO:
    try:
        return FileIO(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+")
    except OSError as error:
        raise cannot_write(path, error) from error


def _lock(file: FileIO, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise FileError(f"{path}: must be a plain file to write, not a device or a pipe")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FileError(
            f"{path}: another sweep is writing it; wait for its end, or name other results"
        ) from None
    except OSError as error:
        raise cannot_write(path, error) from error


def _is_there(file: FileIO, path: Path) -> bool:
    """Whether the open file is what the path leads to."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _line(written: dict[str, Any]) -> bytes:
    text = json.dumps(written, separators=(",", ":")).encode()
    return _checksum(text) + b" " + text + b"\n"


def _command_in(lines: Sequence[bytes]) -> str:
    """The command that began a journal, in brackets; nothing where it is not told."""
    told = _written(lines[1]) if len(lines) > 1 else None
    command = str((told or {}).get("command", ""))
    if not command:
        return ""
    return f" ({command if command.isprintable() else ascii(command)[1:-1]})"


def _written(line: bytes) -> dict[str, Any] | None:
    """What a line holds; None where it is not whole."""
    checksum, _, text = line.removesuffix(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != _checksum(text):
        return None
    written: dict[str, Any] = json.loads(text)
    return written


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:CHECKSUM_DIGITS].encode()
