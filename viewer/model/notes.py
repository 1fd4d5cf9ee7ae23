"""Bookmarks and notes: places of a timeline with a name and words, and the text they are kept as.

The text is JSON of one form. It names what its notes belong to by two hashes: which stages there are,
and when each ran. A note on a stage is found again wherever the stages are the same, as they are under
another calibration; one at a bare time only where the times are.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import chain, count
from typing import Any

import numpy as np

from ...schemas.columns import Int64s
from ...schemas.errors import FileError
from ...schemas.timeline import Timeline
from ...schemas.timeline_checks import MAX_PS
from . import times
from .carried import same_stage
from .index import NO_STAGE, TimelineIndex
from .text import MOST_QUOTED, Line, Span, cut, fit, fit_line, printable, wrap
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT, Paint, tone
from .words import stage_name

VERSION = 2
READABLE_VERSIONS = (1, VERSION)
"""The first one had no hash of the stages: its notes belong to one run."""

FORM = "kerntape notes"

LETTERS = 26
"""So many names are of a letter; behind them come numbers."""


@dataclass(frozen=True, slots=True)
class Note:
    """A place and what one wants to remember of it. `stage` is NO_STAGE for a bare time."""

    name: str
    at_ps: int
    stage: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Keys:
    """What the notes of a timeline belong to: hashes of which stages there are (`stages`), and of these
    with the times and the cause of each (`times`).
    """

    stages: str
    times: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What such a text holds: the notes that mean something on a timeline, and those set `aside`, at
    bare times of the run whose hash is `times`.
    """

    notes: tuple[Note, ...] = ()
    aside: tuple[Note, ...] = ()
    times: str = ""


def keys_of(timeline: Timeline) -> Keys:
    """The timeline's, of all that is on the screen."""
    digest = hashlib.blake2b(digest_size=16)
    stages = timeline.stages
    for column in (stages.kind, stages.engine, stages.pe, stages.command, stages.tile):
        digest.update(np.ascontiguousarray(column).data)
    which = digest.hexdigest()
    for times_or_cause in (timeline.start_ps, timeline.end_ps, timeline.cause):
        digest.update(np.ascontiguousarray(times_or_cause).data)
    return Keys(which, digest.hexdigest())


def as_text(kept: Kept, keys: Keys) -> str:
    """The notes of the timeline with these hashes, as the sidecar file holds them; those set aside
    with them, which then say whose times they are.
    """
    content = {
        "form": FORM,
        "version": VERSION,
        "stages": keys.stages,
        "timeline": kept.times if kept.aside else keys.times,
        "notes": [asdict(note) for note in (*kept.notes, *kept.aside)],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def from_text(text: str, keys: Keys, start_ps: Int64s, where: str) -> Kept:
    """What such a text holds for the timeline with these hashes, whose stages start at `start_ps`; a
    note on a stage is where that starts. FileError where it is none, or belongs to other stages.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise FileError(f"{where}: must be a file of notes, not other text") from None
    if not isinstance(content, dict) or content.get("form") != FORM:
        raise FileError(f"{where}: must be a file of notes, not other text")
    if content.get("version") not in READABLE_VERSIONS:
        version = cut(printable(str(content.get("version"))), MOST_QUOTED)
        raise FileError(f"{where}: its version must be {VERSION}, not {version}")
    run = str(content.get("timeline"))
    if not is_text(run):
        raise FileError(f"{where}: 'timeline' must be a hash")
    is_same_run = run == keys.times
    if not is_same_run and content.get("stages") != keys.stages:
        raise FileError(f"{where}: its notes belong to another timeline; they are left alone")
    rows = content.get("notes")
    if not isinstance(rows, list):
        raise FileError(f"{where}: 'notes' must be a list")
    notes = [_note(row, start_ps, f"{where}: notes[{n}]") for n, row in enumerate(rows)]
    aside = tuple(note for note in notes if note.stage == NO_STAGE and not is_same_run)
    kept = tuple(note for note in notes if note not in aside)
    return Kept(kept, aside, run)


def _note(row: Any, start_ps: Int64s, where: str) -> Note:
    wanted = {"name": str, "at_ps": int, "stage": int, "text": str}
    if not isinstance(row, dict) or {name: type(row.get(name)) for name in wanted} != wanted:
        raise FileError(f"{where} must have a name, at_ps, stage and text")
    if not (NO_STAGE <= row["stage"] < len(start_ps) and 0 <= row["at_ps"] <= MAX_PS):
        raise FileError(f"{where} must lie in the timeline")
    if not (is_text(row["name"]) and is_text(row["text"])):
        raise FileError(f"{where} must be of whole characters, not of halves of them")
    at_ps = row["at_ps"] if row["stage"] == NO_STAGE else int(start_ps[row["stage"]])
    return Note(row["name"], at_ps, row["stage"], row["text"])


def is_text(words: str) -> bool:
    """Whether words can be written down: half of a surrogate pair cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in words)


