"""The sidecar file of notes: `a.ktrace.kernnotes` beside `a.ktrace`, written whole or not at all."""

from pathlib import Path

from ..schemas.atomic_file import write_whole
from ..schemas.errors import FileError
from .model.notes import Note, as_text, from_text

SUFFIX = ".kernnotes"
MAX_BYTES = 1 << 20


class NotesFile:
    """The notes of one opened file. Without a path they last as long as the browser does."""

    def __init__(self, path: Path | None, key: str, stages: int) -> None:
        self._path = None if path is None else path.with_name(path.name + SUFFIX)
        self._key = key
        self._stages = stages
        self.notes: tuple[Note, ...] = ()

    @property
    def where(self) -> str:
        """The file's name for a message, or that there is none."""
        return "this session only" if self._path is None else self._path.name

    def read(self) -> None:
        """Reads what is there, if anything. FileError where it is not this timeline's."""
        if self._path is None or not self._path.exists():
            return
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
        self.notes = from_text(text, self._key, self._stages, self._path.name)

    def keep(self, notes: tuple[Note, ...]) -> None:
        """Keeps these notes and writes them. FileError where they cannot be written, or the file that
        is there is not this timeline's: it is never overwritten.
        """
        self.read()
        self.notes = notes
        if self._path is not None:
            with write_whole(self._path) as file:
                file.write(as_text(notes, self._key).encode("utf-8"))
