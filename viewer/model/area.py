"""An area of time in numbers: per kind of stage and per lane, how many, how long, how busy, what hazards.

A stage belongs to the area if it runs in any part of it, or has no length and lies in it. `sum_ps` is
its time inside; the percentiles are of whole durations, by nearest rank. A hazard belongs to it if it
begins there, though the stage that was held starts later: its kind and lane are listed without stages.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...schemas.columns import Bools, Int16s, Int32s, Int64s, offsets_of
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

Watch = Callable[[int, int], None]
"""Told again and again how many of how many stages are added up; what it raises ends that."""


def unwatched(done: int, total: int) -> None:
    """Goes on."""


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
    return np.flatnonzero(_is_in_area(index, area))


def _is_in_area(index: TimelineIndex, area: Area) -> Bools:
    """Per stage, whether it belongs to an area."""
    starts, ends = index.timeline.start_ps, index.timeline.end_ps
    from_ps, to_ps = area
    is_inside: Bools = (starts < to_ps) & (
        (ends > from_ps) | ((ends == starts) & (starts >= from_ps))
    )
    return is_inside


def figures_by_kind(
    index: TimelineIndex, hazards: HazardIndex, area: Area, watch: Watch = unwatched
) -> list[Figures]:
    """Per kind of stage that the area holds, or whose hazards it does, the longest sum first."""
    inside = _inside(index, area)
    outcomes, hazard_kinds, _ = _hazard_kinds(index, hazards, area)
    is_there = np.bincount(inside.kinds, minlength=len(StageKind)).astype(np.bool_)
    is_there[hazard_kinds] = True
    found, done = [], 0
    for kind in np.flatnonzero(is_there).tolist():
        watch(done, len(inside.kinds))
        mine = inside.of(np.flatnonzero(inside.kinds == kind))
        counts = _by_outcome(outcomes[hazard_kinds == kind])
        title = (KIND_WORDS[StageKind(kind)], tone(KIND_PAINTS[StageKind(kind)]))
        found.append(_figures(mine, area, title, counts))
        done += len(mine.kinds)
    return sorted(found, key=lambda one: (-one.sum_ps, one.name))


def figures_by_lane(
    index: TimelineIndex, hazards: HazardIndex, area: Area, watch: Watch = unwatched
) -> list[Figures]:
    """Per lane that does something in the area, or meets a hazard there, from top to bottom."""
    inside = _inside(index, area)
    offsets = offsets_of(np.bincount(inside.lanes, minlength=len(index.lanes)))
    outcomes, _, hazard_lanes = _hazard_kinds(index, hazards, area)
    met = np.zeros((len(index.lanes), len(Outcome)), dtype=np.int64)
    np.add.at(met, (hazard_lanes, outcomes), 1)
    found, done = [], 0
    for lane, name in lane_names(index).items():
        watch(done, len(inside.kinds))
        mine = inside.of(slice(int(offsets[lane]), int(offsets[lane + 1])))
        counts = tuple(met[lane].tolist())
        if len(mine.kinds) or any(counts):
            found.append(_figures(mine, area, (name, TEXT), counts))
        done += len(mine.kinds)
    return found


@dataclass(frozen=True, slots=True)
class _Inside:
    """Some stages in the order (lane, start): per stage its lane, kind, start and end."""

    lanes: Int32s
    kinds: Int16s
    starts: Int64s
    ends: Int64s

    def of(self, which: Int64s | slice) -> "_Inside":
        """Some of them, in the same order."""
        return _Inside(self.lanes[which], self.kinds[which], self.starts[which], self.ends[which])


def _inside(index: TimelineIndex, area: Area) -> _Inside:
    """The stages of an area."""
    timeline, sorted_ids = index.timeline, index.lanes.sorted()[0]
    ids = sorted_ids[_is_in_area(index, area)[sorted_ids]]
    columns = timeline.stages
    return _Inside(
        columns.engine[ids], columns.kind[ids], timeline.start_ps[ids], timeline.end_ps[ids]
    )


def _figures(
    stages: _Inside, area: Area, title: tuple[str, int], hazards: tuple[int, ...]
) -> Figures:
    from_ps, to_ps = area
    lasting = np.sort(stages.ends - stages.starts)
    starts, ends = np.maximum(stages.starts, from_ps), np.minimum(stages.ends, to_ps)
    begins = np.flatnonzero(stages.lanes[1:] != stages.lanes[:-1]) + 1
    servers = len(begins) + 1
    permille = (1000 * _covered_ps(starts, ends, begins)) // ((to_ps - from_ps) * servers)
    name, looks = title
    p50_ps, p99_ps = (percentile(lasting, one) if len(lasting) else 0 for one in (50, 99))
    in_all_ps = int((ends - starts).sum())
    return Figures(name, looks, len(lasting), in_all_ps, p50_ps, p99_ps, permille, hazards)


def percentile(lasting: Int64s, percent: int) -> int:
    """The nearest-rank percentile of sorted, non-empty values."""
    return int(lasting[max(-(-len(lasting) * percent // 100), 1) - 1])


def _covered_ps(starts: Int64s, ends: Int64s, begins: Int64s) -> int:
    """The time that stages in the order (lane, start) cover, each instant of each lane once; `begins` is
    where each lane but the first does.
    """
    follows = np.ones(len(starts), dtype=np.bool_)
    follows[begins] = follows[:1] = False
    if not (follows[1:] & (starts[1:] < ends[:-1])).any():
        return int((ends - starts).sum())
    total = 0
    for first, past in pairwise((0, *begins.tolist(), len(starts))):
        mine, until = starts[first:past], np.maximum.accumulate(ends[first:past])
        before = np.concatenate((mine[:1], until[:-1]))
        total += int(np.maximum(until - np.maximum(mine, before), 0).sum())
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
