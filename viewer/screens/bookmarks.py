"""Bookmarks and notes on the main screen, kept in the sidecar file of what was opened."""

from contextlib import suppress
from functools import partial
from pathlib import Path

from ...schemas.errors import FileError
from ..model.carried import same_stage
from ..model.index import NO_STAGE, TimelineIndex
from ..model.jumps import to_time
from ..model.look import jump
from ..model.notes import Note, added, carried_notes, free_note_name, is_text, joined, place_of
from ..notes_file import NotesFile
from .bookmarks_panel import BookmarksPanel, Listing
from .host import Host

NO_SUCH_TIME = "the run as it was opened has no such time"
NO_SUCH_STAGE = "the run as it was opened has no such stage"

REMEDY = "move or delete what is there, or type :fresh_notes, which renames it"


class Bookmarks:
    """Reads the notes when they are first needed. Where their file is not this timeline's, or cannot be
    written, it stays as it is and they last for the session: that is said once, and stands in the list.

    `path` is the opened file's, of the timeline that the screen shows now. A run that takes its place
    shows the same notes on the same stages; what means nothing there is not shown, and what means
    nothing in the opened one is kept until another run takes the place.
    """

    def __init__(self, screen: Host, path: Path | None) -> None:
        self._screen = screen
        self._path = path
        self._opened = screen.index
        self._file: NotesFile | None = None
        self._told = ""
        self._unkept: tuple[Note, ...] = ()
        self._unkept_of = screen.index

    # ---------------------------------------------------------------- adding and removing

    def add(self, name: str = "", text: str = "") -> None:
        """Bookmarks the cursor's place, under the next free letter if it has no name. Words join a
        bookmark that is there without any.
        """
        file, look, index = self._read(), self._screen.look, self._screen.index
        here = place_of(self._listing().notes, look.stage, look.at_ps)
        if here is not None and not name and not text:
            self._screen.say(f"bookmark {here.name} is at this place already · B lists them")
            return
        if here is not None and not name and not here.text:
            name = here.name
        name = name or free_note_name((*file.notes, *file.aside, *self._unkept_here()))
        stage = same_stage(index, self._opened, look.stage)
        unkept = self._why_unkept(file, stage)
        if unkept:
            self._unkept = added(self._unkept_here(), Note(name, look.at_ps, look.stage, text))
            self._screen.say(f"bookmark {name} for this run only: {unkept}")
            return
        at_ps = look.at_ps if stage == NO_STAGE else self._opened.start(stage)
        self._keep(file, Note(name, at_ps, stage, text))

    def _keep(self, file: NotesFile, note: Note) -> None:
        """Says where it is kept, and why it is not written the first time that it is not."""
        words = f"bookmark {note.name}"
        try:
            file.keep(added(file.notes, note))
        except FileError as error:
            if not (is_text(note.name) and is_text(note.text)):
                words = str(error)
            elif file.complaint == self._told:
                words += " for this session only · B lists them"
            else:
                words += f" for this session only: {_why_unwritten(file)}"
                self._told = file.complaint
        else:
            words += f" kept: {file.where} · B lists them"
        self._screen.say(words)

    def _why_unkept(self, file: NotesFile, stage: int) -> str:
        """Why the file cannot keep the cursor's place, which is that stage of the opened timeline."""
        look, is_opened = self._screen.look, self._screen.index is self._opened
        if not is_opened and stage == NO_STAGE:
            return NO_SUCH_TIME if look.stage == NO_STAGE else NO_SUCH_STAGE
        if not file.can_keep(stage):
            return f"{file.where} has the times of another run"
        return ""

    def _remove(self, note: Note) -> str:
        """Takes one away; what to say of that."""
        file, others = self._read(), tuple(one for one in self._unkept_here() if one != note)
        if others != self._unkept_here():
            self._unkept = others
            return f"bookmark {note.name} removed"
        try:
            file.keep(tuple(one for one in file.notes if one.name != note.name))
        except FileError as error:
            if not file.is_refused:
                return f"bookmark {note.name} removed for this session only: {error}"
        return f"bookmark {note.name} removed"

    def begin_anew(self) -> None:
        """Sets a file of other notes aside under a new name, so that these are written."""
        file = self._read()
        try:
            old = file.set_aside()
        except FileError as error:
            self._screen.say(str(error))
        else:
            self._told = ""
            self._screen.say(f"what was there is {old} now; yours: {file.where}")

    def take_along(self, index: TimelineIndex) -> None:
        """The file at the path was opened anew, and this is what it holds now: what was noted lasts on the
        stages that are there too, all of it where nothing has changed, and is written if the file of
        notes is that timeline's.
        """
        before, opened = self._file, self._opened
        self._opened, self._file, self._told = index, None, ""
        if before is None:
            return
        file = self._read()
        taken = before.notes
        if not file.is_of_same_run(before):
            taken = carried_notes(taken, opened, index)
        more = tuple(one for one in taken if place_of(file.notes, one.stage, one.at_ps) is None)
        if more:
            with suppress(FileError):  # it stands in the file's complaint
                file.keep(joined(file.notes, more, file.aside))

    # ---------------------------------------------------------------- the list

    def show(self) -> None:
        """The list; Enter goes there."""
        panel = BookmarksPanel(self._screen.index, self._listing, self._remove)
        self._screen.app.push_screen(panel, partial(self._chosen, panel))

    def _listing(self) -> Listing:
        """The notes of the run that is shown."""
        file, index = self._read(), self._screen.index
        kept = file.notes
        if index is not self._opened:
            kept = carried_notes(kept, self._opened, index)
        left_out = len(file.notes) + len(file.aside) - len(kept)
        notes = kept
        for note in self._unkept_here():
            notes = added(notes, note)
        return Listing(notes, left_out, _why_unwritten(file))

    def _chosen(self, panel: BookmarksPanel, place: int | None) -> None:
        if place is None:
            return
        note = panel.known.notes[place]
        index, look = self._screen.index, self._screen.look
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
        """The notes of what was opened. What is wrong with their file is in its complaint."""
        file, is_known = self._file, self._file is not None
        if file is None:
            file = self._file = NotesFile(self._path, self._opened.timeline)
        with suppress(FileError):  # it stands in the file's complaint
            if is_known:
                file.try_again()
            else:
                file.read()
        return file


def _why_unwritten(file: NotesFile) -> str:
    """Why, and what to do; '' where the notes are written."""
    if not file.complaint:
        return ""
    return f"not written: {file.complaint}" + (f" · {REMEDY}" if file.is_refused else "")
