"""The whole timeline in numbers: each kind of engine's busy and idle time, and the critical path."""

from dataclasses import dataclass

import numpy as np

from ...replay.analysis.critical_path import critical_path, spent_ps
from ...schemas.columns import Int64s
from ...schemas.hazards import Outcome
from ...schemas.stages import Block
from ...schemas.timeline import Status
from . import times
from .hazards import GLYPHS, HazardIndex
from .idleness import IDLE_WORDS, Idle, idle_by_reason
from .index import TimelineIndex
from .lane_cells import OUTCOME_PAINTS
from .lanes import engine_title, lane_rank
from .text import Line, Span, fit, fit_line, printable
from .tones import FAINT, MUTED, STRONG, TEXT, Paint, tone

LATENCY = "latency"
"""What the critical path spends between stages."""

TITLE_CELLS = 14
COLUMN_CELLS = 10
BAR_CELLS = 40
WORST_HAZARDS = 3


@dataclass(frozen=True, slots=True)
class EngineUse:
    """All engines of one title, over all PEs. `idle_ps` is by Idle; busy + idle = lanes × makespan."""

    title: str
    paint: int
    lanes: int
    busy_ps: int
    idle_ps: tuple[int, ...]

    @property
    def all_ps(self) -> int:
        return self.busy_ps + sum(self.idle_ps)


@dataclass(frozen=True, slots=True)
class PathShare:
    """How much of the makespan the critical path spent on one kind of engine, or in latency."""

    title: str
    paint: int
    time_ps: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What the summary screen shows, worked out once."""

    engines: tuple[EngineUse, ...]
    path: tuple[PathShare, ...]
    path_stages: int


def summarise(index: TimelineIndex) -> Summary:
    """Adds the timeline up. Linear in its stages; a second or two for a million."""
    path = critical_path(index.timeline)
    return Summary(engine_uses(index), path_shares(index, path), len(path))


def engine_uses(index: TimelineIndex) -> tuple[EngineUse, ...]:
    """Per kind of engine that ever worked, in the order of the lanes; PE_SCHEDULER only decides."""
    groups: dict[str, list[int]] = {}
    for lane in sorted(range(len(index.lanes)), key=lambda i: lane_rank(index.timeline.engines[i])):
        engine = index.timeline.engines[lane]
        if index.lanes.count(lane) and engine.block is not Block.PE_SCHEDULER:
            groups.setdefault(engine_title(engine), []).append(lane)
    return tuple(_use(index, title, lanes) for title, lanes in groups.items())


def _use(index: TimelineIndex, title: str, lanes: list[int]) -> EngineUse:
    busy_ps = sum(index.busy_ps(lane) for lane in lanes)
    idle = tuple(int(time_ps) for time_ps in idle_by_reason(index, lanes))
    return EngineUse(title, main_paint(index, lanes[0]), len(lanes), busy_ps, idle)


def path_shares(index: TimelineIndex, path: Int64s) -> tuple[PathShare, ...]:
    """The makespan by kind of engine along the critical path, largest first.

    Every picosecond from the launch to the makespan is counted once: on a stage of the path while
    it ran and its successor had not started, else as latency.
    """
    spent, _ = spent_ps(index.timeline, path)
    lanes = index.timeline.stages.engine[path]
    shares: dict[str, PathShare] = {}
    for lane in np.unique(lanes).tolist():
        title = engine_title(index.timeline.engines[lane])
        known = shares.get(title, PathShare(title, main_paint(index, lane), 0))
        more = int(spent[lanes == lane].sum())
        shares[title] = PathShare(title, known.paint, known.time_ps + more)
    latency = index.timeline.makespan_ps - int(spent.sum())
    found = [*shares.values(), PathShare(LATENCY, Paint.MUTED, latency)]
    found = [share for share in found if share.time_ps > 0]
    return tuple(sorted(found, key=lambda share: (-share.time_ps, share.title)))


def main_paint(index: TimelineIndex, lane: int) -> int:
    """The paint of what a lane does for most of its busy time."""
    parts = index.lane(lane).parts
    return max(parts, key=lambda paint: parts[paint].total_ps)


def summary_lines(
    index: TimelineIndex, hazards: HazardIndex, summary: Summary, width: int
) -> list[Line]:
    """The summary screen: totals, engines with their reasons for idleness, critical path, hazards."""
    lines = [_totals(index), *_deadlock_lines(index), (), *_engine_table(summary), ()]
    lines += [*_path_table(summary, index.timeline.makespan_ps), (), *_hazard_lines(hazards)]
    return [fit_line((Span("  "), *line), width) for line in lines]


def _totals(index: TimelineIndex) -> Line:
    timeline = index.timeline
    words = (
        f"{times.short(timeline.makespan_ps)} makespan · {len(index)} stages ·"
        f" {len(index.commands.keys)} commands · {len(timeline.trace.pes)} PE"
    )
    if timeline.status is Status.DEADLOCK:
        return (Span("DEADLOCK  ", tone(Paint.VIOLATED)), Span(words, STRONG))
    return (Span(words, STRONG),)


def _deadlock_lines(index: TimelineIndex) -> list[Line]:
    """Who waits for whom, round the cycle, and what would clear it."""
    deadlock = index.timeline.deadlock
    if deadlock is None:
        return []
    lines: list[Line] = [
        (Span(f"  {printable(str(blocked))}", TEXT),) for blocked in deadlock.cycle
    ]
    depth = deadlock.clearing_depth
    remedy = "no queue depth clears it" if depth is None else f"a queue depth of {depth} clears it"
    hanging = f"{len(deadlock.tail)} more PEs wait behind them; " if deadlock.tail else ""
    return [*lines, (Span(f"  {hanging}{remedy}", MUTED),)]


def _engine_table(summary: Summary) -> list[Line]:
    """One line an engine: busy, then each reason that occurs anywhere, in parts of its whole time."""
    reasons = [idle for idle in Idle if any(use.idle_ps[idle] for use in summary.engines)]
    titles = "".join(f"{IDLE_WORDS[idle]:>{COLUMN_CELLS}}" for idle in reasons)
    lines: list[Line] = [
        (Span(f"{'':{TITLE_CELLS}}{'':{COLUMN_CELLS}}   idle, waiting for", FAINT),),
        (Span(f"{'engine':{TITLE_CELLS}}{'busy':>{COLUMN_CELLS}}{titles}", FAINT),),
    ]
    return lines + [_engine_line(use, reasons) for use in summary.engines]


def _engine_line(use: EngineUse, reasons: list[Idle]) -> Line:
    """The engine's largest reason stands out."""
    count = f" ×{use.lanes}" if use.lanes > 1 else ""
    line: Line = (
        Span(fit(use.title + count, TITLE_CELLS), tone(Paint(use.paint))),
        Span(f"{_percent(use.busy_ps, use.all_ps):>{COLUMN_CELLS}}", STRONG),
    )
    for idle in reasons:
        time_ps = use.idle_ps[idle]
        looks = FAINT if not time_ps else TEXT if time_ps == max(use.idle_ps) else MUTED
        line += (Span(f"{_percent(time_ps, use.all_ps):>{COLUMN_CELLS}}", looks),)
    return line


