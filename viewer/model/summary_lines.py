"""The summary line by line: what the run was busy with, what it waited for, and where a line leads."""

from dataclasses import dataclass
from enum import Enum

from ...schemas.hazards import Outcome
from ...schemas.timeline import Status
from . import times
from .hazard_cells import OUTCOME_PAINTS
from .hazard_groups import HazardGroup, group_words
from .hazards import GLYPHS, HazardIndex
from .idleness import IDLE_WORDS, Idle
from .index import NO_STAGE, TimelineIndex
from .summary import EngineUse, PathShare, PathSummary
from .text import Line, Span, fit, fit_line, printable
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT, Paint, tone

LEAST_TITLE_CELLS, MOST_TITLE_CELLS = 15, 19
COLUMN_CELLS = 9
BAR_CELLS = 40
EIGHTHS = ("", *"▏▎▍▌▋▊▉")
WORST_HAZARDS = 5
OTHER = "other"

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
    """Where Enter leads from a line: `number` is a lane, a stage or a row."""

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
    """A line; without a target it cannot be chosen."""

    line: Line
    target: Target | None = None


def summary_lines(
    index: TimelineIndex, hazards: HazardIndex, added: Added, width: int
) -> list[SummaryLine]:
    """Totals, deadlock, engines with their reasons for idleness, hazards, critical path.

    What is yet to be added up is left out, or said to be. Every line takes `width` cells, of which
    the first two are for the mark of the chosen one.
    """
    lines = [_plain(_totals(index)), *_deadlock_lines(index)]
    if added.engines is None:
        lines += [_plain(()), _plain((Span("adding up what every engine waited for …", MUTED),))]
    else:
        lines += [*map(_plain, _findings(added.engines)), _plain(())]
        lines += _engine_table(added.engines, width - 2)
    lines += [_plain(()), *_hazard_lines(hazards, added.hazards)]
    if added.path is not None:
        lines += [_plain(()), *_path_table(added.path, index.timeline.makespan_ps)]
    return [SummaryLine(fit_line((Span("  "), *one.line), width), one.target) for one in lines]


def _plain(line: Line) -> SummaryLine:
    return SummaryLine(line)


def chosen_line(line: Line) -> Line:
    """The line with the mark of the chosen one."""
    first, *rest = line
    return (Span("› ", ACCENT), Span(first.text[2:], first.tone), *rest)


def _findings(engines: tuple[EngineUse, ...]) -> list[Line]:
    """What limits the run, as far as that can be said in a sentence: the busiest kind of engine."""
    if not engines:
        return []
    busiest = max(engines, key=lambda use: use.busy_ps * _scale(use))
    busy = _percent(busiest.busy_ps, busiest.all_ps)
    words: Line = (Span(f"{busiest.title} is busiest, {busy}", TEXT),)
    waited = max(Idle, key=lambda idle: busiest.idle_ps[idle])
    if busiest.idle_ps[waited]:
        idle = _percent(busiest.idle_ps[waited], busiest.all_ps)
        words += (Span(f"; idle, it mostly {IDLY[waited]}, {idle}", TEXT),)
    return [words]


def _scale(use: EngineUse) -> float:
    """Compares engines by their share, whatever their number."""
    return 1 / use.all_ps if use.all_ps else 0.0


def _totals(index: TimelineIndex) -> Line:
    timeline = index.timeline
    pes = len(timeline.trace.pes)
    words = (
        f"{times.short(timeline.makespan_ps)} makespan · {len(index):,} stages ·"
        f" {len(index.commands.keys):,} commands · {pes} PE{'s' if pes != 1 else ''}"
    )
    if timeline.status is Status.DEADLOCK:
        return (Span("DEADLOCK  ", tone(Paint.VIOLATED)), Span(words, STRONG))
    return (Span(words, STRONG),)


def _deadlock_lines(index: TimelineIndex) -> list[SummaryLine]:
    """Who waits for whom, round the cycle, and what would clear it."""
    deadlock = index.timeline.deadlock
    if deadlock is None:
        return []
    target = Target(Leads.DEADLOCK)
    lines = [
        SummaryLine((Span(f"  {printable(str(blocked))}", TEXT),), target)
        for blocked in deadlock.cycle
    ]
    depth = deadlock.clearing_depth
    remedy = "no queue depth clears it" if depth is None else f"a queue depth of {depth} clears it"
    hanging = f"{len(deadlock.tail)} more PEs wait behind them; " if deadlock.tail else ""
    return [*lines, _plain((Span(f"  {hanging}{remedy}", MUTED),))]


# -------------------------------------------------------------------- engines


