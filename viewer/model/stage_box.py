"""Everything about the selected stage: as a column beside the picture, or as two lines below it."""

from collections.abc import Iterator

from . import times
from .hazards import HazardIndex
from .index import NO_STAGE, TimelineIndex
from .look import Look
from .slack import slack_of_index
from .text import Line, Span, cut, fit_line, wrap
from .tones import FAINT, MUTED, STRONG, TEXT, tone
from .why import why_words
from .words import (
    command_words,
    handle_name,
    kind_words,
    op_reads,
    op_writes,
    place_words,
    shape_words,
    stage_name,
    tile_words,
)

MARGIN = Span("│ ", FAINT)

WHOLE_KEY = "O"
"""The key that shows whole what has no room here (timeline_actions.py)."""

MOST_PLACED = 5
"""Of more handles than this, the addresses are left out."""


def box_lines(
    index: TimelineIndex, hazards: HazardIndex, look: Look, width: int, height: int
) -> list[Line]:
    """The stage box: exactly `height` lines of `width` cells."""
    lines: list[Line] = [(Span("┌ stage ".ljust(width, "─")[:width], FAINT),)]
    if look.stage == NO_STAGE:
        lines.append(fit_line((MARGIN, Span("no stage here", MUTED)), width))
    else:
        lines += [
            fit_line((MARGIN, *line), width)
            for line in _content(index, hazards, look.stage, width - 3)
        ]
    room = max(height - 1, 0)
    if len(lines) > room > 1:
        more = f"… {len(lines) - room + 1} more: {WHOLE_KEY} shows all"
        lines[room - 1] = fit_line((MARGIN, Span(more, FAINT)), width)
    filler = fit_line((MARGIN,), width)
    shown = lines[:room] + [filler] * (room - len(lines))
    return [*shown, (Span("└".ljust(width, "─")[:width], FAINT),)][:height]


def _content(index: TimelineIndex, hazards: HazardIndex, stage: int, width: int) -> Iterator[Line]:
    pe, command = index.pe(stage), index.command(stage)
    yield stage_title(index, stage)
    yield (Span(f"command {command}", TEXT), Span(f"  {index.pe_names[pe]}", MUTED))
    words = command_words(index, pe, command)
    if words.lower() != kind_words(index, stage).lower():
        yield from _wrapped(words, width, MUTED)
    yield ()
    yield from stage_times(index, stage)
    yield ()
    yield from _wrapped(why_words(index, hazards, stage), width, TEXT)
    yield ()
    yield from _handles(index, stage)
    yield from _released(index, stage, width)


def stage_title(index: TimelineIndex, stage: int) -> Line:
    """What kind of stage it is, and which tile of how many."""
    tiles = tile_words(index, stage)
    return Span(kind_words(index, stage), _title_tone(index, stage)), Span(f"  {tiles}", TEXT)


def _title_tone(index: TimelineIndex, stage: int) -> int:
    return tone(index.paint(stage))


def stage_times(index: TimelineIndex, stage: int) -> Iterator[Line]:
    """When it was ready, began and ended, and its slack as soon as that is known: a line each, behind
    a word for it.
    """
    ready, start, end = index.ready(stage), index.start(stage), index.end(stage)
    waited = f"  +{times.exact(start - ready)}" if start > ready else ""
    yield (Span("ready ", FAINT), Span(times.exact(ready), TEXT))
    yield (
        Span("start ", FAINT),
        Span(times.exact(start), TEXT),
        Span(waited, STRONG),
    )
    yield (
        Span("end   ", FAINT),
        Span(times.exact(end), TEXT),
        Span(f"  {times.exact(end - start)}", STRONG),
    )
    slack = slack_of_index(index).of(stage)
    if slack is not None:
        words = "none: it is critical" if slack == 0 else times.exact(slack)
        looks = STRONG if slack == 0 else TEXT
        yield (Span("slack ", FAINT), Span(words, looks))


def _handles(index: TimelineIndex, stage: int) -> Iterator[Line]:
    """What is read and written: two lines each, or one where there are many."""
    touched = [("reads ", handle) for handle in op_reads(index, stage)]
    touched += [("writes", handle) for handle in op_writes(index, stage)]
    for verb, handle in touched:
        yield (
            Span(f"{verb} ", FAINT),
            Span(handle_name(handle), STRONG),
            Span(f"  {shape_words(handle)}", TEXT),
        )
        if len(touched) <= MOST_PLACED:
            yield (Span(f"  {place_words(index, index.pe(stage), handle)}", MUTED),)


def _released(index: TimelineIndex, stage: int, width: int) -> Iterator[Line]:
    released = index.released_by(stage)
    if not len(released):
        return
    yield ()
    more = f" and {len(released) - 1} more" if len(released) > 1 else ""
    words = f"then let {stage_name(index, int(released[0]), beside=stage)} start{more}"
    yield from _wrapped(words, width, MUTED)


def _wrapped(text: str, width: int, looks: int) -> Iterator[Line]:
    for line in wrap(text, max(width, 8)):
        yield (Span(line, looks),)


def strip_lines(index: TimelineIndex, look: Look, width: int) -> list[Line]:
    """The stage in two lines, for a narrow screen."""
    stage = look.stage
    if stage == NO_STAGE:
        return [fit_line((Span(" no stage here", MUTED),), width), fit_line((), width)]
    pe, command = index.pe(stage), index.command(stage)
    start, end = index.start(stage), index.end(stage)
    title = f" {kind_words(index, stage)} {tile_words(index, stage)}".rstrip()
    first = (
        Span(title, _title_tone(index, stage)),
        Span(f" · command {command} {command_words(index, pe, command)}", TEXT),
    )
    handles = [f"reads {handle_name(h)} {shape_words(h)}" for h in op_reads(index, stage)]
    handles += [f"writes {handle_name(h)} {shape_words(h)}" for h in op_writes(index, stage)]
    second = (
        Span(f" {times.exact(start)} + {times.exact(end - start)}", STRONG),
        Span(cut("  " + " · ".join(handles), width), MUTED),
    )
    return [fit_line(first, width), fit_line(second, width)]
