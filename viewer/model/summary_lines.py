"""The summary line by line: what the run was busy with, what it waited for, and where a line leads."""

from dataclasses import dataclass, field, replace
from enum import Enum

from ...replay.hazards.shared import not_compared_text
from ...schemas.timeline import Status
from . import times
from .deadlock_lines import first_of_each_pe, forever_words
from .engine_table import (
    COLUMN_CELLS,
    LEAST_TITLE_CELLS,
    busiest_of,
    engine_table,
    main_wait,
    percent,
)
from .fates import FATE_GLYPHS, FATE_PAINTS
from .hazard_filter import EVERYTHING
from .hazard_groups import HazardGroup, groups_words
from .hazard_head import Listed, counts, shared_of
from .hazards import HazardIndex
from .idleness import Idle
from .index import NO_STAGE, TimelineIndex
from .summary import EngineUse, PathShare, PathSummary
from .text import Line, Span, fit, fit_line
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT, Paint, tone

BAR_CELLS = 40
EIGHTHS = ("", *"▏▎▍▌▋▊▉")
WORST_HAZARDS = 5
LEAST_GROUPS, LEAST_SHARES = 1, 3
"""So much of the hazards and of the path is shown however low the screen."""

BLOCKED_SHOWN = 3
"""Of a deadlock, so many PEs are told."""

IDLY = {
    Idle.DATA: "waits for its data",
    Idle.DISPATCH: "waits for a dispatch",
    Idle.HAZARD: "waits for a hazard",
    Idle.BUFFER: "waits for a tile buffer",
    Idle.CREDIT: "waits for a credit",
    Idle.MESSAGE: "waits for a message",
    Idle.BLOCKED: "waits for a command to finish",
    Idle.QUEUE: "waits for a place in a queue",
    Idle.ENGINE: "waits for another engine",
    Idle.EVER: "waits for ever",
    Idle.DONE: "has no more to do",
}
"""What an idle engine does, by the reason."""


class Leads(Enum):
    """What kind of thing a line of the summary leads to."""

    LANE = "the first lane of an engine"
    PATH = "a stage of the critical path"
    HAZARD = "a hazard, by its row"
    DEADLOCK = "the list of who waits for whom"


@dataclass(frozen=True)
class Target:
    """Where Enter leads from a line: `number` is a lane, a stage, a row, or a line about the deadlock."""

    leads: Leads
    number: int = 0


@dataclass(frozen=True)
class Added:
    """What has been added up so far; None where it is yet to be."""

    engines: tuple[EngineUse, ...] | None = None
    path: PathSummary | None = None
    hazards: tuple[HazardGroup, ...] = ()


@dataclass(frozen=True)
class SummaryLine:
    """A line; without a target it cannot be chosen. A head only says what is listed below it."""

    line: Line
    target: Target | None = None
    is_head: bool = False


def summary_lines(
    index: TimelineIndex, hazards: HazardIndex, added: Added, width: int, height: int
) -> list[SummaryLine]:
    """Totals, deadlock, engines with their reasons for idleness, hazards, critical path.

    Where `height` has no room for all, it shows the largest of every part, and the rest follows
    below. What is yet to be added up is left out, or said to be. Every line takes `width` cells, of
    which the first two are for the mark of the chosen one.
    """
    parts = _parts(index, hazards, added, width)
    lines = _roomy(parts)
    if len(lines) > height:
        lines = _close(parts, height)
    return [replace(one, line=fit_line((Span("  "), *one.line), width)) for one in lines]


@dataclass(frozen=True)
class _Part:
    """Lines that belong together; the listed ones are sorted, the most important first."""

    head: list[SummaryLine]
    listed: list[SummaryLine] = field(default_factory=list)
    least: int = 0
    rest: str = ""

    def cut(self, count: int) -> "_Part":
        return replace(self, listed=self.listed[:count])

    def left(self, count: int) -> list[SummaryLine]:
        """What `cut` leaves out, under a title of its own."""
        more = self.listed[count:]
        return [_plain(()), _plain((Span(self.rest, FAINT),)), *more] if more else []

    @property
    def lines(self) -> list[SummaryLine]:
        return [*self.head, *self.listed]


def _parts(
    index: TimelineIndex, hazards: HazardIndex, added: Added, width: int
) -> tuple[_Part, ...]:
    totals = [_plain(_totals(index)), *_deadlock_lines(index)]
    if added.engines is None:
        engines = _Part([_plain((Span("adding up what every engine waited for …", MUTED),))])
    else:
        totals += map(_plain, _findings(added.engines))
        heads, rows = engine_table(added.engines, width - 2)
        targets = [Target(Leads.LANE, use.lanes[0]) for use in added.engines]
        listed = [SummaryLine(*one) for one in zip(rows, targets, strict=True)]
        engines = _Part([*map(_plain, heads), *listed])
    parts = (_Part(totals), engines, _hazard_part(index, hazards, added.hazards, width))
    return parts if added.path is None else (*parts, _path_part(added.path, index))


def _roomy(parts: tuple[_Part, ...]) -> list[SummaryLine]:
    """All of it, with air between the parts."""
    lines = [line for part in parts for line in (_plain(()), *part.lines)]
    return lines[1:]