def _percent(part: int, whole: int) -> str:
    if not part or not whole:
        return "·"
    tenths = (1000 * part + whole // 2) // whole
    return f"{tenths // 10}.{tenths % 10} %" if tenths else "<0.1 %"


def _path_table(summary: Summary, makespan_ps: int) -> list[Line]:
    lines: list[Line] = [(Span(f"critical path, {summary.path_stages} stages", FAINT),)]
    for share in summary.path:
        bar = "█" * max(1, share.time_ps * BAR_CELLS // max(makespan_ps, 1))
        lines.append(
            (
                Span(fit(share.title, TITLE_CELLS), tone(Paint(share.paint))),
                Span(f"{_percent(share.time_ps, makespan_ps):>{COLUMN_CELLS}}", STRONG),
                Span(f"{times.short(share.time_ps):>12}  ", MUTED),
                Span(bar, tone(Paint(share.paint))),
            )
        )
    return lines


def _hazard_lines(hazards: HazardIndex) -> list[Line]:
    """How many of each, and the worst of all."""
    parts: list[Span] = [Span("hazards", FAINT)]
    for outcome in Outcome:
        count = hazards.table.count(outcome)
        looks = tone(OUTCOME_PAINTS[outcome]) if count else MUTED
        parts.append(Span(f"   {GLYPHS[outcome]} {count} {outcome.name.lower()}", looks))
    lines: list[Line] = [tuple(parts)]
    worst = hazards.by_weight[:WORST_HAZARDS].tolist()
    return lines + [(Span(f"  {hazards.sentence(row)}", TEXT),) for row in worst]
