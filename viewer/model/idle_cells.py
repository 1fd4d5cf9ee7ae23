"""Idle time in the picture: every empty column of a row in the colour and with the letter of its reason.

A run of one reason begins with its letter, so that it can be told without colours: `d░░░░h░░░░░░`.
Above a bar that leaves some of its column idle, the reason is its ground.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Bools, Int64s
from ...schemas.stages import Block
from .depth import Depth
from .idleness import IDLE_WORDS, Idle, idle_parts
from .index import TimelineIndex
from .last_shown import LastShown
from .occupancy import Axis
from .text import Line, Span, fit, fit_line, line_cells
from .tones import FAINT, MUTED, TONES_PER_PAINT, Paint, tone
from .tree import Row

IDLE_LETTERS = {
    Idle.DATA: "d",
    Idle.DISPATCH: "p",
    Idle.HAZARD: "h",
    Idle.BUFFER: "b",
    Idle.CREDIT: "c",
    Idle.MESSAGE: "m",
    Idle.BLOCKED: "f",
    Idle.QUEUE: "q",
    Idle.ENGINE: "e",
    Idle.EVER: "x",
    Idle.DONE: " ",
}

IDLE_PAINTS = {
    Idle.DATA: Paint.READ,
    Idle.DISPATCH: Paint.DISPATCH,
    Idle.HAZARD: Paint.HELD,
    Idle.BUFFER: Paint.GEMM,
    Idle.CREDIT: Paint.MATH,
    Idle.MESSAGE: Paint.STRONG,
    Idle.BLOCKED: Paint.CONTROL,
    Idle.QUEUE: Paint.VIOLATED,
    Idle.ENGINE: Paint.FETCH,
    Idle.EVER: Paint.WRITE,
    Idle.DONE: Paint.FAINT,
}

_FILL, _DONE_FILL = ord("░"), ord(" ")
_LETTER = np.array([ord(IDLE_LETTERS[idle]) for idle in Idle], dtype=np.uint32)
_TONE = np.array([IDLE_PAINTS[idle] * TONES_PER_PAINT for idle in Idle], dtype=np.int64)


class IdleTimes:
    """The idle time by reason of rows, as far as it has been worked out. Filled by a thread.

    A group's is that of its engines together, without PE_SCHEDULER, which only decides.
    """

    def __init__(self, index: TimelineIndex) -> None:
        self._index = index
        self._parts: LastShown[dict[int, Depth]] = LastShown(len(index))
        self.reasons: set[int] = set()

    def known(self, row: Row) -> dict[int, Depth] | None:
        """A row's, or None where that is yet to be worked out."""
        return self._parts.get(row.key)

    def work(self, row: Row) -> None:
        """Works out a row."""
        engines = self._index.timeline.engines
        lanes = [lane for lane in row.lanes if engines[lane].block is not Block.PE_SCHEDULER]
        parts = idle_parts(self._index, lanes or row.lanes)
        self._parts.put(row.key, parts, sum(len(part) for part in parts.values()))
        self.reasons.update(parts)


def idle_times(index: TimelineIndex) -> IdleTimes:
    """The one of a timeline."""
    return index.once("idle times", lambda: IdleTimes(index))


@dataclass(frozen=True)
class IdleColumns:
    """Per column whether a reason is known, and whether it is one to wait for; its glyph, tone, paint."""

    is_known: Bools
    waits: Bools
    glyphs: npt.NDArray[np.uint32]
    tones: Int64s
    paints: Int64s


def idle_columns(index: TimelineIndex, row: Row, empty: Bools, shown: Axis) -> IdleColumns:
    """The reason for which most of each column's idle time was spent; that all is done comes last.

    Runs of one reason over `empty` columns begin with its letter.
    """
    parts = idle_times(index).known(row) or {}
    spent = np.zeros((len(Idle), shown.width), dtype=np.int64)
    for idle, part in parts.items():
        spent[idle] = part.measure(shown)
    done = spent[Idle.DONE] > 0
    spent[Idle.DONE] = 0
    waits = spent.max(axis=0) > 0
    reason = np.where(waits, spent.argmax(axis=0), Idle.DONE)
    known = waits | done
    kept = np.where(known & empty, reason, -1)
    begins = known & empty & np.concatenate(([True], kept[1:] != kept[:-1]))
    glyphs = np.where(waits, _FILL, _DONE_FILL).astype(np.uint32)
    glyphs[begins] = _LETTER[reason[begins]]
    return IdleColumns(known, waits, glyphs, _TONE[reason], _TONE[reason] // TONES_PER_PAINT)


def legend_lines(index: TimelineIndex, label_cells: int, width: int) -> list[Line]:
    """What the letters mean, of those that occur in what is known so far: in one line, narrower where
    it must be, and in several where that is not enough. No entry is cut where the widest fits.
    """
    title = Span(fit(" idle for", label_cells), FAINT)
    found = [idle for idle in Idle if idle in idle_times(index).reasons and idle is not Idle.DONE]
    if not found:
        return [fit_line((title, Span("adding up …", MUTED)), width)]
    lines: list[Line] = [_in_a_line(title, found, *style) for style in LEGEND_STYLES]
    lines.append(_in_a_line(Span(" "), found, *LEGEND_STYLES[-1]))
    fitting = next((line for line in lines if line_cells(line) <= width), None)
    chosen = [fitting] if fitting is not None else _in_lines(found, width)
    return [fit_line(line, width) for line in chosen]


def legend_height(index: TimelineIndex, width: int) -> int:
    """How many lines the legend takes."""
    return len(legend_lines(index, index.tree.label_cells, width))


LEGEND_STYLES = (("░", "  "), ("", "  "), ("", " "))
"""Behind the letter, and between two entries: from roomy to narrow."""


def _in_a_line(title: Span, reasons: Sequence[Idle], fill: str, between: str) -> Line:
    line: Line = (title,)
    for place, idle in enumerate(reasons):
        line += (Span(between if place else ""), *_entry(idle, fill))
    return line


def _entry(idle: Idle, fill: str = "") -> Line:
    letter = Span(f"{IDLE_LETTERS[idle]}{fill}", tone(IDLE_PAINTS[idle]))
    return letter, Span(f" {IDLE_WORDS[idle]}", MUTED)


def _in_lines(reasons: Sequence[Idle], width: int) -> list[Line]:
    """Entry after entry; one that does not fit any more begins the next line."""
    lines: list[Line] = [()]
    for idle in reasons:
        entry = (Span(" "), *_entry(idle))
        if lines[-1] and line_cells((*lines[-1], *entry)) > width:
            lines.append(())
        lines[-1] = (*lines[-1], *entry)
    return lines
