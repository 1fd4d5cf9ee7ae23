"""Bookmarks and notes on the main screen, kept in the sidecar file of what was opened."""

from functools import partial
from pathlib import Path

from ...schemas.errors import FileError
from ..model.carried import same_stage
from ..model.index import NO_STAGE
from ..model.jumps import to_time
from ..model.look import jump
from ..model.notes import (
    Note,
    added,
    carried_notes,
    free_note_name,
    note_head,
    note_lines,
)
from ..notes_file import NotesFile
from .host import Host
from .list_panel import ListPanel

NO_SUCH_TIME = "the run as it was opened has no such time"
NO_SUCH_STAGE = "the run as it was opened has no such stage"


class Bookmarks:
    """Reads the notes when they are first needed; what is wrong with their file is said, and it stays.

    `path` is the opened file's, of the timeline that the screen shows now. A run that takes its place
    shows the same notes on the same stages; what means nothing there is not shown, and what means
    nothing in the opened one is kept until another run takes the place.
    """

    def __init__(self, screen: Host, path: Path | None) -> None:
        self._screen = screen
        self._path = path
        self._opened = screen.index
        self._file: NotesFile | None = None
        self._unkept: tuple[Note, ...] = ()
        self._unkept_of = screen.index

    def add(self, name: str = "", text: str = "") -> None:
        """Bookmarks the cursor's place, under the next free letter if it has no name."""
        try:
            file = self._read()
            look, index = self._screen.look, self._screen.index
            name = name or free_note_name((*file.notes, *self._unkept_here()))
            stage = same_stage(index, self._opened, look.stage)
            unkept = self._why_unkept(file, stage)
            if unkept:
                here = Note(name, look.at_ps, look.stage, text)
                self._unkept = added(self._unkept_here(), here)
                self._screen.say(f"bookmark {name} for this run only: {unkept}")
                return
            at_ps = look.at_ps if stage == NO_STAGE else self._opened.start(stage)
            file.keep(added(file.notes, Note(name, at_ps, stage, text)))
        except FileError as error:
            self._screen.say(str(error))
        else:
            self._screen.say(f"bookmark {name} kept: {file.where} · B lists them")

    def _why_unkept(self, file: NotesFile, stage: int) -> str:
        """Why the file cannot keep the cursor's place, which is that stage of the opened timeline."""
        look, is_opened = self._screen.look, self._screen.index is self._opened
        if not is_opened and stage == NO_STAGE:
            return NO_SUCH_TIME if look.stage == NO_STAGE else NO_SUCH_STAGE
        if not file.can_keep(stage):
            return f"{file.where} has the times of another run"
        return ""

    def show(self) -> None:
        """The list; Enter goes there."""
        try:
            file, index = self._read(), self._screen.index
        except FileError as error:
            self._screen.say(str(error))
            return
        kept = file.notes
        if index is not self._opened:
            kept = carried_notes(kept, self._opened, index)
        left_out = len(file.notes) + len(file.aside) - len(kept)
        notes = kept
        for note in self._unkept_here():
            notes = added(notes, note)
        panel = ListPanel(
            "bookmarks and notes",
            "bookmarks",
            count=len(notes),
            head=lambda width: note_head(notes, left_out, width),
            listed=lambda *place: note_lines(index, notes, *place),
        )
        self._screen.app.push_screen(panel, partial(self._chosen, notes))

    def _chosen(self, notes: tuple[Note, ...], place: int | None) -> None:
        if place is None:
            return
        note, index, look = notes[place], self._screen.index, self._screen.look
        is_time = note.stage == NO_STAGE
        there = to_time(index, look, note.at_ps) if is_time else jump(index, look, note.stage)
        words = f"{note.name}: {note.text}" if note.text else f"at the bookmark {note.name}"
        self._screen.go(there, words)

    def _unkept_here(self) -> tuple[Note, ...]:
        """What was not kept of the run that is shown."""
        if self._unkept_of is not self._screen.index:
            self._unkept, self._unkept_of = (), self._screen.index
        return self._unkept

    def _read(self) -> NotesFile:
        """The notes of what was opened."""
        if self._file is None:
            file = NotesFile(self._path, self._opened.timeline)
            file.read()
            self._file = file
        return self._file
