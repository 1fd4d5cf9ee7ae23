"""The lines of two timelines side by side: heads, who is ahead, and where the difference comes from."""

from collections.abc import Sequence

import numpy as np

from ...replay.analysis.compare import Unit
from ...replay.analysis.differences import Difference, Group, Level
from . import times
from .cells import LEVELS
from .changes import signed_percent
from .comparing import LOWER, UPPER, Comparison, Pair, leads
from .frame import lane_axis
from .index import NO_STAGE
from .lanes import BLOCK_TITLES
from .lists import ALL_SEEN, Unseen, scroll_top
from .marking import delta_words
from .text import Line, Span, cells, cut, fit, fit_line, printable, spread
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT, Paint, tone
from .words import KIND_WORDS, stage_name

AHEAD = ("upper ahead", "lower ahead")
"""The titles of the two lanes of the lead."""

UNIT_WORDS = {
    Unit.STAGE: "stage by stage",
    Unit.COMMAND: "command by command",
    Unit.TILE: "by {count:,} tiles that both read",
}
LEVEL_WORDS = {Level.ENGINE: "engine", Level.KIND: "kind of stage", Level.LINE: "kernel line"}

LINE_CELLS = 18
LEAST_NAME_CELLS = 10
TIME_CELLS = 11
BAR_CELLS = 10
NARROW_BAR_CELLS = 4
NARROW_BELOW = 100
TABLE_HEAD_LINES = 1


def heading_line(comparison: Comparison, width: int) -> Line:
    """Both makespans and their difference, and how the two are lined up."""
    upper, lower = (side.timeline.makespan_ps for side in comparison.sides)
    change = comparison.change_ps
    told = times.alike((upper, lower, abs(change)))
    left = (
        Span(f" {told[0]} → {told[1]}", STRONG),
        Span(f"  {signed(change, told[2])}", tone(Paint.DISPATCH)),
        Span(f"  {signed_percent(change, upper)}", MUTED),
    )
    lined_up = comparison.alignment
    how = UNIT_WORDS[lined_up.unit].format(count=len(lined_up))
    return spread(left, (Span(f"{how} ", MUTED),), width)


def pane_line(
    comparison: Comparison, pair: Pair, side: int, width: int, unseen: Unseen = ALL_SEEN
) -> Line:
    """The head of a pane: which timeline it is, and how many rows are not shown; the one with the
    cursor stands out.
    """
    timeline = comparison.sides[side].timeline
    name = printable(comparison.sides[side].name)
    setting = printable(f"{timeline.calibration.name} · {timeline.policy.name}")
    is_active = side == pair.active
    mark = Span(" › " if is_active else "   ", ACCENT)
    words = f"{name}  {times.short(timeline.makespan_ps)}  "
    head = (mark, Span(words, STRONG if is_active else TEXT), Span(setting, MUTED))
    right = "  ".join(words for words in (delta_words(pair.looks[side]), unseen.words) if words)
    return spread(head, (Span(f"  {right} ", ACCENT),), width)


def lead_lines(comparison: Comparison, pair: Pair, width: int) -> list[Line]:
    """Two lanes, the upper one's lead and the lower one's, each as high as the largest lead of all;
    below them the lead at the cursor's moment."""
    label_cells = comparison.sides[pair.active].tree.label_cells
    lead = leads(comparison, pair, lane_axis(pair.look, width - label_cells).edges)
    lined_up = comparison.alignment
    highest = int(np.abs(lined_up.right_ps - lined_up.left_ps).max(initial=0))
    lines = []
    for side, paint in ((UPPER, Paint.ACCENT), (LOWER, Paint.DISPATCH)):
        mine = np.maximum(lead if side == UPPER else -lead, 0)
        title = Span(fit(f" {AHEAD[side]}", label_cells), FAINT)
        lines.append(fit_line((title, Span(_bars(mine, highest), tone(paint))), width))
    return [*lines, _moment_line(comparison, pair, width)]


def _moment_line(comparison: Comparison, pair: Pair, width: int) -> Line:
    """The lead; at the right end the stage under the cursor, where the moment is another one's."""
    words = Span(f" {moment_words(comparison, pair)}", STRONG)
    room = width - cells(words.text) - len("   ")
    stage = pair.look.stage
    if stage == NO_STAGE or comparison.alignment.unit is Unit.STAGE or room < LEAST_NAME_CELLS:
        return fit_line((words,), width)
    name = cut(printable(stage_name(comparison.sides[pair.active], stage)), room)
    return spread((words,), (Span(f"  {name} ", MUTED),), width)


