"""What stands above the list of hazards: how many of each fate, and the columns or why there are none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...replay.hazards.shared import SharedTensor, not_compared_text, shared_lines, shared_tensors
from .fates import FATE_GLYPHS, FATE_PAINTS, FATE_WORDS, Fate
from .hazard_filter import HazardFilter
from .hazard_list import column_cells
from .hazards import HazardIndex
from .index import TimelineIndex
from .text import Line, Span, fit_line, line_cells, printable, wrap
from .tones import FAINT, MUTED, STRONG, Paint, tone

NOT_EVALUATED = "not evaluated: the replay did not end"
GAPS = ("   ", "  ", " ")
"""Between two counts, from roomy to narrow."""


@dataclass(frozen=True)
class Listed:
    """What the list shows: what is wanted of the hazards, how many that are, how far the search for the
    possible ones is, in percent (None: it is not at work), and what to say of them before it.
    """

    hazards: HazardIndex
    wanted: HazardFilter
    count: int
    percent: int | None = None
    unsearched: str = "a finds them"


def shared_of(index: TimelineIndex) -> tuple[SharedTensor, ...]:
    """The tensors in which PEs meet: of these no pair is listed. Found once."""
    return index.once("shared tensors", lambda: shared_tensors(index.timeline.trace))


def counts_line(listed: Listed, width: int) -> Line:
    """`[all 13]   ! 0 violated   ? 0 potential   ◇ 4 held   ◇ 9 at no cost`: what the filter wants stands
    in brackets.
    """
    whole = _marked((Span(f"all {len(listed.hazards):,}", MUTED),), listed.wanted.fate is None)
    brief = _marked((Span("all", MUTED),), listed.wanted.fate is None)
    shorter = _known(replace(listed, unsearched=""))
    choices = [whole, *_known(listed)], [whole, *shorter], [brief, *shorter]
    return fit_line(_fitting("  ", choices, width), width)


def counts(listed: Listed, width: int) -> Line:
    """`! 0 violated   ? 0 potential   ◇ 4 held   ◇ 9 at no cost`, in `width` cells where it can be."""
    return _fitting("", (_known(listed), _known(replace(listed, unsearched=""))), width)


def _known(listed: Listed) -> list[Line]:
    wanted = listed.wanted.fate
    known = [_marked((_count(listed, fate),), wanted is fate) for fate in Fate]
    if listed.hazards.is_evaluated:
        return known
    is_wanted = wanted not in (None, Fate.POTENTIAL)
    return [_marked((Span(NOT_EVALUATED, MUTED),), is_wanted), known[Fate.POTENTIAL]]


def _marked(line: Line, is_wanted: bool) -> Line:
    return (Span("[", STRONG), *line, Span("]", STRONG)) if is_wanted else line


def _fitting(before: str, choices: Sequence[list[Line]], width: int) -> Line:
    """The first of the choices that leaves `width` cells, with the widest gaps; else the last."""
    lines = [_joined(before, parts, gap) for parts in choices for gap in GAPS]
    return next((line for line in lines if line_cells(line) <= width), lines[-1])


def _joined(before: str, parts: list[Line], gap: str) -> Line:
    line: Line = ()
    for place, part in enumerate(parts):
        line += (Span(gap if place else before), *part)
    return line


def _count(listed: Listed, fate: Fate) -> Span:
    """`◇ 4 held` in its colour, if there are any; of the possible ones, whether they were looked for."""
    hazards, glyph = listed.hazards, FATE_GLYPHS[fate]
    if fate is Fate.POTENTIAL and listed.percent is not None:
        return Span(f"{glyph} searching, {listed.percent} %", tone(Paint.POTENTIAL))
    if fate is Fate.POTENTIAL and not hazards.is_searched:
        hint = f": {listed.unsearched}" if listed.unsearched else ""
        return Span(f"{glyph} {FATE_WORDS[fate]}{hint}", MUTED)
    count = hazards.counts[fate]
    looks = tone(FATE_PAINTS[fate]) if count else MUTED
    return Span(f"{glyph} {count:,} {FATE_WORDS[fate]}", looks)


def columns_line(index: TimelineIndex, listed: Listed, width: int) -> Line:
    """The heads of the columns; of an empty list, why it is empty."""
    if not listed.count:
        return fit_line((Span(f"  {printable(_why_empty(index, listed))}", MUTED),), width)
    pair_cells = column_cells(width)[0]
    head = f"  {'':<2}{'':<10}{'time':>12}  {'kind':<5}{'command':<{pair_cells}}on"
    return fit_line((Span(head, FAINT),), width)


def _why_empty(index: TimelineIndex, listed: Listed) -> str:
    wants_possible = listed.wanted.fate is Fate.POTENTIAL
    if wants_possible and listed.percent is not None:
        return "comparing every pair of commands that nothing orders …"
    if wants_possible and not listed.hazards.is_searched:
        return "not looked for yet: a finds what can go wrong in any replay"
    if wants_possible and listed.hazards.is_searched and not listed.hazards.counts[Fate.POTENTIAL]:
        within = " within a PE" if shared_of(index) else ""
        none_but = "no other" if listed.hazards.counts[Fate.VIOLATED] else "no"
        policy = index.timeline.policy.name
        return f"{policy}: {none_but} hazard is possible{within}, under any calibration"
    if len(listed.hazards):
        return "none of the hazards is wanted by the filter; r shows all"
    if not listed.hazards.is_evaluated:
        return f"hazards {NOT_EVALUATED}"
    return "no hazards: nothing was held back, nothing went wrong"


def shared_note(index: TimelineIndex, width: int, room: int) -> list[Line]:
    """What was not compared, since PEs meet in it: whole where that takes `room` lines at most, else
    in one line; no line where there is nothing.
    """
    shared = shared_of(index)
    if not shared:
        return []
    lines = [*_wrapped(shared, max(width - 4, 8))]
    if len(lines) > room:
        lines = [not_compared_text(len(shared))]
    return [fit_line((Span(f"  {printable(line)}", MUTED),), width) for line in lines]


def _wrapped(shared: tuple[SharedTensor, ...], width: int) -> Iterator[str]:
    for sentence in shared_lines(shared):
        yield from wrap(sentence, width)
