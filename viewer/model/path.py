"""The critical path on the screen: which columns of a row it takes, the strip below the rows, the list."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...replay.analysis.critical_path import (
    critical_path,
    spent_ps,
    time_by_engine,
    time_by_why,
)
from ...schemas.columns import Bools, Int32s, Int64s
from ...schemas.stages import Why
from . import times
from .index import NO_STAGE, TimelineIndex
from .lanes import engine_title, use_title
from .occupancy import Axis
from .text import Line, Span, cells, fit, fit_line, printable
from .tones import FAINT, MUTED, STRONG, TEXT, Paint, tone
from .tree import Row
from .why import REASON_WORDS
from .words import stage_name

TITLE, SHORT_TITLE = "critical path", "path"
LATENCY = "latency"
RUN_GLYPH, NAME_LEFT, NAME_RIGHT, LATENCY_GLYPH = "━", "╸", "╺", "╌"
HEAD_LINES = 3

STAGE_CELLS, CLOSE_STAGE_CELLS = 34, 20
"""Of the column that names a stage; the close one where each step also names its PE."""

REASON_CELLS = 24
"""So much is left for what a step waited for, or the stages are named in fewer words."""

TIME_CELLS = 32
"""Of a step: its mark and its two times."""


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


# -------------------------------------------------------------------------------- the list


def path_count(index: TimelineIndex) -> int:
    """How many steps the list has."""
    return len(path_of(index))


def path_head(index: TimelineIndex, width: int) -> list[Line]:
    """Three lines: the makespan by engine, by what was waited for, and the head of the columns."""
    engines, whys = index.once("path shares", lambda: _shared_out(index))
    makespan = max(index.timeline.makespan_ps, 1)
    shape = _shape(index, width)
    pe = f"  {'PE':<{shape.pe_cells}}" if shape.pe_cells else ""
    head = f"    {'from':>12}  {'for':>12}  {'stage':<{shape.stage_cells}}{pe}  waited for"
    return [
        _shares("by engine", engines, makespan, width),
        _shares("waited for", whys, makespan, width),
        fit_line((Span(head, FAINT),), width),
    ]


def _shared_out(index: TimelineIndex) -> tuple[dict[str, int], dict[str, int]]:
    """The makespan by engine, and by what was waited for, in ps."""
    found = path_of(index).stages[::-1]
    engines: dict[str, int] = {}
    for engine, time_ps in time_by_engine(index.timeline, found).items():
        title = use_title(engine) if engine else LATENCY
        engines[title] = engines.get(title, 0) + time_ps
    return engines, {_reason(why): ps for why, ps in time_by_why(index.timeline, found).items()}


def _shares(title: str, parts: dict[str, int], whole: int, width: int) -> Line:
    line: Line = (Span(f"  {title:<11}", FAINT),)
    for name, time_ps in sorted(parts.items(), key=lambda part: -part[1]):
        percent = (100 * time_ps + whole // 2) // whole
        line += (Span(f" {percent} %", STRONG), Span(f" {name} ", MUTED))
    return fit_line(line, width)


def _reason(why: Why) -> str:
    if why is Why.NOTHING:
        return "the last stage"
    return "its engine" if why is Why.ENGINE else REASON_WORDS[why]


def path_lines(index: TimelineIndex, chosen: int, top: int, width: int, height: int) -> list[Line]:
    """`height` steps from place `top` on, in the order of time; `chosen` is marked."""
    places = range(top, min(top + height, path_count(index)))
    lines = [_step(index, place, place == chosen, width) for place in places]
    return lines + [fit_line((), width)] * (height - len(lines))


@dataclass(frozen=True, slots=True)
class _Shape:
    """The columns of the list: `pe_cells` is 0 where there is one PE, which needs no name."""

    stage_cells: int
    pe_cells: int

    def stage_words(self, index: TimelineIndex, stage: int) -> str:
        """`HBM read tile 3 of command 136`, closely `HBM read tile 3 #136`."""
        words = printable(stage_name(index, stage))
        is_close = self.stage_cells < STAGE_CELLS
        return fit(words.replace(" of command ", " #") if is_close else words, self.stage_cells)

    def pe_words(self, index: TimelineIndex, stage: int) -> str:
        name = index.pe_names[index.pe(stage)]
        return f"  {name:<{self.pe_cells}}" if self.pe_cells else ""


def _shape(index: TimelineIndex, width: int) -> _Shape:
    if len(index.pe_names) == 1:
        return _Shape(STAGE_CELLS, 0)
    pe_cells = index.once("longest PE name", lambda: max(map(len, index.pe_names), default=0))
    is_roomy = width >= TIME_CELLS + STAGE_CELLS + 2 + pe_cells + 2 + REASON_CELLS
    return _Shape(STAGE_CELLS if is_roomy else CLOSE_STAGE_CELLS, pe_cells)


def _step(index: TimelineIndex, place: int, is_chosen: bool, width: int) -> Line:
    path, shape = path_of(index), _shape(index, width)
    stage, spent, latency = (
        int(column[place]) for column in (path.stages, path.spent_ps, path.latency_ps)
    )
    why = Why(int(index.timeline.why[stage]))
    later = f" + {times.short(latency)} latency" if latency else ""
    reason = "" if why is Why.NOTHING else _reason(why)
    return fit_line(
        (
            Span("  › " if is_chosen else "    ", STRONG),
            Span(f"{times.exact(index.start(stage)):>12}  ", MUTED),
            Span(f"{times.exact(spent):>12}  ", STRONG if is_chosen else TEXT),
            Span(shape.stage_words(index, stage), tone(index.paint(stage))),
            Span(shape.pe_words(index, stage), MUTED),
            Span(f"  {reason}{later}", MUTED),
        ),
        width,
    )


PATH_COLUMNS = (
    "step",
    "stage",
    "pe",
    "engine",
    "name",
    "start_ps",
    "spent_ps",
    "latency_ps",
    "why",
)


def path_rows(index: TimelineIndex) -> Iterator[tuple[object, ...]]:
    """The steps as they are saved, in the order of time; `spent_ps` and `latency_ps` add up to the
    makespan, `pe` is the rank of the command's PE.
    """
    path, pes = path_of(index), index.timeline.trace.pes
    columns = (path.stages, path.spent_ps, path.latency_ps)
    steps = zip(*(column.tolist() for column in columns), strict=True)
    for place, (stage, spent, latency) in enumerate(steps):
        why = Why(int(index.timeline.why[stage])).name.lower()
        engine, name = index.engine(stage).title, stage_name(index, stage)
        pe = pes[index.pe(stage)].rank
        yield place + 1, stage, pe, engine, name, index.start(stage), spent, latency, why


def path_stage(index: TimelineIndex, place: int) -> int:
    """The stage at a place of the list."""
    return int(path_of(index).stages[place])


def path_place(index: TimelineIndex, stage: int) -> int:
    """The place in the list of the last step that starts no later than a stage; 0 for none."""
    if stage == NO_STAGE or not path_count(index):
        return 0
    at = int(np.searchsorted(path_of(index).from_ps, index.start(stage), side="right")) - 1
    mine = np.flatnonzero(path_of(index).stages == stage)
    return int(mine[0]) if len(mine) else max(at, 0)
