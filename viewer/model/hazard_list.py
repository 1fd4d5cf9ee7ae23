"""The list of hazards, line by line: only the lines that are shown are made, however long the list."""

from collections.abc import Iterator, Mapping

import numpy as np

from ...replay.hazards.verdicts import Verdict
from ...schemas.columns import Int64s
from . import times
from .fates import FATE_GLYPHS, FATE_PAINTS, FATE_WORDS, Fate
from .hazard_ruler import ruler_lines
from .hazards import HazardIndex
from .index import TimelineIndex
from .text import Line, Span, fit, fit_line, line_cells, printable, wrap
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT, Paint, tone

DETAIL_LINES = 10
"""What is said of the chosen hazard: an empty line, the sentence, kernel lines, ruler, policies."""

ROOMY_FROM = 90
"""So wide a list has wider columns."""

LEAST_ON_CELLS = 6
"""What two commands meet on gives way to the name of their PE down to so many cells."""

BEFORE_PAIR_CELLS = 33
"""Of a line: its mark, what became of the pair, its time and its kind."""

VERDICT_PAINTS = {
    Verdict.HELD: Paint.HELD,
    Verdict.ORDERED: Paint.ACCENT,
    Verdict.UNORDERED: Paint.VIOLATED,
}

SHORT_VERDICTS = {Verdict.HELD: "held", Verdict.ORDERED: "ordered", Verdict.UNORDERED: "open"}


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
    table, fate = hazards.table, hazards.fate(row)
    pair = f"{int(table.earlier[row])} → {int(table.later[row])}"
    looks = STRONG if is_chosen else TEXT
    mark = tone(FATE_PAINTS[fate])
    pe = index.pe_names[int(table.pe[row])] if len(index.pe_names) > 1 else ""
    pair_cells, on_cells = column_cells(width)
    if pe:
        longest = index.once("longest PE name", lambda: max(map(len, index.pe_names), default=0))
        left = width - BEFORE_PAIR_CELLS - pair_cells - len("  ") - longest
        on_cells = min(on_cells, max(left, LEAST_ON_CELLS))
    line: Line = (
        Span(" ›" if is_chosen else "  ", ACCENT),
        Span(f"{FATE_GLYPHS[fate]} ", mark),
        Span(f"{FATE_WORDS[fate]:<10}", mark),
        Span(f"{_time_words(table.cost_ps[row], fate):>12}  ", looks),
        Span(f"{hazards.kind(row).value:<5}", MUTED),
        Span(f"{pair:<{pair_cells}}", looks),
        Span(fit(hazards.handle_words(row), on_cells), looks),
    )
    if pe:
        line += (Span(f"  {pe}", MUTED),)
    bytes_met = Span(f"  {_bytes_words(hazards, row)}", MUTED)
    if line_cells((*line, bytes_met)) <= width:
        line += (bytes_met,)
    return fit_line(line, width)


def column_cells(width: int) -> tuple[int, int]:
    """Of the columns that tell the two commands and what they meet on."""
    return (18, 20) if width >= ROOMY_FROM else (14, 16)


def _time_words(cost_ps: np.int64, fate: Fate) -> str:
    """How long it was held, or the two overlapped; a possible pair has no time of its own."""
    return "" if fate is Fate.POTENTIAL else times.exact(int(cost_ps))


def _bytes_words(hazards: HazardIndex, row: int) -> str:
    start, stop = int(hazards.table.byte_from[row]), int(hazards.table.byte_to[row])
    return f"{start:#x}–{stop:#x}" if stop > start else "no byte shared"


HAZARD_TABLE = (
    "outcome",
    "kind",
    "pe",
    "earlier_command",
    "earlier_line",
    "later_command",
    "later_line",
    "handle",
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
            FATE_WORDS[hazards.fate(row)],
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
    """The policies by what they make of the pair: `held by byte_range, serial · open under none`, in
    fewer words where it must be.
    """
    if not verdicts:
        return fit_line((Span("  asking the shipped policies …", FAINT),), width)
    roomy = _verdicts(verdicts, {found: found.value for found in Verdict}, " · ")
    is_fitting = line_cells(roomy) <= width
    return fit_line(roomy if is_fitting else _verdicts(verdicts, SHORT_VERDICTS, "; "), width)


def _verdicts(verdicts: Mapping[str, Verdict], words: Mapping[Verdict, str], between: str) -> Line:
    line: Line = (Span("  ", FAINT),)
    for found in Verdict:
        names = [printable(name) for name, one in verdicts.items() if one is found]
        if names:
            line += (
                Span("" if len(line) == 1 else between, FAINT),
                Span(f"{words[found]} ", tone(VERDICT_PAINTS[found])),
                Span(", ".join(names), TEXT),
            )
    return line
