"""The list of hazards: every pair held, violated or potential, in words; Enter shows both stages."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual.binding import BindingType
from textual.worker import get_current_worker

from ...schemas.columns import Int64s
from ..model.fates import Fate
from ..model.hazard_filter import (
    EVERYTHING,
    HazardFilter,
    filter_words,
    filtered,
    next_fate,
    next_kind,
)
from ..model.hazard_head import Listed, columns_line, counts_line, shared_note
from ..model.hazard_list import (
    DETAIL_LINES,
    HAZARD_TABLE,
    hazard_detail,
    hazard_lines,
    hazard_rows,
)
from ..model.hazards import HazardIndex
from ..model.index import TimelineIndex
from ..model.lists import scroll_top, unseen
from ..model.matching import PatternError
from ..model.text import Line, fit_line
from ..pair_verdicts import PairVerdicts
from ..panel_actions import HAZARDS, in_section
from ..potential_search import PotentialSearch
from .ask import AskLine
from .finder import pattern_complaint
from .from_thread import shown_by
from .left_off import LeftOff, pair_at, row_of
from .panel import Panel, bindings
from .saving import save_table

TITLE_LINES = 2
"""How many there are of each fate, and the heads of the columns."""

LEAST_ROWS = 3
"""What else there is to say leaves the list so many lines."""

PROMPT = "only handles named like (a regular expression; empty: all):"


class HazardPanel(Panel):
    """`place` is the chosen line; Enter closes the panel with its row in the hazard table.

    `search` finds the possible ones; `find` begins it, and it goes on when the panel is closed.
    It opens with the filter and at the pair of `left_off`; `leave` puts its own there.
    """

    OWN = (*in_section(HAZARDS), *Panel.OWN)
    KEYS = "Enter show · o f p / filter · a in any replay"
    BINDINGS: ClassVar[list[BindingType]] = bindings(in_section(HAZARDS))

    def __init__(
        self,
        index: TimelineIndex,
        hazards: HazardIndex,
        search: PotentialSearch,
        find: Callable[[], None],
        left_off: LeftOff,
    ) -> None:
        super().__init__("hazards", "hazards", lambda width: [])
        self._index = index
        self._hazards = hazards
        self._search = search
        self._find = find
        self._verdicts = PairVerdicts(index.timeline)
        self._top = self._room = 0
        self._kept: int | None = None
        self._rows: Int64s = hazards.by_weight
        self.wanted, pair = left_off.in_hazards(index.timeline.trace)
        if pair is not None:
            self._kept = row_of(hazards, pair)
        self._want(self.wanted)

    def on_mount(self) -> None:
        self._ask_policies()

    def leave(self, left_off: LeftOff) -> None:
        """Tells where one was, for the next time."""
        row = self._row()
        pair = None if row is None else pair_at(self._hazards, row)
        left_off.leave_hazards(self._index.timeline.trace, self.wanted, pair)

    def count(self) -> int:
        return len(self._rows)

    def shown(self, width: int, height: int) -> list[Line]:
        """The head, as many lines as there is room for, and what there is to say of the chosen one."""
        left = height - TITLE_LINES - DETAIL_LINES
        note = shared_note(self._index, width, left - LEAST_ROWS)
        self._room = room = max(left - len(note), 1)
        self._top = scroll_top(self._top, self.place, self.count(), room)
        self.unseen = unseen(self.count(), self._top, room)
        listed = Listed(self._hazards, self.wanted, len(self._rows), self._search.percent)
        return [
            counts_line(listed, width),
            columns_line(self._index, listed, width),
            *hazard_lines(
                self._index, self._hazards, self._rows, self.place, self._top, width, room
            ),
            *note,
            *self._detail(width),
        ]

    def _detail(self, width: int) -> list[Line]:
        row = self._row()
        if row is None:
            return [fit_line((), width)] * DETAIL_LINES
        return hazard_detail(
            self._index, self._hazards, row, self._verdicts.known(self._pair(row)), width
        )

    def _row(self) -> int | None:
        """The chosen row of the table."""
        return int(self._rows[self.place]) if self.place < len(self._rows) else None

    def _pair(self, row: int) -> tuple[int, int, int]:
        table = self._hazards.table
        return int(table.pe[row]), int(table.earlier[row]), int(table.later[row])

    def place_at(self, line: int) -> int | None:
        place = self._top + line - TITLE_LINES
        is_listed = TITLE_LINES <= line < TITLE_LINES + self._room
        return place if is_listed and place < self.count() else None

    def move_to(self, place: int) -> None:
        """Another hazard, which filters keep chosen from now on."""
        super().move_to(place)
        self._kept = self._row()
        self._ask_policies()

    def choose(self) -> None:
        """Closes with the chosen row."""
        self.dismiss(self._row())

    def save_listed(self) -> None:
        """Saves what the filter wants, however many."""
        rows = hazard_rows(self._index, self._hazards, self._rows)
        save_table(self, "hazards", HAZARD_TABLE, rows, f"{len(self._rows):,} hazards")

    # ---------------------------------------------------------------- keys

    def action_do(self, name: str) -> None:
        """Carries out an action of the list by its name in the action table."""
        self._message = ""
        match name:
            case "next_fate":
                self._want(next_fate(self.wanted))
            case "next_kind":
                self._want(next_kind(self.wanted))
            case "same_pe":
                self._want_pe()
            case "handle_filter":
                asked = AskLine(PROMPT, pattern_complaint, self.wanted.handle)
                self.app.push_screen(asked, self._want_handle)
            case "no_filter":
                self._want(EVERYTHING)
            case "find_potential":
                self._find_potential()
            case _:
                super().action_do(name)
                return
        self._ask_policies()

    def _want(self, wanted: HazardFilter) -> None:
        """Another filter; the hazard that one went to is the chosen one whenever it is wanted. A
        pattern that takes too long is left out, and it says so.
        """
        try:
            self._rows = filtered(self._index, self._hazards, wanted)
        except PatternError as error:
            wanted = replace(wanted, handle="")
            self._rows = filtered(self._index, self._hazards, wanted)
            self.say(str(error))
        self.wanted = wanted
        kept = [] if self._kept is None else (self._rows == self._kept).nonzero()[0]
        self.place = int(kept[0]) if len(kept) else 0
        self._tell_filter()
        self.panel.repaint()

    def _want_pe(self) -> None:
        """The chosen hazard's PE, or all again."""
        row = self._row()
        is_one = self.wanted.pe is None and row is not None
        self._want(replace(self.wanted, pe=int(self._hazards.table.pe[row]) if is_one else None))

    def _want_handle(self, pattern: str | None) -> None:
        if pattern is not None:
            self._want(replace(self.wanted, handle=pattern))

    def _tell_filter(self) -> None:
        words = filter_words(self._index, self.wanted, len(self._rows), len(self._hazards))
        self._title_words = f"hazards · {words}"

    # ---------------------------------------------------------------- threads

    def _ask_policies(self) -> None:
        row = self._row()
        if row is not None and self._verdicts.ask(self._pair(row)):
            self.run_worker(self._judge, thread=True)

    def _judge(self) -> None:
        worker = get_current_worker()
        tell = partial(shown_by, self, self.panel.repaint)
        self._verdicts.work(tell, lambda: worker.is_cancelled)

    def _find_potential(self) -> None:
        if self._hazards.is_searched:
            self.say(_found_words(self._hazards))
        else:
            self._find()
            self.panel.repaint()

    def renew(self, hazards: HazardIndex) -> None:
        """The search has come further, or to its end: then the possible pairs are among the hazards."""
        if hazards is not self._hazards:
            self._hazards = hazards
            self._want(self.wanted)
            self.say(_found_words(hazards))
            self._ask_policies()
        self.panel.repaint()


def _found_words(hazards: HazardIndex) -> str:
    count, is_more = hazards.counts[Fate.POTENTIAL], hazards.counts[Fate.VIOLATED] > 0
    if count:
        return f"{count:,} more can go wrong" if is_more else f"{count:,} can go wrong"
    return "nothing else can go wrong" if is_more else "no pair can go wrong"
