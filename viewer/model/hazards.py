"""Hazards where they can be seen: at which stage, in which lane, and in words."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...schemas.columns import Int8s, Int32s, Int64s, offsets_of
from ...schemas.hazard_policy import HazardKind
from ...schemas.hazards import KINDS, Hazards, Outcome
from ...schemas.stages import StageKind
from ...schemas.timeline import Status
from . import times
from .fates import Fate, fate, fates
from .index import TimelineIndex, command_keys
from .tree import Row
from .words import handle_name

SEVERITY = np.array([1, 3, 2], dtype=np.int8)
"""Per Outcome, which glyph wins a column: a violation over a possibility over one held back."""

GLYPHS = {Outcome.HELD: "◇", Outcome.VIOLATED: "!", Outcome.POTENTIAL: "?"}

MAX_HANDLES_NAMED = 4


@dataclass(frozen=True)
class Sites:
    """Per hazard, the stage at which each command's accesses begin; −1 where it has no stage."""

    earlier: Int64s
    later: Int64s


@dataclass(frozen=True)
class Marks:
    """Hazards as marks of lanes, grouped by lane and sorted by time within (offsets[lane] …).

    `hazard` is the row in the hazard table, `at_ps` where the later command begins, `from_ps`
    since when it was held (at_ps for the others).
    """

    offsets: Int64s
    hazard: Int64s
    at_ps: Int64s
    from_ps: Int64s
    outcome: Int8s


@dataclass(frozen=True)
class RowMarks:
    """The marks of a row's lanes, arranged so that a picture of any of them costs a few searches.

    `glyphs_ps`: per outcome, the times of its glyphs, sorted. `held` are the rows of the pairs that
    were held for some time, by `held_from_ps`; `held_until_ps` is parallel to it, `held_ends_ps`
    the same times sorted.
    """

    glyphs_ps: dict[Outcome, Int64s]
    held: Int64s
    held_from_ps: Int64s
    held_until_ps: Int64s
    held_ends_ps: Int64s


