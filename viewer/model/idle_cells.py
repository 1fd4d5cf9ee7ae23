"""Idle time in the picture: every empty column of a row in the colour and with the letter of its reason.

A run of one reason begins with its letter, so that it can be told without colours: `d░░░░h░░░░░░`.
Above a bar that leaves some of its column idle, the reason is its ground.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Bools, Int64s
from ...schemas.stages import Block
from .idleness import IDLE_WORDS, Idle, idle_parts
from .index import TimelineIndex
from .last_shown import LastShown
from .occupancy import Axis, Occupancy, density
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
        self._parts: LastShown[dict[int, Occupancy]] = LastShown(3 * len(index) // 2)
        self.reasons: set[int] = set()

    def known(self, row: Row) -> dict[int, Occupancy] | None:
        """A row's, or None where that is yet to be worked out."""
        return self._parts.get(row.key)

    def work(self, row: Row) -> None:
        """Works out a row."""
        engines = self._index.timeline.engines
        lanes = [lane for lane in row.lanes if engines[lane].block is not Block.PE_SCHEDULER]
        parts = idle_parts(self._index, lanes or row.lanes)
        self._parts.put(row.key, parts, sum(len(part.starts) for part in parts.values()))
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
    waiting = {reason: part for reason, part in parts.items() if reason != Idle.DONE}
    measured = density(waiting, 1, shown)
    done = density({r: p for r, p in parts.items() if r == Idle.DONE}, 1, shown).share > 0
    waits = measured.share > 0
    reason = np.where(waits, measured.paint, Idle.DONE)
    known = waits | done
    kept = np.where(known & empty, reason, -1)
    begins = known & empty & np.concatenate(([True], kept[1:] != kept[:-1]))
    glyphs = np.where(waits, _FILL, _DONE_FILL).astype(np.uint32)
    glyphs[begins] = _LETTER[reason[begins]]
    return IdleColumns(known, waits, glyphs, _TONE[reason], _TONE[reason] // TONES_PER_PAINT)


def legend_line(index: TimelineIndex, label_cells: int, width: int) -> Line:
    """What the letters mean, of those that occur in what is known so far; shorter where it must."""
    title = Span(fit(" idle for", label_cells), FAINT)
    found = [idle for idle in Idle if idle in idle_times(index).reasons and idle is not Idle.DONE]
    if not found:
        return fit_line((title, Span("adding up …", MUTED)), width)
    lines: list[Line] = [(title, *_legend(found, *style)) for style in LEGEND_STYLES]
    lines.append((Span(" "), *_legend(found, *LEGEND_STYLES[-1])))
    fitting = next((line for line in lines if line_cells(line) <= width), lines[-1])
    return fit_line(fitting, width)


LEGEND_STYLES = (("░", "  "), ("", "  "), ("", " "))
"""Behind the letter, and behind the word: from roomy to narrow."""


def _legend(reasons: Sequence[Idle], fill: str, behind: str) -> Iterator[Span]:
    for idle in reasons:
        yield Span(f"{IDLE_LETTERS[idle]}{fill}", tone(IDLE_PAINTS[idle]))
        yield Span(f" {IDLE_WORDS[idle]}{behind}", MUTED)
