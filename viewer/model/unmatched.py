"""Two timelines that cannot be lined up: what is the same in both and what is not, and what it would take."""

from collections.abc import Iterator

from ...schemas.timeline import Timeline
from . import times
from .index import TimelineIndex
from .text import Line, Span, fit, fit_line, printable, wrap
from .tones import FAINT, MUTED, STRONG, TEXT, Paint, tone

HEADLINE = "the two cannot be lined up: they have nothing in common"

TITLE_CELLS, VERDICT_CELLS = 12, 13
LEAST_CELLS = 8
NONE = "none"


def unmatched_lines(
    upper: TimelineIndex, lower: TimelineIndex, complaint: str, width: int
) -> list[Line]:
    """The headline, a table of both, and `complaint`: what two timelines must share."""
    room = max((width - TITLE_CELLS - VERDICT_CELLS - 1) // 2, LEAST_CELLS)
    names = (printable(one.name) for one in (upper, lower))
    head = "".join(fit(f"{name} ", room) for name in names)
    lines: list[Line] = [
        (Span(f" {HEADLINE}", tone(Paint.VIOLATED)),),
        (),
        (Span(" " * (TITLE_CELLS + 1)), Span(head, STRONG)),
    ]
    for title, one, other, verdict in _rows(upper.timeline, lower.timeline):
        looks = MUTED if verdict == "same" else tone(Paint.POTENTIAL)
        lines.append(
            (
                Span(f" {title:<{TITLE_CELLS}}", FAINT),
                *(Span(f"{fit(printable(value), room - 1)} ", TEXT) for value in (one, other)),
                Span(verdict, looks),
            )
        )
    sentence = [(Span(f" {line}", TEXT),) for line in wrap(printable(complaint), max(width - 2, 8))]
    return [fit_line(line, width) for line in [*lines, (), *sentence]]


def _rows(upper: Timeline, lower: Timeline) -> Iterator[tuple[str, str, str, str]]:
    """Title, both values, and whether they are the same; of the tensors, which are in both."""
    pairs = zip(_facts(upper), _facts(lower), strict=True)
    for (title, one), (_, other) in pairs:
        yield title, one, other, "same" if one == other else "differs"
    ours, theirs = _tensors(upper), _tensors(lower)
    both = [name for name in ours if name in theirs]
    verdict = f"{len(both):,} in both" if both else "none in both"
    yield "HBM tensors", ", ".join(ours) or NONE, ", ".join(theirs) or NONE, verdict
    if both:
        parts = "no part that both read"
        yield "in both", ", ".join(both), parts, "differs"


def _facts(timeline: Timeline) -> Iterator[tuple[str, str]]:
    trace = timeline.trace
    commands = sum(trace.streams[pe.stream].command_count for pe in trace.pes)
    yield "kernel", trace.header.kernel
    yield "topology", timeline.topology.name
    yield "PEs", f"{len(trace.pes):,}"
    yield "commands", f"{commands:,}"
    yield "calibration", timeline.calibration.name
    yield "policy", timeline.policy.name
    yield "makespan", times.short(timeline.makespan_ps)


def _tensors(timeline: Timeline) -> tuple[str, ...]:
    """The names of the kernel's tensors."""
    return tuple(dict.fromkeys(one.name for one in timeline.trace.header.tensors))