class HazardIndex:
    """The hazards of a timeline, tied to its stages: its own, or a longer table about the same run, with
    what is possible in other replays.
    """

    def __init__(self, index: TimelineIndex, table: Hazards | None = None) -> None:
        self._index = index
        self.table = index.timeline.hazards if table is None else table
        self._is_longer = table is not None
        self._of_row: dict[int, RowMarks] = {}

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def sites(self) -> Sites:
        """Where the two commands of every pair begin."""
        pe = self.table.pe
        return Sites(self._begin(pe, self.table.earlier), self._begin(pe, self.table.later))

    def _begin(self, pe: Int32s, command: Int32s) -> Int64s:
        """A composite's admission, any other command's first stage."""
        commands = self._index.commands
        at = commands.find(pe, command)
        first = commands.first[np.maximum(at, 0)].astype(np.int64)
        admission = first + 1
        admission[admission >= max(len(self._index), 1)] = 0
        kinds = np.asarray(self._index.timeline.stages.kind)
        is_admitted = (
            (kinds[admission] == StageKind.ADMIT) if len(kinds) else np.zeros(len(at), np.bool_)
        )
        return np.where(at < 0, -1, np.where(is_admitted, admission, first))

    @cached_property
    def marks(self) -> Marks:
        """Every pair whose later command ran, as a mark in the lane where that command begins."""
        shown = np.flatnonzero(self.sites.later >= 0)
        stages = self.sites.later[shown]
        lanes = self._index.timeline.stages.engine[stages]
        at_ps = self._index.timeline.start_ps[stages]
        order = np.lexsort((at_ps, lanes))
        shown, lanes, at_ps = shown[order], lanes[order], at_ps[order]
        outcome = self.table.outcome[shown]
        held_ps = np.where(outcome == Outcome.HELD, self.table.cost_ps[shown], 0)
        counts = np.bincount(lanes, minlength=len(self._index.lanes))
        return Marks(offsets_of(counts), shown, at_ps, at_ps - held_ps, outcome)

    def of_row(self, row: Row) -> RowMarks:
        """The marks of a row's lanes. Kept: a group may have thousands."""
        if row.key not in self._of_row:
            self._of_row[row.key] = self._row_marks(row)
        return self._of_row[row.key]

    def _row_marks(self, row: Row) -> RowMarks:
        marks, lanes = self.marks, np.array(row.lanes, dtype=np.int64)
        marked = lanes[marks.offsets[lanes + 1] > marks.offsets[lanes]].tolist()
        places = [np.arange(marks.offsets[lane], marks.offsets[lane + 1]) for lane in marked]
        mine = np.concatenate([np.zeros(0, np.int64), *places])
        from_ps, until_ps, outcome = (
            column[mine] for column in (marks.from_ps, marks.at_ps, marks.outcome)
        )
        glyphs = {one: np.sort(from_ps[outcome == one]) for one in Outcome}
        held = np.flatnonzero(from_ps < until_ps)
        held = held[np.argsort(from_ps[held], kind="stable")]
        return RowMarks(
            {one: times_ps for one, times_ps in glyphs.items() if len(times_ps)},
            marks.hazard[mine][held],
            from_ps[held],
            until_ps[held],
            np.sort(until_ps[held]),
        )

    @cached_property
    def fates(self) -> Int8s:
        """What became of every pair."""
        return fates(self.table)

    @cached_property
    def counts(self) -> dict[Fate, int]:
        """How many pairs there are of each fate."""
        found = np.bincount(self.fates, minlength=len(Fate))
        return {fate: int(found[fate]) for fate in Fate}

    @property
    def is_searched(self) -> bool:
        """Whether what is possible in other replays has been looked for, and is in the table."""
        return self._is_longer or self.counts[Fate.POTENTIAL] > 0

    @property
    def is_evaluated(self) -> bool:
        """Whether it is known what was held and what went wrong: not of a run that stopped for ever."""
        return self._index.timeline.status is Status.OK

    @cached_property
    def by_weight(self) -> Int64s:
        """The rows of the table: violated, potential, held; the costliest first within each."""
        table = self.table
        order = np.lexsort(
            (table.later, table.pe, -table.cost_ps, -SEVERITY[table.outcome].astype(np.int64))
        )
        return order.astype(np.int64)

    @cached_property
    def _by_time(self) -> tuple[Int64s, Int64s, Int64s]:
        """Of every pair whose later command ran and was held or harmed, in the order (start, stage) of
        where that begins: that start, that stage, and the row.
        """
        later = self.sites.later
        rows = np.flatnonzero((later >= 0) & (self.fates != Fate.FREE))
        starts = self._index.timeline.start_ps[later[rows]]
        order = np.lexsort((rows, later[rows], starts))
        return starts[order], later[rows][order], rows[order]

    def beside(self, stage: int, by: int) -> int | None:
        """The row of the next (by=1) or previous pair in time whose later command begins at another
        stage than this; None where there is none.
        """
        starts, stages, rows = self._by_time
        here = (self._index.start(stage), stage) if stage >= 0 else (-1, -1)
        first, past = starts.searchsorted(here[0]), starts.searchsorted(here[0], side="right")
        nearby = stages[first:past]
        within = nearby.searchsorted(here[1], side="right" if by > 0 else "left")
        at = int(first + within)
        place = at if by > 0 else at - 1
        return int(rows[place]) if 0 <= place < len(rows) else None

    def holding(self, stage: int) -> Int64s:
        """The rows that say why this stage's command was held, the costliest first."""
        keys, held = self._held_by_command
        key = (self._index.pe(stage) << 32) + self._index.command(stage)
        first, past = keys.searchsorted([key, key + 1])
        rows = held[first:past]
        return rows[np.argsort(-self.table.cost_ps[rows], kind="stable")]

    @cached_property
    def _held_by_command(self) -> tuple[Int64s, Int64s]:
        """The rows of the pairs that were held, by their later command, and that as a key."""
        held = np.flatnonzero(self.table.outcome == Outcome.HELD)
        keys = command_keys(self.table.pe[held], self.table.later[held])
        order = np.argsort(keys, kind="stable")
        return keys[order], held[order]

    def fate(self, row: int) -> Fate:
        return fate(self.table, row)

    def kind(self, row: int) -> HazardKind:
        return KINDS[int(self.table.kind[row])]

    def handle_words(self, row: int) -> str:
        """What the pair meets on: `O`, or `P and scores` where the two call it differently."""
        pe = int(self.table.pe[row])
        earlier = handle_name(self._index.handle(pe, int(self.table.earlier_handle[row])))
        later = handle_name(self._index.handle(pe, int(self.table.later_handle[row])))
        return earlier if earlier == later else f"{earlier} and {later}"

    def earlier_words(self, row: int) -> str:
        """`written by command 29`."""
        verb = "read" if self.kind(row) is HazardKind.WAR else "written"
        return f"{verb} by command {int(self.table.earlier[row])}"

    def held_words(self, stage: int) -> str:
        """`203 ns for hazard RAW on O, written by command 29`; empty where nothing is recorded."""
        rows = self.holding(stage)
        if not len(rows):
            return ""
        first = int(rows[0])
        cost = times.exact(int(self.table.cost_ps[first]))
        return f"{cost} for hazard {self._met_on(rows)}, {self.earlier_words(first)}"

    def held_by(self, stage: int) -> str:
        """`RAW on O, by #29`; empty where nothing is recorded."""
        rows = self.holding(stage)
        return f"{self._met_on(rows)}, by #{self.table.earlier[rows[0]]}" if len(rows) else ""

    def _met_on(self, rows: Int64s) -> str:
        """`RAW on O`: what the command of the first row, and of those alike, is met on."""
        earlier = self.table.earlier[rows[0]]
        alike = [int(row) for row in rows if self.table.earlier[row] == earlier]
        names = list(dict.fromkeys(self.handle_words(row) for row in alike))
        shown = ", ".join(names[:MAX_HANDLES_NAMED]) + (
            "…" if len(names) > MAX_HANDLES_NAMED else ""
        )
        return f"{self.kind(int(rows[0])).value} on {shown}"

    def sentence(self, row: int) -> str:
        """The pair and what became of it, in one sentence; of several PEs, on which."""
        names = self._index.pe_names
        where = f"{names[int(self.table.pe[row])]}: " if len(names) > 1 else ""
        return where + self._became(row)

    def _became(self, row: int) -> str:
        table = self.table
        later, earlier = int(table.later[row]), int(table.earlier[row])
        cost = times.exact(int(table.cost_ps[row]))
        what = self.handle_words(row)
        now = "reads" if self.kind(row) is HazardKind.RAW else "writes"
        match self.fate(row):
            case Fate.HELD:
                return f"command {later} was held {cost} for {what}, {self.earlier_words(row)}"
            case Fate.FREE:
                return (
                    f"command {later} was held for {what}, {self.earlier_words(row)}, at no cost:"
                    " something else let it go no earlier"
                )
            case Fate.VIOLATED:
                return (
                    f"command {later} {now} {what} while command {earlier} was not done with it:"
                    f" they overlapped for {cost}"
                )
            case Fate.POTENTIAL:
                return (
                    f"command {later} {now} {what}, {self.earlier_words(row)}, and nothing orders"
                    " the two: another calibration can make them collide"
                )


def own_hazards(index: TimelineIndex) -> HazardIndex:
    """The hazards that a timeline came with."""
    return index.once("hazards", lambda: HazardIndex(index))
