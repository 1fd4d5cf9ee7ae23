"""A deadlock in lines: who waits for whom round the cycle, the tail behind it, and what would clear it."""

from ...schemas.deadlock import BlockedCommand, Deadlock
from .index import NO_STAGE, TimelineIndex
from .text import Line, Span, fit_line, printable
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT, Paint, tone

FIRST, MIDDLE, LAST = "╭▶", "│ ", "╰─"
"""Before the first, the middle and the last command of the cycle."""


def blocked_commands(deadlock: Deadlock) -> tuple[BlockedCommand, ...]:
    """The commands of the list: the cycle's, then the tail's."""
    return (*deadlock.cycle, *deadlock.tail)


def deadlock_head(deadlock: Deadlock | None, width: int) -> list[Line]:
    """What happened, and the remedy, in two lines."""
    if deadlock is None:
        return [fit_line((Span("  no deadlock: every command finished", MUTED),), width)]
    circle = f"{len(deadlock.cycle)} commands wait for each other"
    if len(deadlock.cycle) == 1:
        circle = "one command waits for itself"
    tail = f", {len(deadlock.tail)} more PEs wait behind them" if deadlock.tail else ""
    return [
        fit_line((Span(f"  {circle}{tail}", tone(Paint.VIOLATED)),), width),
        fit_line((Span(f"  {remedy_words(deadlock)}", STRONG),), width),
    ]


def remedy_words(deadlock: Deadlock) -> str:
    """What would clear it."""
    depth = deadlock.clearing_depth
    return "no queue depth clears it" if depth is None else f"a queue depth of {depth} clears it"


def deadlock_lines(
    deadlock: Deadlock, chosen: int, top: int, width: int, height: int
) -> list[Line]:
    """`height` lines of the wait-for graph from place `top` on; `chosen` is marked."""
    listed = blocked_commands(deadlock)
    places = range(top, min(top + height, len(listed)))
    lines = [
        _blocked(listed[place], _edge(place, len(deadlock.cycle)), place == chosen, width)
        for place in places
    ]
    return lines + [fit_line((), width)] * (height - len(lines))


def _edge(place: int, cycle: int) -> str:
    if place >= cycle:
        return "  "
    if cycle == 1:
        return "↻ "
    return FIRST if place == 0 else LAST if place == cycle - 1 else MIDDLE


def _blocked(blocked: BlockedCommand, edge: str, is_chosen: bool, width: int) -> Line:
    return fit_line(
        (
            Span(" › " if is_chosen else "   ", ACCENT),
            Span(f"{edge} ", tone(Paint.VIOLATED)),
            Span(f"PE {blocked.rank} command {blocked.command} ", STRONG if is_chosen else TEXT),
            Span(printable(blocked.verb), tone(Paint.MESSAGE)),
            Span(f" waits for {printable(blocked.waits_for)}: ", MUTED),
            Span(f"PE {blocked.for_rank} command {blocked.for_command}", TEXT),
            Span(f"  {printable(blocked.line)}", FAINT),
        ),
        width,
    )


def stage_before(index: TimelineIndex, blocked: BlockedCommand) -> int:
    """The last stage that ran of a blocked command or of one before it on its PE; NO_STAGE for none."""
    ranks = [pe.rank for pe in index.timeline.trace.pes]
    if blocked.rank not in ranks:
        return NO_STAGE
    pe = ranks.index(blocked.rank)
    past = index.commands.position(pe, blocked.command + 1)
    stage = int(index.commands.first[past]) - 1
    return stage if stage >= 0 and index.pe(stage) == pe else NO_STAGE
