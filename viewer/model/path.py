"""The critical path on the screen: which columns of a row it takes, and the strip below the rows."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...replay.analysis.critical_path import critical_path, spent_ps
from ...schemas.columns import Bools, Int32s, Int64s
from .index import NO_STAGE, TimelineIndex
from .lanes import engine_title
from .occupancy import Axis
from .text import Line, Span, cells, fit, fit_line
from .tones import FAINT, Paint, tone
from .tree import Row

TITLE, SHORT_TITLE = "critical path", "path"
LATENCY = "latency"
RUN_GLYPH, NAME_LEFT, NAME_RIGHT, LATENCY_GLYPH = "━", "╸", "╺", "╌"


@dataclass(frozen=True)
class Path:
    """The path in the order of time, as parallel columns: its stages, their starts, their time on the
    path and the latency after it (ps), and their lanes.
    """

    stages: Int32s
    from_ps: Int64s
    spent_ps: Int64s
    latency_ps: Int64s
    lane: Int32s

    def __len__(self) -> int:
        return len(self.stages)


def path_of(index: TimelineIndex) -> Path:
    """The timeline's critical path, worked out once."""
    return index.once("critical path", lambda: _path(index))


def _path(index: TimelineIndex) -> Path:
    timeline = index.timeline
    found = critical_path(timeline)
    spent, latency = spent_ps(timeline, found)
    stages = found[::-1].astype(np.int32)
    lanes = timeline.stages.engine[stages]
    return Path(stages, timeline.start_ps[stages], spent[::-1], latency[::-1], lanes)


def on_path(index: TimelineIndex, row: Row, shown: Axis) -> Bools:
    """Per column, whether a stage of the row is on the critical path there."""
    path, edges = path_of(index), shown.edges
    first_place, past_place = np.searchsorted(path.from_ps, edges[[0, -1]])
    seen = slice(max(int(first_place) - 1, 0), int(past_place))
    of_row = np.zeros(len(index.lanes), dtype=np.bool_)
    of_row[list(row.lanes)] = True
    mine = np.flatnonzero(of_row[path.lane[seen]]) + seen.start
    start = path.from_ps[mine]
    end = start + np.maximum(path.spent_ps[mine], 1)
    is_seen = end > edges[0]
    first = np.searchsorted(edges, start[is_seen].clip(edges[0]), side="right") - 1
    past = np.searchsorted(edges, end[is_seen].clip(None, edges[-1]))
    steps_in = np.zeros(shown.width + 1, dtype=np.int64)
    np.add.at(steps_in, first, 1)
    np.add.at(steps_in, past, -1)
    covered: Bools = np.cumsum(steps_in[:-1]) > 0
    return covered


def path_line(index: TimelineIndex, shown: Axis, label_cells: int, width: int) -> Line:
    """The strip: along the columns, which engine the path is on: `━━━╸CPU╺━━━━╸MATH╺━━╌╌`."""
    words = TITLE if cells(TITLE) < label_cells else SHORT_TITLE
    title = Span(fit(words, label_cells), FAINT)
    return fit_line((title, *_runs(index, shown)), width)


def _runs(index: TimelineIndex, shown: Axis) -> Line:
    middles = (shown.edges[:-1] + shown.edges[1:]) // 2
    path = path_of(index)
    if not len(path.stages):
        return ()
    at = np.searchsorted(path.from_ps, middles, side="right") - 1
    within = (at >= 0) & (middles < path.from_ps[at] + path.spent_ps[at])
    lanes = np.where(within, path.lane[at], NO_STAGE)
    titles = {lane: _title_and_tone(index, lane) for lane in np.unique(lanes).tolist()}
    names = [titles[lane] for lane in lanes.tolist()]
    edges = [i for i in range(len(names)) if i == 0 or names[i] != names[i - 1]] + [len(names)]
    ended = middles >= index.timeline.makespan_ps
    line: Line = ()
    for start, past in pairwise(edges):
        title, looks = names[start]
        room = past - start
        text = " " * room if ended[start] else _run(title, room)
        line += (Span(text, looks),)
    return line


def _title_and_tone(index: TimelineIndex, lane: int) -> tuple[str, int]:
    if lane == NO_STAGE:
        return LATENCY, FAINT
    title = engine_title(index.timeline.engines[lane])
    return title, tone(Paint(index.lane(lane).main_paint))


def _run(title: str, room: int) -> str:
    """A run of the strip, the engine's name in the middle where there is room for it."""
    if title == LATENCY:
        return LATENCY_GLYPH * room
    if room < cells(title) + len(NAME_LEFT + NAME_RIGHT):
        return RUN_GLYPH * room
    return f"{NAME_LEFT}{title}{NAME_RIGHT}".center(room, RUN_GLYPH)