def _engine_table(engines: tuple[EngineUse, ...], width: int) -> list[SummaryLine]:
    """One line an engine: busy, then the reasons that occur, in parts of its whole time.

    Where there is no room for all reasons, the largest are shown and the others added up.
    """
    title_cells = _title_cells(engines)
    reasons = _reasons(engines, (width - title_cells - COLUMN_CELLS) // COLUMN_CELLS)
    titles = "".join(f"{title:>{COLUMN_CELLS}}" for title, _ in reasons)
    head = f"{'engine':{title_cells}}{'busy':>{COLUMN_CELLS}}{titles}"
    lines = [
        _plain((Span(f"{'':{title_cells + COLUMN_CELLS}}   idle, waiting for", FAINT),)),
        _plain((Span(head, FAINT),)),
    ]
    return lines + [_engine_line(use, reasons, title_cells) for use in engines]


def _title_cells(engines: tuple[EngineUse, ...]) -> int:
    longest = max((len(_title(use)) + 1 for use in engines), default=0)
    return min(max(longest, LEAST_TITLE_CELLS), MOST_TITLE_CELLS)


def _title(use: EngineUse) -> str:
    """`HBM`, or `HBM ×512`."""
    return f"{use.title} ×{len(use.lanes)}" if len(use.lanes) > 1 else use.title


Reasons = list[tuple[str, tuple[Idle, ...]]]
"""The columns: a title and the reasons that are added up in it."""


def _reasons(engines: tuple[EngineUse, ...], room: int) -> Reasons:
    largest = {
        idle: max((use.idle_ps[idle] * _scale(use) for use in engines), default=0.0)
        for idle in Idle
    }
    found = [idle for idle in Idle if largest[idle]]
    kept = set(sorted(found, key=lambda idle: -largest[idle])[: max(room - 1, 0)])
    if len(found) <= room:
        kept = set(found)
    columns: Reasons = [(IDLE_WORDS[idle], (idle,)) for idle in found if idle in kept]
    others = tuple(idle for idle in found if idle not in kept)
    return [*columns, (OTHER, others)] if others else columns


def _engine_line(use: EngineUse, reasons: Reasons, title_cells: int) -> SummaryLine:
    """The engine's largest reason stands out."""
    line: Line = (
        Span(fit(_title(use), title_cells), tone(Paint(use.paint))),
        Span(f"{_percent(use.busy_ps, use.all_ps):>{COLUMN_CELLS}}", STRONG),
    )
    parts = [sum(use.idle_ps[idle] for idle in idles) for _, idles in reasons]
    for time_ps in parts:
        looks = FAINT if not time_ps else TEXT if time_ps == max(parts) else MUTED
        line += (Span(f"{_percent(time_ps, use.all_ps):>{COLUMN_CELLS}}", looks),)
    return SummaryLine(line, Target(Leads.LANE, use.lanes[0]))


def _percent(part: int, whole: int) -> str:
    if not part or not whole:
        return "·"
    tenths = (1000 * part + whole // 2) // whole
    return f"{tenths // 10}.{tenths % 10} %" if tenths else "<0.1 %"


ENGINE_COLUMNS = ("engine", "engines", "busy_ps", *(f"{IDLE_WORDS[idle]}_ps" for idle in Idle))


def engine_rows(engines: tuple[EngineUse, ...]) -> list[tuple[object, ...]]:
    """The table of engines as it is saved, with every reason."""
    return [(use.title, len(use.lanes), use.busy_ps, *use.idle_ps) for use in engines]


# -------------------------------------------------------------------- path and hazards


def _path_table(path: PathSummary, makespan_ps: int) -> list[SummaryLine]:
    head = f"critical path, {path.stages:,} stages"
    return [
        _plain((Span(head, FAINT),)),
        *(_path_line(share, makespan_ps) for share in path.shares),
    ]


def _path_line(share: PathShare, makespan_ps: int) -> SummaryLine:
    whole, eighths = divmod(share.time_ps * BAR_CELLS * 8 // max(makespan_ps, 1), 8)
    bar = "█" * whole + EIGHTHS[eighths] or EIGHTHS[1]
    line = (
        Span(fit(share.title, LEAST_TITLE_CELLS), tone(Paint(share.paint))),
        Span(f"{_percent(share.time_ps, makespan_ps):>{COLUMN_CELLS}}", STRONG),
        Span(f"{times.short(share.time_ps):>12}  ", MUTED),
        Span(bar, tone(Paint(share.paint))),
    )
    is_stage = share.stage != NO_STAGE
    return SummaryLine(line, Target(Leads.PATH, share.stage) if is_stage else None)


def _hazard_lines(hazards: HazardIndex, groups: tuple[HazardGroup, ...]) -> list[SummaryLine]:
    """How many of each, and the worst of all, those alike added up."""
    parts: list[Span] = [Span("hazards", FAINT)]
    for outcome in Outcome:
        count = hazards.counts[outcome]
        looks = tone(OUTCOME_PAINTS[outcome]) if count else MUTED
        parts.append(Span(f"   {GLYPHS[outcome]} {count:,} {outcome.name.lower()}", looks))
    worst = groups[:WORST_HAZARDS]
    return [_plain(tuple(parts)), *(_hazard_line(hazards, group) for group in worst)]


def _hazard_line(hazards: HazardIndex, group: HazardGroup) -> SummaryLine:
    line = (
        Span(f"{GLYPHS[group.outcome]} ", tone(OUTCOME_PAINTS[group.outcome])),
        Span(group_words(hazards, group), TEXT),
    )
    return SummaryLine(line, Target(Leads.HAZARD, group.worst))
