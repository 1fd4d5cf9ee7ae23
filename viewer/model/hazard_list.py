"""The list of hazards, line by line: only the lines that are shown are made, however long the list."""

from collections.abc import Iterator, Mapping

from ...replay.hazards.verdicts import Verdict
from ...schemas.columns import Int64s
from . import times
from .hazard_cells import OUTCOME_PAINTS
from .hazard_ruler import ruler_lines
from .hazards import GLYPHS, OUTCOME_WORDS, HazardIndex
from .index import TimelineIndex
from .text import Line, Span, fit, fit_line, printable, wrap
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT, Paint, tone

DETAIL_LINES = 10
"""What is said of the chosen hazard: an empty line, the sentence, kernel lines, ruler, policies."""

VERDICT_PAINTS = {
    Verdict.HELD: Paint.HELD,
    Verdict.ORDERED: Paint.ACCENT,
    Verdict.UNORDERED: Paint.VIOLATED,
}


def title_line(count: int, whole: int, width: int) -> Line:
    """The head of the columns; of an empty list, why it is empty."""
    if not count:
        words = "  no hazards: nothing was held back, nothing went wrong"
        if whole:
            words = "  none of the hazards is wanted by the filter; r shows all"
        return fit_line((Span(words, MUTED),), width)
    head = f"  {'':<2}{'':<10}{'time':>12}  {'kind':<5}{'command':<18}{'on':<20}"
    return fit_line((Span(head, FAINT),), width)


def hazard_lines(
    index: TimelineIndex,
    hazards: HazardIndex,
    rows: Int64s,
    chosen: int,
    top: int,
    width: int,
    height: int,
) -> list[Line]:
    """`height` lines of the list `rows` from place `top` on; the place `chosen` is marked.

    Only the rows that are shown are read.
    """
    places = range(top, min(top + height, len(rows)))
    lines = [_hazard(index, hazards, int(rows[place]), place == chosen, width) for place in places]
    return lines + [fit_line((), width)] * (height - len(lines))


def _hazard(
    index: TimelineIndex, hazards: HazardIndex, row: int, is_chosen: bool, width: int
) -> Line:
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


HAZARD_TABLE = (
    "outcome",
    "kind",
    "rank",
    "earlier",
    "earlier line",
    "later",
    "later line",
    "on",
    "byte_from",
    "byte_to",
    "time_ps",
)


def hazard_rows(
    index: TimelineIndex, hazards: HazardIndex, rows: Int64s
) -> Iterator[tuple[object, ...]]:
    """Rows of the hazard table as they are saved, made one after the other."""
    table = hazards.table
    for row in rows.tolist():
        pe, earlier, later = int(table.pe[row]), int(table.earlier[row]), int(table.later[row])
        yield (
            OUTCOME_WORDS[hazards.outcome(row)],
            hazards.kind(row).value,
            index.timeline.trace.pes[pe].rank,
            earlier,
            str(index.line(pe, earlier)),
            later,
            str(index.line(pe, later)),
            hazards.handle_words(row),
            int(table.byte_from[row]),
            int(table.byte_to[row]),
            int(table.cost_ps[row]),
        )


def hazard_detail(
    index: TimelineIndex,
    hazards: HazardIndex,
    row: int,
    verdicts: Mapping[str, Verdict],
    width: int,
) -> list[Line]:
    """The lines about a hazard: it as a sentence, the kernel lines of both commands, the ruler of
    its bytes, and which policies would order the pair."""
    sentence = wrap(hazards.sentence(row), max(width - 4, 8))[:2]
    lines: list[Line] = [(), *((Span(f"  {text}", STRONG),) for text in sentence)]
    lines += [()] * (3 - len(lines))
    pe = int(hazards.table.pe[row])
    for command in (int(hazards.table.earlier[row]), int(hazards.table.later[row])):
        line = index.line(pe, command)
        text = printable(f"{line}  {line.text.strip()}")
        lines.append((Span(f"  {command:>6}  ", FAINT), Span(text, MUTED)))
    fitted = [fit_line(line, width) for line in lines]
    fitted += ruler_lines(index, hazards, row, width)
    return [*fitted, verdict_line(verdicts, width)]


def verdict_line(verdicts: Mapping[str, Verdict], width: int) -> Line:
    """The policies by what they make of the pair: `held by byte_range, serial · open under none`."""
    if not verdicts:
        return fit_line((Span("  asking the shipped policies …", FAINT),), width)
    line: Line = (Span("  ", FAINT),)
    for found in Verdict:
        names = [printable(name) for name, one in verdicts.items() if one is found]
        if names:
            line += (
                Span("" if len(line) == 1 else " · ", FAINT),
                Span(f"{found.value} ", tone(VERDICT_PAINTS[found])),
                Span(", ".join(names), TEXT),
            )
    return fit_line(line, width)
