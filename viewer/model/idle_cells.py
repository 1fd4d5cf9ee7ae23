"""Idle time in the picture: every empty column of a lane in the colour and with the letter of its reason.

A run of one reason begins with its letter, so that it can be told without colours: `d░░░░h░░░░░░`.
"""

from collections.abc import Iterator

import numpy as np

from ...schemas.columns import Bools
from .idleness import IDLE_WORDS, Idle, idle_parts
from .index import TimelineIndex
from .occupancy import Axis, Occupancy, density
from .text import Line, Span, fit, fit_line
from .tones import FAINT, MUTED, TONES_PER_PAINT, Paint, tone

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
    """Each lane's idle time by reason, as far as it has been worked out. Filled by a thread."""

    def __init__(self, index: TimelineIndex) -> None:
        self._index = index
        self._parts: dict[int, dict[int, Occupancy]] = {}
        self.reasons: set[int] = set()

    def known(self, lane: int) -> dict[int, Occupancy] | None:
        """A lane's, or None where that is yet to be worked out."""
        return self._parts.get(lane)

    def work(self) -> Iterator[int]:
        """Works out one lane after the other, and tells which."""
        for lane in range(len(self._index.lanes)):
            if self._index.lanes.count(lane) and lane not in self._parts:
                self._parts[lane] = idle_parts(self._index, lane)
                self.reasons.update(self._parts[lane])
                yield lane


def idle_times(index: TimelineIndex) -> IdleTimes:
    """The one of a timeline."""
    return index.once("idle times", lambda: IdleTimes(index))


def idle_columns(
    index: TimelineIndex, lane: int, empty: Bools, shown: Axis
) -> tuple[
    Bools,
    "np.ndarray[tuple[int], np.dtype[np.uint32]]",
    "np.ndarray[tuple[int], np.dtype[np.int64]]",
]:
    """Which of the `empty` columns show a reason, and the glyph and tone of every column."""
    parts = idle_times(index).known(lane)
    measured = density(parts or {}, 1, shown)
    covered = empty & (measured.share > 0)
    reason = np.where(covered, measured.paint, -1)
    begins = covered & np.concatenate(([True], reason[1:] != reason[:-1]))
    glyphs = np.where(measured.paint == Idle.DONE, _DONE_FILL, _FILL).astype(np.uint32)
    glyphs[begins] = _LETTER[measured.paint[begins]]
    return covered, glyphs, _TONE[measured.paint]


def legend_line(index: TimelineIndex, label_cells: int, width: int) -> Line:
    """What the letters mean, of those that occur in what is known so far."""
    line: Line = (Span(fit(" idle for", label_cells), FAINT),)
    found = idle_times(index).reasons
    for idle in Idle:
        if idle in found and idle is not Idle.DONE:
            looks = tone(IDLE_PAINTS[idle])
            line += (Span(f"{IDLE_LETTERS[idle]}░", looks), Span(f" {IDLE_WORDS[idle]}  ", MUTED))
    return fit_line(line if found else (*line, Span("adding up …", MUTED)), width)
