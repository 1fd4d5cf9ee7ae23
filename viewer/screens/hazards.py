"""The list of hazards: every pair held, violated or potential, in words; Enter shows both stages."""

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType
from textual.worker import get_current_worker

from ...replay.hazards.potential import potential_hazards
from ...schemas.columns import Int64s
from ...schemas.hazards import Hazards
from ..model.hazard_filter import (
    EVERYTHING,
    HazardFilter,
    filter_words,
    filtered,
    next_kind,
    next_outcome,
    with_potential,
)
from ..model.hazard_list import (
    DETAIL_LINES,
    HAZARD_TABLE,
    hazard_detail,
    hazard_lines,
    hazard_rows,
    title_line,
)
from ..model.hazards import HazardIndex
from ..model.index import TimelineIndex
from ..model.lists import scroll_top
from ..model.text import Line, fit_line
from ..pair_verdicts import PairVerdicts
from ..panel_actions import HAZARDS, in_section
from .ask import AskLine
from .finder import pattern_complaint
from .panel import FRAME_LINES, Panel, bindings
from .saving import save_table

TITLE_LINES = 1
PROMPT = "only handles named like (a regular expression; empty: all):"


class HazardPanel(Panel):
    """`place` is the chosen line; Enter closes the panel with its row in the hazard table.

    `found` is given the hazards anew when the possible ones are known, which a thread finds.
    """

    OWN = (*Panel.OWN, *in_section(HAZARDS))
    KEYS = "o f p / filter · a in any replay · Enter show · ? keys"
    BINDINGS: ClassVar[list[BindingType]] = bindings(in_section(HAZARDS))

    def __init__(
        self, index: TimelineIndex, hazards: HazardIndex, found: Callable[[HazardIndex], None]
    ) -> None:
        super().__init__("hazards", "hazards", lambda width: [])
        self._index = index
        self._hazards = hazards
        self._found = found
        self._verdicts = PairVerdicts(index.timeline)
        self._top = 0
        self._searching = False
        self._kept: int | None = None
        self.wanted: HazardFilter = EVERYTHING
        self._rows: Int64s = hazards.by_weight
        self._tell_filter()

    def on_mount(self) -> None:
        self._ask_policies()

    def count(self) -> int:
        return len(self._rows)

    def shown(self, width: int, height: int) -> list[Line]:
        """The head, as many lines as there is room for, and what there is to say of the chosen one."""
        room = max(height - TITLE_LINES - DETAIL_LINES, 1)
        self._top = scroll_top(self._top, self.place, self.count(), room)
        return [
            title_line(len(self._rows), len(self._hazards), width),
            *hazard_lines(
                self._index, self._hazards, self._rows, self.place, self._top, width, room
            ),
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
        room = self.panel.size.height - FRAME_LINES - DETAIL_LINES
        return place if TITLE_LINES <= line < room and place < self.count() else None

    def move_to(self, place: int) -> None:
        """Another hazard, which filters keep chosen from now on."""
        super().move_to(place)
        self._kept = self._row()
        self._ask_policies()

    def choose(self) -> None:
        """Closes with the chosen row."""
        self.dismiss(self._row())

    def export_csv(self) -> None:
        """Saves what the filter wants, however many."""
        rows = hazard_rows(self._index, self._hazards, self._rows)
        save_table(self, "hazards", HAZARD_TABLE, rows, f"{len(self._rows):,} hazards")

    # ---------------------------------------------------------------- keys

    def action_do(self, name: str) -> None:
        """Carries out an action of the list by its name in the action table."""
        match name:
            case "next_outcome":
                self._want(next_outcome(self.wanted))
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
        """Another filter; the hazard that one went to is the chosen one whenever it is wanted."""
        self.wanted = wanted
        self._rows = filtered(self._index, self._hazards, wanted)
        kept = (self._rows == self._kept).nonzero()[0]
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
        self._title_words = f"hazards · {words}" + (" · searching …" if self._searching else "")

    # ---------------------------------------------------------------- threads

    def _ask_policies(self) -> None:
        row = self._row()
        if row is not None and self._verdicts.ask(self._pair(row)):
            self.run_worker(self._judge, thread=True)

    def _judge(self) -> None:
        worker = get_current_worker()
        self._verdicts.work(
            lambda: self.app.call_from_thread(self.panel.repaint), lambda: worker.is_cancelled
        )

    def _find_potential(self) -> None:
        if not self._searching:
            self._searching = True
            self._tell_filter()
            self.panel.repaint()
            self.run_worker(self._search, thread=True)

    def _search(self) -> None:
        timeline = self._index.timeline
        potential = potential_hazards(timeline.trace, timeline.topology, timeline.policy)
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._searched, potential)

    def _searched(self, potential: Hazards) -> None:
        """All hazards, the possible ones among them, here and on the timeline."""
        self._searching = False
        table = with_potential(self._index.timeline.hazards, potential)
        self._hazards = HazardIndex(self._index, table)
        self._found(self._hazards)
        self._want(self.wanted)
        more = len(table) - len(self._index.timeline.hazards)
        self.say(f"{more:,} more can go wrong" if more else "nothing else can go wrong")
        self._ask_policies()
