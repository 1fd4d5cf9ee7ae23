"""All about a stage, over the whole width and in as many lines as it takes: nothing is left out for room."""

from collections.abc import Iterable, Iterator, Sequence

from ...schemas.commands import CommandKind
from .hazards import HazardIndex
from .index import TimelineIndex
from .stage_box import stage_times, stage_title
from .text import Line, Span, cells, fit, fit_line, line_cells, printable, wrap
from .tones import FAINT, MUTED, STRONG
from .why import why_words
from .words import (
    command_words,
    handle_name,
    op_reads,
    op_writes,
    place_words,
    shape_words,
    stage_name,
)

INDENT = GAP = "  "
WORD_CELLS = 8
"""Of what a line is about, before it."""


def whole_lines(index: TimelineIndex, hazards: HazardIndex, stage: int, width: int) -> list[Line]:
    """What the stage box tells, and what it has no room for: every op of the command, every handle with
    its address, the kernel line, and every stage that this one let start.
    """
    pe, command = index.pe(stage), index.command(stage)
    room = max(width - len(INDENT) - WORD_CELLS, 8)
    line = index.line(pe, command)
    number = f"{command} on {index.pe_names[pe]}: {_command(index, pe, command)}"
    lines: list[Line] = [
        *_title(index, stage, room),
        *_told("command", number, room),
        *_told("line", f"{line}  {line.text.strip()}", room),
        (),
        *_times(index, stage, room),
        (),
        *_told("why", why_words(index, hazards, stage), room),
        (),
        *_handles(index, stage, room),
        (),
        *_released(index, stage, room),
    ]
    return [fit_line((Span(INDENT), *one), width) for one in lines]


def _command(index: TimelineIndex, pe: int, command: int) -> str:
    """Its verb and all its ops."""
    form = index.form(pe, command)
    if form.kind not in (CommandKind.MATH, CommandKind.COMPOSITE):
        return command_words(index, pe, command)
    return f"{form.kind.name.lower()} {', '.join(op.kind for op in form.ops)}"


def _told(word: str, text: str, room: int) -> Iterator[Line]:
    """A text in as many lines as it takes, behind the word for what it is."""
    return _below(word, [Span(printable(text))], room)


def _beside(word: str, told: Sequence[Span], room: int) -> Iterator[Line]:
    """Spans behind the word for what they are, two cells between them; below each other where they have
    no room.
    """
    if line_cells(told) + len(GAP) * (len(told) - 1) > room:
        return _below(word, told, room)
    behind = (Span(GAP + span.text, span.tone) for span in told[1:])
    return iter([(_word(word), *told[:1], *behind)])


def _below(word: str, told: Iterable[Span], room: int) -> Iterator[Line]:
    """Spans below each other, each in as many lines as it takes."""
    for span in told:
        for part in wrap(span.text, room):
            yield _word(word), Span(part, span.tone)
            word = ""


def _word(word: str) -> Span:
    return Span(fit(word, WORD_CELLS), FAINT)


def _title(index: TimelineIndex, stage: int, room: int) -> Iterator[Line]:
    title = stage_title(index, stage)
    if line_cells(title) <= room + WORD_CELLS:
        yield title
        return
    for span in title:
        for part in wrap(span.text, room + WORD_CELLS):
            yield (Span(part, span.tone),)


def _times(index: TimelineIndex, stage: int, room: int) -> Iterator[Line]:
    for word, *told in stage_times(index, stage):
        stripped = [Span(span.text.strip(), span.tone) for span in told if span.text]
        yield from _beside(word.text.strip(), stripped, room)


def _handles(index: TimelineIndex, stage: int, room: int) -> Iterator[Line]:
    """What is read and written, a line each; where that has no room, where it lies is below its name."""
    touched = [("reads", handle) for handle in op_reads(index, stage)]
    touched += [("writes", handle) for handle in op_writes(index, stage)]
    pe = index.pe(stage)
    told = [
        (verb, (handle_name(one), shape_words(one), place_words(index, pe, one)))
        for verb, one in touched
    ]
    names, shapes, places = (
        max((cells(words[column]) for _, words in told), default=0) for column in range(3)
    )
    has_room = names + shapes + places + 2 * len(GAP) <= room
    for verb, (name, shape, place) in told:
        if has_room:
            columns = (Span(fit(name, names), STRONG), Span(fit(shape, shapes)), Span(place, MUTED))
            yield from _beside(verb, columns, room)
        else:
            yield from _beside(verb, (Span(name, STRONG), Span(shape)), room)
            for line in _place_lines(place, room - len(INDENT)):
                yield _word(""), Span(INDENT + line, MUTED)


def _place_lines(place: str, room: int) -> list[str]:
    """Where a handle lies, in as many lines as that takes; an offset in a tensor is not broken."""
    tensor, plus, offset = place.rpartition("+")
    has_room = cells(place) <= room or not plus
    return wrap(place if has_room else f"{tensor} {plus}{offset}", room)


def _released(index: TimelineIndex, stage: int, room: int) -> Iterator[Line]:
    word = "let"
    for released in index.released_by(stage).tolist():
        yield from _told(word, f"{stage_name(index, released, beside=stage)} start", room)
        word = ""
