"""The critical path as a list: the makespan shared out above it, then step by step in the order of time."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...replay.analysis.critical_path import time_by_engine, time_by_why
from ...schemas.stages import Why
from . import times
from .engine_table import HARDLY_ANY, NONE, OTHER, percent
from .hazards import HazardIndex
from .index import NO_STAGE, TimelineIndex
from .lanes import use_title
from .path import LATENCY, path_of
from .text import Line, Span, cells, fit, fit_line, line_cells, printable
from .tones import FAINT, MUTED, STRONG, TEXT, tone
from .why import REASON_WORDS
from .words import stage_name

MARK_CELLS = 3
GAP = "  "

STAGE_CELLS, CLOSE_STAGE_CELLS = 34, 20
"""Of the column that names a stage; the close one has room for `HBM read tile 3 #136`."""

REASON_CELLS = 31
"""So much the usual ones of REASON_WORDS take: where they have no room, those of BRIEFLY have."""

BRIEFLY = {
    Why.PROGRAM_ORDER: "dispatch before",
    Why.BLOCKED: "command before",
    Why.WAITED: "result it uses",
    Why.BUFFER: "free tile buffer",
    Why.IN_FLIGHT: "place in flight",
    Why.SCHEDULER_QUEUE: "scheduler's queue",
    Why.CREDIT: "credit",
    Why.SEND_DEPTH: "place among sends",
    Why.MESSAGE: "message",
    Why.ADMISSION: "admission before",
    Why.RETIREMENT: "retirement before",
}
"""What a step waited for, in the fewest words; the others are brief."""

SHARE_TITLE_CELLS = 12
MOST_SHARE_LINES = 3


def path_count(index: TimelineIndex) -> int:
    """How many steps the list has."""
    return len(path_of(index))


# -------------------------------------------------------------------------------- the sums


def path_head(index: TimelineIndex, width: int) -> list[Line]:
    """The makespan by engine and by what was waited for, in as many lines as it takes (MOST_SHARE_LINES
    each at most), and the head of the columns.
    """
    engines, whys = index.once("path shares", lambda: _shared_out(index))
    makespan, columns = index.timeline.makespan_ps, _columns(index, width)
    reasons = {_reason(why, is_brief=columns.is_brief): time_ps for why, time_ps in whys.items()}
    return [
        *_shares("by engine", engines, makespan, width),
        *_shares("waited for", reasons, makespan, width),
        fit_line((Span(columns.head, FAINT),), width),
    ]


def _shared_out(index: TimelineIndex) -> tuple[dict[str, int], dict[Why, int]]:
    """The makespan by engine, and by what was waited for, in ps."""
    found = path_of(index).stages[::-1]
    engines: dict[str, int] = {}
    for engine, time_ps in time_by_engine(index.timeline, found).items():
        title = use_title(engine) if engine else LATENCY
        engines[title] = engines.get(title, 0) + time_ps
    return engines, time_by_why(index.timeline, found)


def _reason(why: Why, *, is_brief: bool) -> str:
    """What was waited for; after the last stage of all, nothing was."""
    if why is Why.NOTHING:
        return "the last stage"
    if why is Why.ENGINE:
        return "its engine"
    return BRIEFLY.get(why, REASON_WORDS[why]) if is_brief else REASON_WORDS[why]


def _shares(title: str, parts: dict[str, int], whole: int, width: int) -> list[Line]:
    """The parts from 0.1 % on, the largest first; those for which no line has room are added up."""
    told = [part for part in parts.items() if percent(part[1], whole) not in (NONE, HARDLY_ANY)]
    left = sorted(told, key=lambda part: -part[1])
    lines: list[Line] = []
    for place in range(MOST_SHARE_LINES):
        line: Line = (Span(f"  {fit('' if place else title, SHARE_TITLE_CELLS)}", FAINT),)
        is_last = place == MOST_SHARE_LINES - 1
        count = _fitting(line, left, whole, width, may_leave=not is_last)
        shown, left = left[:count], left[count:]
        if is_last and left:
            shown, left = [*shown, _added_up(left)], []
        lines.append(fit_line((*line, *_told(shown, whole)), width))
        if not left:
            break
    return lines


def _fitting(
    line: Line, parts: list[tuple[str, int]], whole: int, width: int, *, may_leave: bool
) -> int:
    """How many parts fit behind the line. It may leave others for the next line, if it takes one at
    least; else there must be room for these, added up.
    """
    least = int(may_leave and bool(parts))
    for count in range(len(parts), least, -1):
        rest = parts[count:]
        more = [_added_up(rest)] if rest and not may_leave else []
        if line_cells((*line, *_told([*parts[:count], *more], whole))) <= width:
            return count
    return least


def _added_up(parts: list[tuple[str, int]]) -> tuple[str, int]:
    return OTHER, sum(time_ps for _, time_ps in parts)


def _told(parts: list[tuple[str, int]], whole: int) -> Line:
    """`72.1 % HBM  13.4 % CPU`."""
    spans: list[Span] = []
    for name, time_ps in parts:
        gap = GAP if spans else ""
        spans += [Span(f"{gap}{percent(time_ps, whole)}", STRONG), Span(f" {name}", MUTED)]
    return tuple(spans)


# -------------------------------------------------------------------------------- the steps


def path_lines(
    index: TimelineIndex, hazards: HazardIndex, chosen: int, top: int, width: int, height: int
) -> list[Line]:
    """`height` steps from place `top` on, in the order of time; `chosen` is marked."""
    places = range(top, min(top + height, path_count(index)))
    columns = _columns(index, width)
    lines = [_step(index, hazards, columns, place, place == chosen, width) for place in places]
    return lines + [fit_line((), width)] * (height - len(lines))


@dataclass(frozen=True, slots=True)
class _Columns:
    """The cells of the columns. `pe_names` are by PE, none where there is one, which needs no name.
    Where `is_brief`, what a step waited for is told in few words.
    """

    from_cells: int
    for_cells: int
    stage_cells: int
    pe_names: tuple[str, ...]
    is_brief: bool = False

    @property
    def pe_cells(self) -> int:
        return max(map(cells, self.pe_names), default=0)

    @property
    def before_reason(self) -> int:
        pe = len(GAP) + self.pe_cells if self.pe_names else 0
        times_cells = self.from_cells + len(GAP) + self.for_cells + len(GAP)
        return MARK_CELLS + times_cells + self.stage_cells + pe + len(GAP)

    @property
    def head(self) -> str:
        pe = f"{GAP}{fit('PE', self.pe_cells)}" if self.pe_names else ""
        times_head = f"{'from':>{self.from_cells}}{GAP}{'for':>{self.for_cells}}{GAP}"
        latency = "  +latency" if self.is_brief else ""
        stage = fit("stage", self.stage_cells)
        return f"{' ' * MARK_CELLS}{times_head}{stage}{pe}{GAP}waited for{latency}"

    def stage_words(self, index: TimelineIndex, stage: int) -> str:
        """`HBM read tile 3 of command 136`, closely `HBM read tile 3 #136`."""
        words = printable(stage_name(index, stage))
        is_close = self.stage_cells < STAGE_CELLS
        return fit(words.replace(" of command ", " #") if is_close else words, self.stage_cells)

    def pe_words(self, index: TimelineIndex, stage: int) -> str:
        if not self.pe_names:
            return ""
        return f"{GAP}{fit(self.pe_names[index.pe(stage)], self.pe_cells)}"


def _columns(index: TimelineIndex, width: int) -> _Columns:
    """The roomiest columns that leave REASON_CELLS for the reasons; else the closest."""
    from_cells, for_cells = index.once("path time cells", lambda: _time_cells(index))
    names = index.pe_names if len(index.pe_names) > 1 else ()
    short = tuple(map(short_pe_name, names))
    for stage_cells, pes in ((STAGE_CELLS, names), (CLOSE_STAGE_CELLS, names)):
        columns = _Columns(from_cells, for_cells, stage_cells, pes)
        if width - columns.before_reason >= REASON_CELLS:
            return columns
    columns = _Columns(from_cells, for_cells, CLOSE_STAGE_CELLS, short)
    is_brief = width - columns.before_reason < REASON_CELLS
    return _Columns(from_cells, for_cells, CLOSE_STAGE_CELLS, short, is_brief)


def short_pe_name(name: str) -> str:
    """`S0 C3 P7` for `SIP 0 CUBE 3 PE 7`; `PE 7` as it is."""
    if name.startswith("PE"):
        return name
    return name.replace("SIP ", "S").replace("CUBE ", "C").replace("PE ", "P")


def _time_cells(index: TimelineIndex) -> tuple[int, int]:
    """What the exact starts of the steps take at most, and their times on the path."""
    path = path_of(index)
    return (
        max(times.most_cells(int(path.from_ps.max(initial=0))), cells("from")),
        max(times.most_cells(int(path.spent_ps.max(initial=0))), cells("for")),
    )


def _step(
    index: TimelineIndex,
    hazards: HazardIndex,
    columns: _Columns,
    place: int,
    is_chosen: bool,
    width: int,
) -> Line:
    path = path_of(index)
    stage, spent, latency = (
        int(column[place]) for column in (path.stages, path.spent_ps, path.latency_ps)
    )
    unit = "" if columns.is_brief else " latency"
    later = f"{GAP}+{times.exact(latency)}{unit}" if latency else ""
    reason = _reason_of(index, hazards, stage, is_brief=columns.is_brief)
    if cells(reason + later) > width - columns.before_reason:
        reason = _reason_of(index, hazards, stage, is_brief=True)
    return fit_line(
        (
            Span(fit(" › " if is_chosen else "", MARK_CELLS), STRONG),
            Span(f"{times.exact(index.start(stage)):>{columns.from_cells}}{GAP}", MUTED),
            Span(f"{times.exact(spent):>{columns.for_cells}}{GAP}", STRONG if is_chosen else TEXT),
            Span(columns.stage_words(index, stage), tone(index.paint(stage))),
            Span(columns.pe_words(index, stage), MUTED),
            Span(f"{GAP}{reason}{later}", MUTED),
        ),
        width,
    )


def _reason_of(index: TimelineIndex, hazards: HazardIndex, stage: int, *, is_brief: bool) -> str:
    """What a step waited for; of a hazard, which."""
    why = Why(int(index.timeline.why[stage]))
    if why is Why.NOTHING:
        return ""
    if why is Why.HAZARD and (named := hazards.held_by(stage)):
        return named if is_brief else f"hazard {named}"
    return _reason(why, is_brief=is_brief)


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