def _close(parts: tuple[_Part, ...], height: int) -> list[SummaryLine]:
    """Of every part as much as `height` has room for, with air where some is left; below it the rest."""
    fixed = sum(len(part.head) for part in parts)
    counts = [min(part.least, len(part.listed)) for part in parts]
    room = height - fixed - sum(counts)
    for place in reversed(range(len(parts))):
        more = min(max(room, 0), len(parts[place].listed) - counts[place])
        counts[place] += more
        room -= more
    lines: list[SummaryLine] = []
    rest: list[SummaryLine] = []
    for place, (part, count) in enumerate(zip(parts, counts, strict=True)):
        air = [_plain(())] if 0 < place <= room else []
        lines += [*air, *part.cut(count).lines]
        rest += part.left(count)
    return [*lines, *rest]


def _plain(line: Line) -> SummaryLine:
    return SummaryLine(line, is_head=True)


def chosen_line(line: Line) -> Line:
    """The line with the mark of the chosen one."""
    first, *rest = line
    return (Span("› ", ACCENT), Span(first.text[2:], first.tone), *rest)


def _findings(engines: tuple[EngineUse, ...]) -> list[Line]:
    """What limits the run, as far as that can be said in a sentence: the busiest kind of engine."""
    if not engines:
        return []
    busiest = busiest_of(engines)
    busy = percent(busiest.busy_ps, busiest.all_ps)
    words: Line = (Span(f"{busiest.title} is busiest, {busy}", TEXT),)
    waited = main_wait(busiest)
    if busiest.idle_ps[waited]:
        idle = percent(busiest.idle_ps[waited], busiest.all_ps)
        words += (Span(f"; idle, it mostly {IDLY[waited]}, {idle}", TEXT),)
    return [words]


def _totals(index: TimelineIndex) -> Line:
    timeline = index.timeline
    pes = len(timeline.trace.pes)
    begun, all_there_are = len(index.commands.keys), timeline.trace.command_count
    of_all = f" of {all_there_are:,}" if begun < all_there_are else ""
    words = (
        f"{times.short(timeline.makespan_ps)} makespan · {len(index):,} stages ·"
        f" {begun:,}{of_all} commands · {pes} PE{'s' if pes != 1 else ''}"
    )
    if timeline.status is Status.DEADLOCK:
        return (Span("DEADLOCK  ", tone(Paint.VIOLATED)), Span(words, STRONG))
    return (Span(words, STRONG),)


def _deadlock_lines(index: TimelineIndex) -> list[SummaryLine]:
    """What the first PEs wait for, for ever; how many more do; what would clear it."""
    deadlock = index.timeline.deadlock
    if deadlock is None:
        return []
    waiting = first_of_each_pe(deadlock)
    lines = [
        SummaryLine((Span(f"  {forever_words(one)}", TEXT),), Target(Leads.DEADLOCK, place))
        for place, one in enumerate(waiting[:BLOCKED_SHOWN])
    ]
    more = len(waiting) - len(lines)
    hanging = (
        f"{more:,} more PE{'s' if more != 1 else ''} wait{'s' if more == 1 else ''} for ever; "
    )
    listed = f"  {hanging if more > 0 else ''}! lists who waits for whom"
    remedy = f"  {deadlock.remedy}"
    return [
        *lines,
        SummaryLine((Span(listed, MUTED),), Target(Leads.DEADLOCK, len(lines))),
        _plain((Span(remedy, STRONG),)),
    ]


# -------------------------------------------------------------------- path and hazards


def _path_part(path: PathSummary, index: TimelineIndex) -> _Part:
    makespan_ps = index.timeline.makespan_ps
    told = times.alike(share.time_ps for share in path.shares)
    return _Part(
        [_plain((Span(f"critical path, {path.stages:,} stages", FAINT),))],
        [_path_line(*one, makespan_ps) for one in zip(path.shares, told, strict=True)],
        LEAST_SHARES,
        "the rest of the critical path",
    )


def _path_line(share: PathShare, told: str, makespan_ps: int) -> SummaryLine:
    whole, eighths = divmod(share.time_ps * BAR_CELLS * 8 // max(makespan_ps, 1), 8)
    bar = "█" * whole + EIGHTHS[eighths] or EIGHTHS[1]
    line = (
        Span(fit(share.title, LEAST_TITLE_CELLS), tone(Paint(share.paint))),
        Span(f"{percent(share.time_ps, makespan_ps):>{COLUMN_CELLS}}", STRONG),
        Span(f"{told:>12}  ", MUTED),
        Span(bar, tone(Paint(share.paint))),
    )
    is_stage = share.stage != NO_STAGE
    return SummaryLine(line, Target(Leads.PATH, share.stage) if is_stage else None)


def _hazard_part(
    index: TimelineIndex, hazards: HazardIndex, groups: tuple[HazardGroup, ...], width: int
) -> _Part:
    """How many of each, what was not compared, and the worst of all, those alike added up."""
    listed = Listed(hazards, EVERYTHING, len(hazards), unsearched="not searched")
    head: list[Line] = [(Span("hazards   ", FAINT), *counts(listed, width - 12))]
    shared = len(shared_of(index))
    if shared:
        head.append((Span(not_compared_text(shared), MUTED),))
    worst = groups[:WORST_HAZARDS]
    return _Part(
        [*map(_plain, head)],
        [_hazard_line(*one) for one in zip(worst, groups_words(hazards, worst), strict=True)],
        LEAST_GROUPS,
        "other hazards",
    )


def _hazard_line(group: HazardGroup, words: str) -> SummaryLine:
    line = (
        Span(f"{FATE_GLYPHS[group.fate]} ", tone(FATE_PAINTS[group.fate])),
        Span(words, TEXT),
    )
    return SummaryLine(line, Target(Leads.HAZARD, group.worst))