def _bars(lead_ps: np.ndarray, highest_ps: int) -> str:
    """At least ▁ where there is any lead. Python's numbers: eight times a lead may pass 2^63."""
    levels = [-(-8 * lead // highest_ps) if lead else 0 for lead in lead_ps.tolist()]
    return "".join(chr(LEVELS[level]) for level in levels)


def moment_words(comparison: Comparison, pair: Pair) -> str:
    """`at v tile 3 the upper one is ahead by 692.9 ns`."""
    moment = comparison.moment(pair.active, pair.look.stage)
    if moment is None:
        return "the other timeline has nothing like this stage"
    lead = moment.lead_ps
    if not lead:
        return f"at {moment.words} neither is ahead"
    side = "upper" if lead > 0 else "lower"
    return f"at {moment.words} the {side} one is ahead by {times.exact(abs(lead))}"


def difference_lines(
    comparison: Comparison, pair: Pair, top: int, width: int, height: int
) -> tuple[list[Line], int]:
    """The table of where the difference comes from in `height` lines, and its first shown line."""
    found = comparison.differences(pair.level)
    room = max(height - TABLE_HEAD_LINES, 0)
    top = scroll_top(top, max(pair.chosen, 0), len(found), max(room, 1))
    largest = max((abs(one.change_ps) for one in found), default=0)
    words = f" critical paths by {LEVEL_WORDS[pair.level]}"
    times_head = "".join(f"{head:>{TIME_CELLS}}" for head in ("upper", "lower", "change"))
    head = (Span(fit(words, _name_cells(width)), FAINT), Span(times_head, FAINT))
    lines: list[Line] = [fit_line(head, width)]
    told = _told(found)
    for place, one in enumerate(found[top : top + room], start=top):
        lines.append(_difference(one, told[place], place == pair.chosen, largest, width))
    lines += [fit_line((), width)] * (height - len(lines))
    return lines[:height], top


def _name_cells(width: int) -> int:
    return max(width - 3 * TIME_CELLS - _bar_cells(width) - 2, LEAST_NAME_CELLS)


def _bar_cells(width: int) -> int:
    return BAR_CELLS if width >= NARROW_BELOW else NARROW_BAR_CELLS


def _told(found: Sequence[Difference]) -> list[tuple[str, str, str]]:
    """Per line its two times and their difference in words, alike in the whole table."""
    words = iter(
        times.alike(
            abs(time_ps) for one in found for time_ps in (one.left_ps, one.right_ps, one.change_ps)
        )
    )
    return [
        (
            _time(one.left_ps, next(words)),
            _time(one.right_ps, next(words)),
            signed(one.change_ps, next(words)),
        )
        for one in found
    ]


def _difference(
    one: Difference, told: tuple[str, str, str], is_chosen: bool, largest_ps: int, width: int
) -> Line:
    looks = STRONG if is_chosen else TEXT
    bar = "█" * (-(-abs(one.change_ps) * _bar_cells(width) // largest_ps) if largest_ps else 0)
    paint = Paint.DISPATCH if one.change_ps > 0 else Paint.ACCENT
    name = f"{' › ' if is_chosen else '   '}{group_words(one.group)}"
    line = (
        Span(fit(name, _name_cells(width)), looks),
        Span(f"{told[0]:>{TIME_CELLS}}{told[1]:>{TIME_CELLS}}", MUTED),
        Span(f"{told[2]:>{TIME_CELLS}}  ", looks),
        Span(bar, tone(paint)),
    )
    return fit_line(line, width)


DIFFERENCE_COLUMNS = ("path_part", "upper_ps", "lower_ps", "change_ps")


def difference_rows(comparison: Comparison, pair: Pair) -> list[tuple[object, ...]]:
    """The table as it is saved, in its order."""
    return [
        (group_words(one.group), one.left_ps, one.right_ps, one.change_ps)
        for one in comparison.differences(pair.level)
    ]


def _time(time_ps: int, words: str) -> str:
    return words if time_ps else "·"


def signed(change_ps: int, words: str) -> str:
    """A change, in words for its size, with its sign: `+3.090 µs`, `−41.0 ns`; `·` for none."""
    if not change_ps:
        return "·"
    return f"{'+' if change_ps > 0 else '−'}{words}"


def group_words(group: Group) -> str:
    """`gqa_decode.py:214  CPU dispatch`; latency is told with what waited for it."""
    title = "latency"
    if group.block is not None:
        title = f"{BLOCK_TITLES[group.block]} {group.channel}".rstrip()
    kind = "" if group.kind is None else KIND_WORDS[group.kind]
    if group.block is None and kind:
        kind = f"before {kind}"
    words = f"{title} {kind}" if kind != title else title
    words = f"{words} {printable(group.op_kind)}".rstrip()
    return f"{printable(group.line):{LINE_CELLS}} {words}" if group.line else words
