"""Bookmarks and notes on the main screen, kept in the sidecar file of what was opened."""

from pathlib import Path

from ...schemas.errors import FileError
from ...schemas.timeline import Timeline
from ..model.index import NO_STAGE
from ..model.jumps import to_time
from ..model.look import select
from ..model.notes import Note, added, content_key, free_note_name, note_head, note_lines
from ..notes_file import NotesFile
from .host import Host
from .list_panel import ListPanel


class Bookmarks:
    """Reads the notes when they are first needed; what is wrong with their file is said, and it stays.

    `path` is the opened file's, of the timeline that the screen shows now.
    """

    def __init__(self, screen: Host, path: Path | None) -> None:
        self._screen = screen
        self._path = path
        self._opened_timeline = screen.index.timeline
        self._file: NotesFile | None = None
        self._of: Timeline | None = None

    def add(self, name: str = "", text: str = "") -> None:
        """Bookmarks the cursor's place, under the next free letter if it has no name."""
        try:
            file = self._opened()
            look = self._screen.look
            note = Note(name or free_note_name(file.notes), look.at_ps, look.stage, text)
            file.keep(added(file.notes, note))
        except FileError as error:
            self._screen.say(str(error))
        else:
            self._screen.say(f"bookmark {note.name} kept: {file.where} · B lists them")

    def show(self) -> None:
        """The list; Enter goes there."""
        try:
            notes, index = self._opened().notes, self._screen.index
        except FileError as error:
            self._screen.say(str(error))
            return
        panel = ListPanel(
            "bookmarks and notes",
            "bookmarks",
            count=len(notes),
            head=lambda width: note_head(notes, width),
            listed=lambda *place: note_lines(index, notes, *place),
        )
        self._screen.app.push_screen(panel, self._chosen)

    def _chosen(self, place: int | None) -> None:
        if place is None:
            return
        note, index, look = self._opened().notes[place], self._screen.index, self._screen.look
        is_time = note.stage == NO_STAGE
        there = to_time(index, look, note.at_ps) if is_time else select(index, look, note.stage)
        self._screen.go(there, f"{note.name}: {note.text}" if note.text else note.name)

    def _opened(self) -> NotesFile:
        """The notes of the timeline that is shown: one that took its place has its own, kept nowhere."""
        timeline = self._screen.index.timeline
        if self._file is None or self._of is not timeline:
            is_opened = timeline is self._opened_timeline
            path = self._path if is_opened else None
            file = NotesFile(path, content_key(timeline), len(timeline.start_ps))
            file.read()
            self._file, self._of = file, timeline
        return self._file
