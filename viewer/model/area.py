"""An area of time in numbers: per kind of stage and per lane, how many, how long, how busy, what hazards.

A stage belongs to the area if it runs in any part of it, or has no length and lies in it. `sum_ps` is
its time inside; the percentiles are of whole durations, by nearest rank. A hazard belongs to it if it
begins there, though the stage that was held starts later: its kind and lane are listed without stages.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...schemas.columns import Bools, Int64s
from ...schemas.hazards import Outcome
from ...schemas.stages import StageKind
from . import times
from .hazards import GLYPHS, HazardIndex
from .index import TimelineIndex
from .rows import lane_names
from .text import Line, Span, fit, fit_line, printable
from .tones import FAINT, KIND_PAINTS, MUTED, STRONG, TEXT, tone
from .words import KIND_WORDS

Area = tuple[int, int]

NAME_CELLS = 24
COLUMNS = ("count", "sum", "p50", "p99", "busy", "hazards")
COLUMN_CELLS = (8, 12, 12, 12, 8, 9)


@dataclass(frozen=True, slots=True)
class Figures:
    """What an area holds of one kind of stage, or of one lane. Without stages all but `hazards` is 0.

    `busy_permille` is the share of the area in which the lanes in question were at work, each
    instant of each once. `hazards` counts what began to be held, or went wrong, by Outcome.
    """

    name: str
    tone: int
    count: int
    sum_ps: int
    p50_ps: int
    p99_ps: int
    busy_permille: int
    hazards: tuple[int, ...]


def in_area(index: TimelineIndex, area: Area) -> Int64s:
    """The stages of an area, by id."""
    starts, ends = index.timeline.start_ps, index.timeline.end_ps
    from_ps, to_ps = area
    inside = (starts < to_ps) & ((ends > from_ps) | ((ends == starts) & (starts >= from_ps)))
    return np.flatnonzero(inside)


def figures_by_kind(index: TimelineIndex, hazards: HazardIndex, area: Area) -> list[Figures]:
    """Per kind of stage that the area holds, or whose hazards it does, the longest sum first."""
    stages = in_area(index, area)
    kinds, lanes = index.timeline.stages.kind[stages], index.timeline.stages.engine[stages]
    met = _hazard_kinds(index, hazards, area)
    found = []
    for kind in np.union1d(kinds, met[1]).tolist():
        mine = kinds == kind
        servers = max(len(np.unique(lanes[mine])), 1)
        title, paint = KIND_WORDS[StageKind(kind)], tone(KIND_PAINTS[StageKind(kind)])
        counts = _by_outcome(met[0][met[1] == kind])
        found.append(_figures(index, stages[mine], area, servers, (title, paint), counts))
    return sorted(found, key=lambda one: (-one.sum_ps, one.name))


def figures_by_lane(index: TimelineIndex, hazards: HazardIndex, area: Area) -> list[Figures]:
    """Per lane that does something in the area, or meets a hazard there, from top to bottom."""
    stages = in_area(index, area)
    lanes = index.timeline.stages.engine[stages]
    order = np.argsort(lanes, kind="stable")
    stages, lanes = stages[order], lanes[order]
    outcomes, _, hazard_lanes = _hazard_kinds(index, hazards, area)
    found = []
    for lane, name in lane_names(index).items():
        first, past = np.searchsorted(lanes, [lane, lane + 1])
        counts = _by_outcome(outcomes[hazard_lanes == lane])
        if first == past and not any(counts):
            continue
        found.append(_figures(index, stages[first:past], area, 1, (name, TEXT), counts))
    return found


def _figures(
    index: TimelineIndex,
    stages: Int64s,
    area: Area,
    servers: int,
    title: tuple[str, int],
    hazards: tuple[int, ...],
) -> Figures:
    starts, ends = index.timeline.start_ps[stages], index.timeline.end_ps[stages]
    lasting = np.sort(ends - starts)
    inside = ends.clip(None, area[1]) - starts.clip(area[0], None)
    covered = _covered_ps(index, stages, area)
    permille = (1000 * covered) // ((area[1] - area[0]) * servers)
    name, looks = title
    p50_ps, p99_ps = (percentile(lasting, one) if len(lasting) else 0 for one in (50, 99))
    return Figures(
        name,
        looks,
        len(stages),
        int(inside.sum()),
        p50_ps,
        p99_ps,
        permille,
        hazards,
    )


def percentile(lasting: Int64s, percent: int) -> int:
    """The nearest-rank percentile of sorted, non-empty values."""
    return int(lasting[max(-(-len(lasting) * percent // 100), 1) - 1])


def _covered_ps(index: TimelineIndex, stages: Int64s, area: Area) -> int:
    """The time inside the area that the stages cover, each instant of each lane once."""
    lanes = index.timeline.stages.engine[stages]
    starts = index.timeline.start_ps[stages].clip(area[0], area[1])
    ends = index.timeline.end_ps[stages].clip(area[0], area[1])
    order = np.lexsort((starts, lanes))
    lanes, starts, ends = lanes[order], starts[order], ends[order]
    total = 0
    for mine in np.split(np.arange(len(lanes)), np.flatnonzero(np.diff(lanes)) + 1):
        before = np.maximum.accumulate(np.concatenate((starts[mine][:1], ends[mine][:-1])))
        total += int((ends[mine] - np.maximum(starts[mine], before)).clip(0).sum())
    return total


def _hazard_kinds(
    index: TimelineIndex, hazards: HazardIndex, area: Area
) -> tuple[Int64s, Int64s, Int64s]:
    """Of every hazard whose mark lies in the area: its outcome, its stage's kind and its lane."""
    marks = hazards.marks
    inside: Bools = (marks.from_ps >= area[0]) & (marks.from_ps < area[1])
    stage = hazards.sites.later[marks.hazard[inside]]
    columns = index.timeline.stages
    outcome = marks.outcome[inside].astype(np.int64)
    return outcome, columns.kind[stage].astype(np.int64), columns.engine[stage].astype(np.int64)


