"""The list of hazards, line by line: only the lines that are shown are made, however long the list."""

from . import times
from .hazards import GLYPHS, OUTCOME_WORDS, HazardIndex
from .index import TimelineIndex
from .lane_cells import OUTCOME_PAINTS
from .text import Line, Span, fit, fit_line, printable, wrap
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT, tone


def title_line(hazards: HazardIndex, width: int) -> Line:
    """The head of the columns; of an empty list, that it is empty."""
    if not len(hazards):
        return fit_line(
            (Span("  no hazards: nothing was held back, nothing went wrong", MUTED),), width
        )
    head = f"  {'':<2}{'':<10}{'time':>12}  {'kind':<5}{'command':<18}{'on':<20}"
    return fit_line((Span(head, FAINT),), width)


def hazard_lines(
    index: TimelineIndex, hazards: HazardIndex, chosen: int, top: int, width: int, height: int
) -> list[Line]:
    """`height` lines of the list from place `top` on, in the order of weight; `chosen` is marked."""
    places = range(top, min(top + height, len(hazards)))
    lines = [_hazard(index, hazards, place, place == chosen, width) for place in places]
    return lines + [fit_line((), width)] * (height - len(lines))


def _hazard(
    index: TimelineIndex, hazards: HazardIndex, place: int, is_chosen: bool, width: int
) -> Line:
    row = int(hazards.by_weight[place])
    table, outcome = hazards.table, hazards.outcome(row)
    pair = f"{int(table.earlier[row])} → {int(table.later[row])}"
    looks = STRONG if is_chosen else TEXT
    mark = tone(OUTCOME_PAINTS[outcome])
    pe = index.pe_names[int(table.pe[row])] if len(index.pe_names) > 1 else ""
    return fit_line(
        (
            Span(" ›" if is_chosen else "  ", ACCENT),
            Span(f"{GLYPHS[outcome]} ", mark),
            Span(f"{OUTCOME_WORDS[outcome]:<10}", mark),
            Span(f"{times.exact(int(table.cost_ps[row])):>12}  ", looks),
            Span(f"{hazards.kind(row).value:<5}", MUTED),
            Span(f"{pair:<18}", looks),
            Span(fit(hazards.handle_words(row), 20), looks),
            Span(f"  {_bytes_words(hazards, row)}  {pe}", MUTED),
        ),
        width,
    )


def _bytes_words(hazards: HazardIndex, row: int) -> str:
    start, stop = int(hazards.table.byte_from[row]), int(hazards.table.byte_to[row])
    return f"{start:#x}–{stop:#x}" if stop > start else "no byte shared"


def hazard_detail(
    index: TimelineIndex, hazards: HazardIndex, chosen: int, width: int
) -> list[Line]:
    """Four lines: the chosen hazard as a sentence, and the kernel lines of both commands."""
    if not len(hazards):
        return [fit_line((), width)] * 4
    row = int(hazards.by_weight[chosen])
    sentence = wrap(hazards.sentence(row), max(width - 4, 8))[:2]
    lines: list[Line] = [(Span(f"  {text}", STRONG),) for text in sentence]
    lines += [()] * (2 - len(lines))
    pe = int(hazards.table.pe[row])
    for command in (int(hazards.table.earlier[row]), int(hazards.table.later[row])):
        line = index.line(pe, command)
        text = printable(f"{line}  {line.text.strip()}")
        lines.append((Span(f"  {command:>6}  ", FAINT), Span(text, MUTED)))
    return [fit_line(line, width) for line in lines]
