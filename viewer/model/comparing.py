"""Two timelines side by side: one axis of time, one cursor, and where it leads on either side.

The cursor is in one of the two (the active side); the other side follows it. Immutable `Pair`s of
looks, made anew by every key from the `Comparison`, which is worked out once.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...replay.analysis.compare import COMMANDS, Alignment, Unit, align
from ...replay.analysis.differences import Difference, Level, differences
from ...schemas.columns import Int64s
from .hazards import HazardIndex
from .index import NO_STAGE, TimelineIndex
from .look import NO_TIME, Look, Move, first_look, jump, window
from .words import stage_name

UPPER, LOWER = 0, 1
NO_ROW = -1


@dataclass(frozen=True)
class Moment:
    """The same moment on both sides: the end of these stages. `words` name it: `v tile 3`."""

    words: str
    stages: tuple[int, int]
    at_ps: tuple[int, int]

    @property
    def lead_ps(self) -> int:
        """How far the upper one is ahead; negative where the lower one is."""
        return self.at_ps[LOWER] - self.at_ps[UPPER]


class Comparison:
    """The upper and the lower timeline, lined up. Raises ConfigError where they have nothing in common."""

    def __init__(self, upper: TimelineIndex, lower: TimelineIndex) -> None:
        self.alignment: Alignment = align(upper.timeline, lower.timeline)
        longest = max(upper.timeline.makespan_ps, lower.timeline.makespan_ps)
        self.sides = tuple(
            TimelineIndex(one.timeline, one.name, beside_ps=longest) for one in (upper, lower)
        )
        label_cells = max(side.tree.label_cells for side in self.sides)
        for side in self.sides:
            side.tree = replace(side.tree, least_label_cells=label_cells)
        self.hazards = tuple(HazardIndex(side) for side in self.sides)
        self._differences: dict[Level, tuple[Difference, ...]] = {}
        ranks = [pe.rank for pe in upper.timeline.trace.pes]
        self._upper_pe = {rank: number for number, rank in enumerate(ranks)}

    @property
    def change_ps(self) -> int:
        """How much longer the lower one is."""
        upper, lower = (side.timeline.makespan_ps for side in self.sides)
        return lower - upper

    def differences(self, level: Level) -> tuple[Difference, ...]:
        """The groups of the critical paths by what they change, worked out once a level."""
        if level not in self._differences:
            upper, lower = (side.timeline for side in self.sides)
            self._differences[level] = differences(upper, lower, level)
        return self._differences[level]

    def moment(self, side: int, stage: int) -> Moment | None:
        """The moment that a stage of one side stands for: itself, its command's end, or the last
        tile that its PE had used when it ended; None where the other side has nothing like it."""
        if stage == NO_STAGE:
            return None
        if self.alignment.unit is Unit.STAGE:
            ends = tuple(one.end(stage) for one in self.sides)
            return Moment(stage_name(self.sides[UPPER], stage), (stage, stage), (ends[0], ends[1]))
        row = self._row(side, stage)
        return None if row == NO_ROW else self.moment_of_row(row)

    def moment_of_row(self, row: int) -> Moment:
        """The moment of a row of the alignment."""
        lined_up = self.alignment
        stages = int(lined_up.left[row]), int(lined_up.right[row])
        at_ps = int(lined_up.left_ps[row]), int(lined_up.right_ps[row])
        return Moment(self._words(row), stages, at_ps)

    def _words(self, row: int) -> str:
        lined_up = self.alignment
        tensor, number = int(lined_up.tensor[row]), int(lined_up.number[row])
        if tensor != COMMANDS:
            return f"{lined_up.tensors[tensor]} tile {number + 1}"
        if lined_up.unit is Unit.STAGE:
            return stage_name(self.sides[UPPER], int(lined_up.left[row]))
        return f"command {number}"

    def _row(self, side: int, stage: int) -> int:
        index = self.sides[side]
        rows = self.rows_of(side, stage)
        if not len(rows):
            return NO_ROW
        if self.alignment.unit is Unit.COMMAND:
            same = rows[self.alignment.number[rows] == index.command(stage)]
            return int(same[0]) if len(same) else NO_ROW
        ends = (self.alignment.left_ps, self.alignment.right_ps)[side][rows]
        passed = np.flatnonzero(ends <= index.end(stage))
        return int(rows[passed[ends[passed].argmax()]] if len(passed) else rows[0])

    def rows_of(self, side: int, stage: int) -> Int64s:
        """The rows of the alignment that belong to the PE of a stage of one side."""
        timeline = self.sides[side].timeline
        rank = timeline.trace.pes[self.sides[side].pe(stage)].rank
        pe = self._upper_pe.get(rank)
        if pe is None:
            return np.zeros(0, np.int64)
        return np.arange(self.alignment.offsets[pe], self.alignment.offsets[pe + 1])


@dataclass(frozen=True)
class Pair:
    """Where one looks on both sides; `active` has the cursor. `chosen` is a line of the table of
    differences, NO_ROW at first."""

    looks: tuple[Look, Look]
    active: int = UPPER
    level: Level = Level.KIND
    chosen: int = NO_ROW

    @property
    def look(self) -> Look:
        return self.looks[self.active]


def first_pair(comparison: Comparison) -> Pair:
    """All of both, the cursor at the first stage of the upper one."""
    upper, lower = (first_look(side) for side in comparison.sides)
    return followed(comparison, Pair((upper, lower)), upper)


def pair_at(comparison: Comparison, own: int, look: Look) -> Pair:
    """As somebody looks at the `own` side alone: the cursor, what is folded and the window are those;
    where all of it was shown, all of both is.
    """
    side = comparison.sides[own]
    here = replace(
        first_look(side),
        folded=look.folded,
        row=look.row,
        stage=look.stage,
        at_ps=look.at_ps,
        is_placed=look.is_placed,
    )
    if look.span_ps <= side.timeline.makespan_ps:
        here = window(side, here, look.from_ps, look.span_ps)
    return followed(comparison, replace(first_pair(comparison), active=own), here)


def moved(comparison: Comparison, pair: Pair, move: Move) -> Pair:
    """A move of the timeline on the active side; the other follows."""
    return followed(comparison, pair, move(comparison.sides[pair.active], pair.look))


def marked(comparison: Comparison, pair: Pair, move: Move) -> Pair:
    """A move that sets the mark, or goes to it: on the other side too, where its cursor was then."""
    after = moved(comparison, pair, move)
    other = 1 - pair.active
    is_set = after.look.mark_ps != NO_TIME
    before = pair.looks[other]
    mark = (before.at_ps, before.stage) if is_set else (NO_TIME, NO_STAGE)
    look = replace(after.looks[other], mark_ps=mark[0], mark_stage=mark[1])
    return replace(after, looks=(after.look, look) if other == LOWER else (look, after.look))


def swapped(comparison: Comparison, pair: Pair) -> Pair:
    """The cursor on the other side, at the same moment."""
    other = replace(pair, active=1 - pair.active)
    return followed(comparison, other, other.look)


def followed(comparison: Comparison, pair: Pair, look: Look) -> Pair:
    """The active side's new look, and the other side's: the same window, the cursor at its moment."""
    other = 1 - pair.active
    index, kept = comparison.sides[other], pair.looks[other]
    moment = comparison.moment(pair.active, look.stage)
    if moment is not None:
        stage = moment.stages[other]
        row = index.tree.shown_row(index.lane_of(stage), kept.folded)
        kept = replace(kept, stage=stage, row=row, at_ps=index.start(stage), trail=())
    kept = window(index, kept, look.from_ps, look.span_ps)
    looks = (look, kept) if pair.active == UPPER else (kept, look)
    return replace(pair, looks=looks)


def to_difference(comparison: Comparison, pair: Pair, by: int) -> Pair:
    """The next or previous line of the table, the cursor on the stage that spent most of it."""
    found = comparison.differences(pair.level)
    if not found:
        return pair
    chosen = min(max(pair.chosen + by, 0), len(found) - 1)
    one = found[chosen]
    stages = (one.left_stage, one.right_stage)
    longer = LOWER if one.right_ps > one.left_ps else UPPER
    side = longer if stages[longer] != NO_STAGE else 1 - longer
    pair = replace(pair, chosen=chosen, active=side)
    return _at(comparison, pair, stages[side])


def to_divergence(comparison: Comparison, pair: Pair) -> Pair:
    """The first moment at which the two are apart; the pair as it was where they never are."""
    row = comparison.alignment.first_divergence()
    if row == NO_ROW:
        return pair
    return _at(comparison, pair, comparison.moment_of_row(row).stages[pair.active])


def apart_words(comparison: Comparison) -> str:
    """What to say where `to_divergence` leads nowhere."""
    is_never = comparison.alignment.first_divergence() == NO_ROW
    return "the two are never apart" if is_never else "this is where they are first apart"


def _at(comparison: Comparison, pair: Pair, stage: int) -> Pair:
    return followed(comparison, pair, jump(comparison.sides[pair.active], pair.look, stage))


def regrouped(pair: Pair) -> Pair:
    """The table by engine, by kind of stage, by kernel line, and round again."""
    return replace(pair, level=Level((pair.level + 1) % len(Level)), chosen=NO_ROW)


def leads(comparison: Comparison, pair: Pair, edges_ps: Int64s) -> Int64s:
    """Per column between two edges, how far the upper side is ahead there on the cursor's PE.

    It is the lead at the last moment that the upper side has reached by the column's end, 0 before
    the first.
    """
    columns = np.zeros(len(edges_ps) - 1, dtype=np.int64)
    if pair.look.stage == NO_STAGE:
        return columns
    rows = comparison.rows_of(pair.active, pair.look.stage)
    if not len(rows):
        return columns
    lined_up = comparison.alignment
    lead = lined_up.right_ps[rows] - lined_up.left_ps[rows]
    reached = np.searchsorted(lined_up.left_ps[rows], edges_ps[1:]) - 1
    return np.where(reached < 0, 0, lead[np.maximum(reached, 0)])