def carried_notes(
    notes: tuple[Note, ...], opened: TimelineIndex, index: TimelineIndex
) -> tuple[Note, ...]:
    """The notes of the timeline that was opened, on another run of its trace: those on stages that run
    there too. A bare time means nothing there.
    """
    there = ((note, same_stage(opened, index, note.stage)) for note in notes)
    found = (
        replace(note, stage=stage, at_ps=index.start(stage))
        for note, stage in there
        if stage != NO_STAGE
    )
    return _in_order(found)


def added(notes: tuple[Note, ...], note: Note) -> tuple[Note, ...]:
    """With one more, in the order of time; it takes the place of one of the same name."""
    return _in_order([*(one for one in notes if one.name != note.name), note])


def _in_order(notes: Iterable[Note]) -> tuple[Note, ...]:
    return tuple(sorted(notes, key=lambda one: (one.at_ps, one.name)))


def joined(
    notes: tuple[Note, ...], more: tuple[Note, ...], aside: tuple[Note, ...] = ()
) -> tuple[Note, ...]:
    """With more of them; those whose name is taken, also by one that is set aside, get a free one."""
    for note in more:
        names = (*notes, *aside)
        is_taken = any(one.name == note.name for one in names)
        notes = added(notes, replace(note, name=free_note_name(names)) if is_taken else note)
    return notes


def free_note_name(notes: tuple[Note, ...]) -> str:
    """`a`, `b` … `z`, `27`, `28` …: the first that no note has."""
    taken = {note.name for note in notes}
    letters = (chr(ord("a") + place) for place in range(LETTERS))
    names = chain(letters, map(str, count(LETTERS + 1)))
    return next(name for name in names if name not in taken)


def place_of(notes: tuple[Note, ...], stage: int, at_ps: int) -> Note | None:
    """The note on a stage, or at a bare time (NO_STAGE): the first of several, None where there is none."""
    here = (note for note in notes if note.stage == stage)
    return next((note for note in here if stage != NO_STAGE or note.at_ps == at_ps), None)


def note_head(
    notes: tuple[Note, ...], left_out: int, width: int, complaint: str = ""
) -> list[Line]:
    """The head of the list, and how many notes are not in it; first why they are not written (`complaint`),
    in as many lines as that takes.
    """
    head: Line = (Span(f"    {'name':<12}{'at':>14}  {'stage':<34}  note", FAINT),)
    if not notes:
        head = (Span("  no bookmarks: b sets one at the cursor, :note adds words to it", MUTED),)
    lines = [head]
    if left_out:
        them = f"{left_out:,} are not shown: what they mark"
        if left_out == 1:
            them = "1 is not shown: what it marks"
        lines.insert(0, (Span(f"  {them} is not in this run", MUTED),))
    told = wrap(printable(complaint), max(width - 3, 8))
    lines = [*((Span(f"  {words}", tone(Paint.VIOLATED)),) for words in told), *lines]
    return [fit_line(line, width) for line in lines]


def note_lines(
    index: TimelineIndex, notes: tuple[Note, ...], chosen: int, top: int, width: int, height: int
) -> list[Line]:
    """`height` lines of the list from place `top` on; `chosen` is marked."""
    places = range(top, min(top + height, len(notes)))
    lines = [_listed(index, notes[place], place == chosen, width) for place in places]
    return lines + [fit_line((), width)] * (height - len(lines))


def _listed(index: TimelineIndex, note: Note, is_chosen: bool, width: int) -> Line:
    name = "" if note.stage == NO_STAGE else stage_name(index, note.stage)
    return fit_line(
        (
            Span("  › " if is_chosen else "    ", ACCENT),
            Span(fit(printable(note.name), 12), STRONG),
            Span(f"{times.exact(note.at_ps):>14}  ", TEXT),
            Span(fit(printable(name), 34), MUTED),
            Span(f"  {printable(note.text)}", TEXT),
        ),
        width,
    )
