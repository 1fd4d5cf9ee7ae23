"""The sidecar file of notes: `a.ktrace.kernnotes` beside `a.ktrace`, written whole or not at all."""

import os
from dataclasses import replace
from itertools import count
from pathlib import Path

from ..schemas.atomic_file import cannot_write, write_whole
from ..schemas.errors import FileError
from ..schemas.timeline import Timeline
from .model.index import NO_STAGE
from .model.notes import Kept, Note, as_text, from_text, is_text, keys_of

SUFFIX = ".kernnotes"
MAX_BYTES = 1 << 20


class NotesFile:
    """The notes of one opened file. Without a path they last as long as the browser does.

    Where the file that is there is not this timeline's, or cannot be written, they do so too:
    `complaint` is then why, and is '' elsewhere.
    """

    def __init__(self, path: Path | None, timeline: Timeline) -> None:
        self._path = None if path is None else path.with_name(path.name + SUFFIX)
        self._keys = keys_of(timeline)
        self._start_ps = timeline.start_ps
        self._kept = Kept()
        self.complaint = ""
        self.is_refused = False

    @property
    def notes(self) -> tuple[Note, ...]:
        """Those that mean something on the timeline."""
        return self._kept.notes

    @property
    def aside(self) -> tuple[Note, ...]:
        """Those at bare times of another run: they stay in the file."""
        return self._kept.aside

    def is_of_same_run(self, other: "NotesFile") -> bool:
        """Whether the other one's timeline has the same stages at the same times."""
        return self._keys == other._keys

    @property
    def where(self) -> str:
        """The file's name for a message, or that there is none."""
        return "this session only" if self._path is None else self._path.name

    def read(self) -> None:
        """Reads what is there, if anything. FileError where it belongs to other stages, or is no file of
        notes: it is refused, and left alone as long as it is there.
        """
        try:
            self._kept = self._found() or self._kept
        except FileError as error:
            self.complaint, self.is_refused = str(error), True
            raise
        self.complaint, self.is_refused = "", False

    def try_again(self) -> None:
        """Where the file was refused and has been moved away, or another lies there before anything was
        noted: as if that had been so at first.
        """
        if self.is_refused and not self.notes:
            self.read()
        elif self.is_refused and self._path is not None and not os.path.lexists(self._path):
            self.keep(self.notes)

    def _found(self) -> Kept | None:
        """What the file holds, None where there is none. FileError where it is not this timeline's."""
        if self._path is None or not os.path.lexists(self._path):
            return None
        if not self._path.is_file():
            kind = "a folder" if self._path.is_dir() else "a pipe, a device or a broken link"
            raise FileError(f"{self._path.name}: must be a plain file of notes, not {kind}")
        try:
            with self._path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
            text = content.decode("utf-8")
        except OSError as error:
            raise FileError(f"{self._path.name}: cannot be read: {error.strerror}") from error
        except UnicodeDecodeError:
            text = ""
        if len(content) > MAX_BYTES:
            raise FileError(f"{self._path.name}: must be at most {MAX_BYTES} bytes of notes")
        return from_text(text, self._keys, self._start_ps, self._path.name)

    def can_keep(self, stage: int) -> bool:
        """Whether a note on a stage can be kept, or at a bare time (NO_STAGE): the file has these of
        one run only.
        """
        return stage != NO_STAGE or not self.aside

    def keep(self, notes: tuple[Note, ...]) -> None:
        """Keeps these notes and writes them, and those set aside. FileError where they cannot be
        written, or the file that is there belongs to other stages: it is never overwritten. They are
        kept for the session then, and written with the next ones if they can be by then.
        """
        if not all(is_text(note.name) and is_text(note.text) for note in notes):
            raise FileError("a bookmark must be of whole characters, not of halves of them")
        try:
            self._write(notes)
        except FileError as error:
            self.complaint = str(error)
            raise

    def _write(self, notes: tuple[Note, ...]) -> None:
        self._kept = replace(self._kept, notes=notes)
        if self._path is None:
            return
        if self.is_refused and os.path.lexists(self._path):
            raise FileError(self.complaint)
        self.read()
        self._kept = replace(self._kept, notes=notes)
        with write_whole(self._path) as file:
            file.write(as_text(self._kept, self._keys).encode("utf-8"))

    def set_aside(self) -> str:
        """Renames the file that is refused, over nothing, and writes the notes of the session; its new
        name. FileError where there is none, or it cannot be done.
        """
        if self._path is None or not os.path.lexists(self._path):
            raise FileError("there is no file of other notes to set aside")
        try:
            self._found()
        except FileError:
            name = self._renamed(self._path)
        else:
            raise FileError(f"{self._path.name}: its notes are of this timeline, and stay")
        if self.notes:
            self.keep(self.notes)
        self.complaint, self.is_refused = "", False
        return name

    @staticmethod
    def _renamed(path: Path) -> str:
        """The first free name of `x.old-1`, `x.old-2` …: something new of the same kind takes it before the
        old one does, so that nothing else can have it.
        """
        is_folder = path.is_dir() and not path.is_symlink()
        for number in count(1):
            old = path.with_name(f"{path.name}.old-{number}")
            try:
                _make(old, is_folder=is_folder)
            except FileExistsError:
                continue
            except OSError as error:
                raise cannot_write(old, error) from error
            try:
                path.replace(old)
            except OSError as error:
                _remove(old, is_folder=is_folder)
                raise FileError(
                    f"{path.name}: cannot be renamed: {error.strerror}; move it away"
                ) from error
            return old.name
        raise AssertionError("numbers do not end")


def _make(path: Path, *, is_folder: bool) -> None:
    """Something empty of that name. FileExistsError where there is anything."""
    if is_folder:
        path.mkdir()
    else:
        path.touch(exist_ok=False)


def _remove(path: Path, *, is_folder: bool) -> None:
    """What `_make` has made."""
    if is_folder:
        path.rmdir()
    else:
        path.unlink()
