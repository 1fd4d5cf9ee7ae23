"""The sidecar file of notes: `a.ktrace.kernnotes` beside `a.ktrace`, written whole or not at all."""

import os
from dataclasses import replace
from pathlib import Path

from ..schemas.atomic_file import write_whole
from ..schemas.errors import FileError
from ..schemas.timeline import Timeline
from .model.index import NO_STAGE
from .model.notes import Kept, Note, as_text, from_text, is_text, keys_of

SUFFIX = ".kernnotes"
MAX_BYTES = 1 << 20


class NotesFile:
    """The notes of one opened file. Without a path they last as long as the browser does."""

    def __init__(self, path: Path | None, timeline: Timeline) -> None:
        self._path = None if path is None else path.with_name(path.name + SUFFIX)
        self._keys = keys_of(timeline)
        self._start_ps = timeline.start_ps
        self._kept = Kept()

    @property
    def notes(self) -> tuple[Note, ...]:
        """Those that mean something on the timeline."""
        return self._kept.notes

    @property
    def aside(self) -> tuple[Note, ...]:
        """Those at bare times of another run: they stay in the file."""
        return self._kept.aside

    @property
    def where(self) -> str:
        """The file's name for a message, or that there is none."""
        return "this session only" if self._path is None else self._path.name

    def read(self) -> None:
        """Reads what is there, if anything. FileError where it belongs to other stages."""
        if self._path is None or not os.path.lexists(self._path):
            return
        if not self._path.is_file():
            raise FileError(f"{self._path.name}: must be a plain file of notes; move it away")
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
        self._kept = from_text(text, self._keys, self._start_ps, self._path.name)

    def can_keep(self, stage: int) -> bool:
        """Whether a note on a stage can be kept, or at a bare time (NO_STAGE): the file has these of
        one run only.
        """
        return stage != NO_STAGE or not self.aside

    def keep(self, notes: tuple[Note, ...]) -> None:
        """Keeps these notes and writes them, and those set aside. FileError where they cannot be
        written, or the file that is there belongs to other stages: it is never overwritten.
        """
        if not all(is_text(note.name) and is_text(note.text) for note in notes):
            raise FileError("a bookmark must be of whole characters, not of halves of them")
        self.read()
        self._kept = replace(self._kept, notes=notes)
        if self._path is not None:
            with write_whole(self._path) as file:
                file.write(as_text(self._kept, self._keys).encode("utf-8"))
