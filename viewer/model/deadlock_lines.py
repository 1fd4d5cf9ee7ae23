"""A deadlock in lines: who waits for whom round the cycle, the tail behind it, and what would clear it."""

from collections.abc import Iterator

from ...schemas.deadlock import BlockedCommand, Deadlock
from .index import NO_STAGE, TimelineIndex
from .text import Line, Span, fit_line, printable, wrap
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT, Paint, tone

FIRST, MIDDLE, LAST = "╭▶", "│ ", "╰─"
"""Before the first, the middle and the last command of the cycle."""

FOOT_LINES = 4


def blocked_commands(deadlock: Deadlock) -> tuple[BlockedCommand, ...]:
    """The commands of the list: the cycle's, then the tail's."""
    return (*deadlock.cycle, *deadlock.tail)


def first_of_each_pe(deadlock: Deadlock) -> tuple[BlockedCommand, ...]:
    """Per PE the first command that waits: of those in the cycle, then of those behind it."""
    first: dict[int, BlockedCommand] = {}
    for blocked in deadlock.cycle:
        known = first.setdefault(blocked.rank, blocked)
        if blocked.command < known.command:
            first[blocked.rank] = blocked
    return (*(first[rank] for rank in sorted(first)), *deadlock.tail)


def forever_words(blocked: BlockedCommand) -> str:
    """`PE 0 command 9 send E waits for ever for a credit of the queue`."""
    words = f"PE {blocked.rank} command {blocked.command} {blocked.verb} waits for ever for"
    return printable(f"{words} {blocked.waits_for}")


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
        fit_line((Span(f"  {deadlock.remedy}", STRONG),), width),
    ]


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


def deadlock_foot(index: TimelineIndex, place: int, width: int) -> list[Line]:
    """The chosen command in a sentence, and its kernel line, in FOOT_LINES lines."""
    deadlock = index.timeline.deadlock
    if deadlock is None:
        return []
    blocked = blocked_commands(deadlock)[place]
    lines: list[Line] = [()]
    lines += [(Span(f"  {text}", STRONG),) for text in wrap(printable(str(blocked)), width - 4)]
    lines = [*lines, (), ()][: FOOT_LINES - 1]
    pe = pe_of(index, blocked.rank)
    text = blocked.line
    if pe is not None:
        source = index.line(pe, blocked.command)
        text = f"{source}  {source.text.strip()}"
    lines.append((Span(f"  {printable(text)}", MUTED),))
    return [fit_line(line, width) for line in lines]


BLOCKED_COLUMNS = (
    "in_cycle",
    "pe",
    "command",
    "verb",
    "waits_for",
    "for_pe",
    "for_command",
    "line",
)


def blocked_rows(deadlock: Deadlock | None) -> Iterator[tuple[object, ...]]:
    """The blocked commands as they are saved; `in_cycle` is 1 for those that wait for each other, else 0."""
    for place, one in enumerate(blocked_commands(deadlock) if deadlock else ()):
        is_in_cycle = int(deadlock is not None and place < len(deadlock.cycle))
        waits = (one.waits_for, one.for_rank, one.for_command)
        yield is_in_cycle, one.rank, one.command, one.verb, *waits, one.line


def pe_of(index: TimelineIndex, rank: int) -> int | None:
    """The PE's place among those of the trace; None where it is none of them."""
    ranks = [pe.rank for pe in index.timeline.trace.pes]
    return ranks.index(rank) if rank in ranks else None


def stage_before(index: TimelineIndex, blocked: BlockedCommand) -> int:
    """The last stage that ran of a blocked command or of one before it on its PE; NO_STAGE for none."""
    pe = pe_of(index, blocked.rank)
    if pe is None:
        return NO_STAGE
    past = index.commands.position(pe, blocked.command + 1)
    stage = int(index.commands.first[past]) - 1
    return stage if stage >= 0 and index.pe(stage) == pe else NO_STAGE
