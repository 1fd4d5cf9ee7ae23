"""All about a stage, over the whole width and in as many lines as it takes: nothing is left out for room."""

from collections.abc import Iterator

from ...schemas.commands import CommandKind
from ...schemas.handles import Handle
from .hazards import HazardIndex
from .index import TimelineIndex
from .stage_box import stage_times, stage_title
from .text import Line, Span, cells, fit, fit_line, printable, wrap
from .tones import FAINT, MUTED, STRONG, TEXT
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

INDENT = "  "
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
        stage_title(index, stage),
        *_told("command", number, room),
        *_told("line", f"{line}  {line.text.strip()}", room),
        (),
        *stage_times(index, stage, WORD_CELLS),
        (),
        *_told("why", why_words(index, hazards, stage), room),
        (),
        *_handles(index, stage),
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
    for place, part in enumerate(wrap(printable(text), room)):
        yield (Span(fit("" if place else word, WORD_CELLS), FAINT), Span(part, TEXT))


def _handles(index: TimelineIndex, stage: int) -> Iterator[Line]:
    touched = [("reads", handle) for handle in op_reads(index, stage)]
    touched += [("writes", handle) for handle in op_writes(index, stage)]
    names = max((cells(handle_name(handle)) for _, handle in touched), default=0)
    shapes = max((cells(shape_words(handle)) for _, handle in touched), default=0)
    for verb, handle in touched:
        yield (
            Span(fit(verb, WORD_CELLS), FAINT),
            Span(f"{fit(handle_name(handle), names)}  ", STRONG),
            Span(f"{fit(shape_words(handle), shapes)}  ", TEXT),
            Span(_place(index, stage, handle), MUTED),
        )


def _place(index: TimelineIndex, stage: int, handle: Handle) -> str:
    return place_words(index, index.pe(stage), handle)


def _released(index: TimelineIndex, stage: int, room: int) -> Iterator[Line]:
    word = "let"
    for released in index.released_by(stage).tolist():
        yield from _told(word, f"{stage_name(index, released, beside=stage)} start", room)
        word = ""