def _by_outcome(outcomes: Int64s) -> tuple[int, ...]:
    return tuple(np.bincount(outcomes, minlength=len(Outcome)).tolist())


def area_lines(
    area: Area, by_kind: list[Figures], by_lane: list[Figures], width: int
) -> list[Line]:
    """The panel: the area, then a table by kind of stage and one by lane."""
    span = times.exact(area[1] - area[0])
    title = f"{times.exact(area[0])} to {times.exact(area[1])} · {span}"
    lines: list[Line] = [(Span(title, STRONG),), ()]
    lines += [*_table("kind of stage", by_kind), (), *_table("lane", by_lane)]
    return [fit_line((Span("  "), *line), width) for line in lines]


def _table(title: str, rows: list[Figures]) -> Iterator[Line]:
    head = "".join(f"{name:>{room}}" for name, room in zip(COLUMNS, COLUMN_CELLS, strict=True))
    yield (Span(fit(title, NAME_CELLS) + head, FAINT),)
    lasting = (ps for row in rows for ps in (row.sum_ps, row.p50_ps, row.p99_ps))
    told = iter(times.alike(lasting))
    for row in rows:
        in_all, p50, p99 = next(told), next(told), next(told)
        words = (
            f"{row.count:,}",
            in_all,
            p50 if row.count else "–",
            p99 if row.count else "–",
            f"{row.busy_permille // 10}.{row.busy_permille % 10} %",
        )
        cells = "".join(f"{w:>{room}}" for w, room in zip(words, COLUMN_CELLS, strict=False))
        met = "".join(f"  {GLYPHS[one]} {n}" for one in Outcome if (n := row.hazards[one]))
        yield (
            Span(fit(printable(row.name), NAME_CELLS), row.tone),
            Span(cells, TEXT),
            Span(met, MUTED),
        )
    if not rows:
        yield (Span("nothing ran here", MUTED),)
