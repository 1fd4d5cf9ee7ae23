"""The whole run as a strip two lines high: how busy the machine was, what is shown, how many hazards.

The strip is cut from a profile of many buckets, each with the time that engines were busy in it: one
pass over all stages, however wide the strip is and however often its width changes.
"""

from dataclasses import dataclass

import numpy as np

from ...schemas.columns import Bools, Int64s
from . import times
from .cells import LEVELS
from .fates import FATE_GLYPHS, FATE_PAINTS, FATE_WORDS, Fate
from .hazards import HazardIndex
from .index import TimelineIndex
from .look import Look
from .occupancy import Axis, Floats, axis
from .text import Line, Span, fit_line, line_cells
from .tones import ACCENT, FAINT, MUTED, tone

BUCKETS = 1 << 12
ALMOST = 0.01
"""What a height may lack of the next eighth."""

SHOWN_CELLS = 28
"""The least room for the words on the right, so that the strip stays where it is when they change."""


@dataclass(frozen=True)
class Profile:
    """Per bucket, the engines at work in it on average, and whether any stage of some length was."""

    at_work: Floats
    is_lit: Bools

    def levels(self, width: int) -> Int64s:
        """Per column of a strip, at most as wide as there are buckets, 0 to 8 against the busiest
        column; at least 1 where anything ran.
        """
        edges = np.arange(width + 1) * (BUCKETS / width)
        summed = np.concatenate(([0.0], np.cumsum(self.at_work)))
        share = np.diff(np.interp(edges, np.arange(BUCKETS + 1), summed))
        column = (np.flatnonzero(self.is_lit) * 2 + 1) * width // (2 * BUCKETS)
        some = np.bincount(column, minlength=width) > 0
        highest = float(share.max(initial=0.0)) or 1.0
        heights = (share / highest * 8 + ALMOST).astype(np.int64)
        return np.where(some, np.maximum(heights, 1), 0)


def profile_of(index: TimelineIndex) -> Profile:
    """The timeline's, worked out once: a tenth of a second for seven million stages."""
    return index.once("profile", lambda: _profile(index))


def _profile(index: TimelineIndex) -> Profile:
    """A stage adds an engine from its start on and takes it away from its end on; in the bucket
    where that happens, for the part of it that is left.
    """
    scale = BUCKETS / index.span_ps
    change, part, begun = (np.zeros(BUCKETS + 1) for _ in range(3))
    for run in index.lanes.runs(range(len(index.lanes))):
        lasts = run.covered_ends > run.covered
        for times_ps, sign in ((run.covered[lasts], 1), (run.covered_ends[lasts], -1)):
            place = times_ps * scale
            bucket = place.astype(np.int64)
            counts = np.bincount(bucket, minlength=BUCKETS + 1)
            left = counts - np.bincount(bucket, weights=place - bucket, minlength=BUCKETS + 1)
            change[1:] += sign * counts[:-1]
            part += sign * left
            begun += counts if sign > 0 else 0
    at_work = (np.cumsum(change) + part)[:BUCKETS]
    return Profile(at_work, (begun[:BUCKETS] > 0) | (at_work > 1e-6))


def minimap_lines(index: TimelineIndex, hazards: HazardIndex, look: Look, width: int) -> list[Line]:
    """The whole timeline as a strip with the hazard counts, and below it the part that is shown."""
    counts, shown_words = _hazard_counts(hazards), _window_words(index, look)
    room = minimap_room(index, hazards, look, width)
    side = width - room - 1
    shown = axis(0, max(index.span_ps, room), room)
    window = shown.columns_of(look.from_ps, look.to_ps)
    strip = fit_line((Span(" "), *_minimap_strip(index, shown, window)), room + 1)
    bracket = _bracket(window)
    below = fit_line((Span(" " * (window.start + 1)), Span(bracket, ACCENT)), room + 1)
    return [
        fit_line((*strip, *_right(counts, side)), width),
        fit_line((*below, *_right(shown_words, side)), width),
    ]


def minimap_room(index: TimelineIndex, hazards: HazardIndex, look: Look, width: int) -> int:
    """The columns of the strip, which begins in the second one; words stand on the right of it."""
    words = max(map(line_cells, (_hazard_counts(hazards), _window_words(index, look))))
    return max(width - max(words, SHOWN_CELLS) - 3, 1)


def _right(line: Line, width: int) -> Line:
    return (Span(" " * (width - line_cells(line))), *line)


def _minimap_strip(index: TimelineIndex, shown: Axis, window: range) -> Line:
    """How busy the machine was, against its busiest column; the shown part stands out."""
    if not len(index):
        return ()
    levels = profile_of(index).levels(shown.width)
    text = LEVELS[levels].astype("<u4").tobytes().decode("utf-32-le")
    before, inside, after = (
        text[: window.start],
        text[window.start : window.stop],
        text[window.stop :],
    )
    return (Span(before, FAINT), Span(inside, ACCENT), Span(after, FAINT))


def _bracket(window: range) -> str:
    return "╵" if len(window) < 2 else f"╶{'─' * (len(window) - 2)}╴"


def _window_words(index: TimelineIndex, look: Look) -> Line:
    whole = times.short(index.timeline.makespan_ps)
    part = "all" if look.span_ps >= max(index.span_ps, 1) else f"{times.short(look.span_ps)} shown"
    words = f"all of {whole} shown" if part == "all" else f"{part} of {whole}"
    return (Span(words, MUTED), Span(" "))


def _hazard_counts(hazards: HazardIndex) -> Line:
    """`◇ 12 held  ! 0 violated`, each in its colour where there are any."""
    if not hazards.is_evaluated and not hazards.counts[Fate.POTENTIAL]:
        return (Span("  hazards not evaluated", MUTED), Span(" "))
    line: Line = ()
    for one in (Fate.HELD, Fate.VIOLATED, Fate.POTENTIAL):
        count = hazards.counts[one]
        if one is Fate.POTENTIAL and not count:
            continue
        look = tone(FATE_PAINTS[one]) if count else MUTED
        line += (Span(f"  {FATE_GLYPHS[one]} {count:,} {FATE_WORDS[one]}", look),)
    return (*line, Span(" "))
