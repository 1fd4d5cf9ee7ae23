"""Bookmarks and notes: places of a timeline with a name and words, and the text they are kept as.

The text is JSON of one form; it names the timeline it belongs to by a hash of its content, so that
notes are never shown on another one.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...schemas.errors import FileError
from ...schemas.timeline import Timeline
from . import times
from .index import NO_STAGE, TimelineIndex
from .text import Line, Span, fit, fit_line, printable
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT
from .words import stage_name

VERSION = 1
FORM = "kerntape notes"


@dataclass(frozen=True, slots=True)
class Note:
    """A place and what one wants to remember of it. `stage` is NO_STAGE for a bare time."""

    name: str
    at_ps: int
    stage: int
    text: str = ""


def content_key(timeline: Timeline) -> str:
    """A hash of what is on the screen: every stage with its times and its cause."""
    digest = hashlib.blake2b(digest_size=16)
    stages = timeline.stages
    for column in (stages.kind, stages.engine, stages.pe, stages.command, stages.tile):
        digest.update(np.ascontiguousarray(column).data)
    for times_or_cause in (timeline.start_ps, timeline.end_ps, timeline.cause):
        digest.update(np.ascontiguousarray(times_or_cause).data)
    return digest.hexdigest()


def as_text(notes: tuple[Note, ...], key: str) -> str:
    """The notes of the timeline with that content, as the sidecar file holds them."""
    content = {
        "form": FORM,
        "version": VERSION,
        "timeline": key,
        "notes": [asdict(note) for note in notes],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def from_text(text: str, key: str, stages: int, where: str) -> tuple[Note, ...]:
    """The notes of such a text. FileError where it is none, or belongs to another timeline."""
    try:
        content = json.loads(text)
    except ValueError:
        raise FileError(f"{where}: must be a file of notes, not other text; move it away") from None
    if not isinstance(content, dict) or content.get("form") != FORM:
        raise FileError(f"{where}: must be a file of notes, not other text; move it away")
    if content.get("version") != VERSION:
        raise FileError(f"{where}: its version must be {VERSION}, not {content.get('version')}")
    if content.get("timeline") != key:
        raise FileError(f"{where}: its notes belong to another timeline; they are left alone")
    rows = content.get("notes")
    if not isinstance(rows, list):
        raise FileError(f"{where}: 'notes' must be a list")
    return tuple(_note(row, stages, f"{where}: notes[{place}]") for place, row in enumerate(rows))


def _note(row: Any, stages: int, where: str) -> Note:
    wanted = {"name": str, "at_ps": int, "stage": int, "text": str}
    if not isinstance(row, dict) or {name: type(row.get(name)) for name in wanted} != wanted:
        raise FileError(f"{where} must have a name, at_ps, stage and text")
    if not (NO_STAGE <= row["stage"] < stages and row["at_ps"] >= 0):
        raise FileError(f"{where} must lie in the timeline")
    return Note(row["name"], row["at_ps"], row["stage"], row["text"])


def added(notes: tuple[Note, ...], note: Note) -> tuple[Note, ...]:
    """With one more, in the order of time; it takes the place of one of the same name."""
    others = [one for one in notes if one.name != note.name]
    return tuple(sorted([*others, note], key=lambda one: (one.at_ps, one.name)))


def free_note_name(notes: tuple[Note, ...]) -> str:
    """`a`, `b` … `z`, `27` …: the first that no note has."""
    taken = {note.name for note in notes}
    letters = (chr(ord("a") + i) for i in range(26))
    free = [name for name in letters if name not in taken]
    return free[0] if free else str(len(notes) + 1)


def note_head(notes: tuple[Note, ...], width: int) -> list[Line]:
    """The head of the list."""
    if not notes:
        words = "no bookmarks: b sets one at the cursor, :note adds words to it"
        return [fit_line((Span(f"  {words}", MUTED),), width)]
    return [fit_line((Span(f"    {'name':<12}{'at':>14}  {'stage':<34}  note", FAINT),), width)]


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
