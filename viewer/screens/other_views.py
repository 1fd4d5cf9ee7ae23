"""What lies beside the main screen: the summary, hazards, the machine, a second timeline, turned numbers."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from textual.message import Message
from textual.worker import get_current_worker

from ...schemas.timeline import Timeline
from ..model.calibrating import Settings
from ..model.carried import carried, same_stage
from ..model.comparing import LOWER, UPPER
from ..model.hazard_filter import with_potential
from ..model.hazards import HazardIndex, own_hazards
from ..model.index import NO_STAGE, TimelineIndex
from ..model.jumps import JumpError, to_pe
from ..model.look import Look, jump, show_pair
from ..model.summary_lines import Leads, Target
from ..potential_search import PotentialSearch
from ..recalibration import Recalibration
from .ask import AskLine
from .background import prepare
from .calibrate import COMPARE, CalibratePanel
from .command_line import CommandLine
from .compare import CompareScreen
from .from_thread import shown_by
from .hazards import HazardPanel
from .host import Host
from .keys import KeysScreen
from .machine import MachineScreen
from .summary import SummaryScreen

NEWER = "the run with the turned numbers has taken the place of the one before"
NEWER_WITHOUT_IT = "the run with the turned numbers is here; it has no such stage"

FOLLOWING = (CalibratePanel, AskLine, CommandLine, KeysScreen)
"""What lies over the main screen and means whatever timeline that shows by then."""

NOTHING_TO_COMPARE = "nothing to compare with: name two files (view A B), or turn a number (c)"


class Recalibrated(Message):
    """The replay's thread has something new."""


class MainScreen(Host, Protocol):
    """The main screen, whose timeline another one can take the place of."""

    def show(self, index: TimelineIndex, hazards: HazardIndex, look: Look) -> None:
        """Shows another timeline, or more about the same one."""

    def action_do(self, name: str) -> None:
        """Carries out an action by its name in the action table."""


class OtherViews:
    """Opens them and brings back what they end with. `other` is the second file's timeline, if any."""

    def __init__(self, screen: MainScreen, other: TimelineIndex | None) -> None:
        self._screen = screen
        self._opened = screen.index
        self._newest = (screen.index, screen.hazards)
        self._is_late = False
        self.other = other
        self.recalibration = Recalibration(screen.index.timeline)
        self._search = PotentialSearch(screen.index.timeline)

    # ---------------------------------------------------------------- summary and hazards

    def summary(self, *, is_first: bool = False) -> None:
        """The summary, over the whole screen."""
        screen = self._screen
        summary = SummaryScreen(screen.index, screen.hazards, is_first=is_first)
        screen.app.push_screen(summary, self._summarised)

    def _summarised(self, chosen: Target | str | None) -> None:
        screen = self._screen
        match chosen:
            case str():
                screen.action_do(chosen)
            case Target(Leads.LANE, lane):
                first = int(screen.index.lane(lane).ids[0])
                screen.go(jump(screen.index, screen.look, first))
            case Target(Leads.PATH, stage):
                screen.go(jump(screen.index, screen.look, stage))
            case Target(Leads.HAZARD, row):
                self.show_hazard(row)
            case Target(Leads.DEADLOCK):
                screen.action_do("deadlock")

    def hazard_list(self) -> None:
        """The list of hazards; Enter shows both stages."""
        screen = self._screen
        if self._search.policy != screen.index.timeline.policy:
            self._search = PotentialSearch(screen.index.timeline)
        panel = HazardPanel(screen.index, screen.hazards, self._search, self.find_potential)
        screen.app.push_screen(panel, self.show_hazard)

    def find_potential(self) -> None:
        """Looks in a thread for what can go wrong in any replay; the list need not stay open for it."""
        if self._search.begin():
            self._screen.run_worker(partial(self._find, self._search), thread=True)

    def _find(self, search: PotentialSearch) -> None:
        worker = get_current_worker()

        def is_cancelled() -> bool:
            return worker.is_cancelled or search is not self._search

        def tell() -> None:
            shown_by(self._screen, self._tell_lists, search)

        if search.work(tell, is_cancelled):
            self._add_found()

    def _add_found(self) -> None:
        """In a thread: what was found joins the hazards that are shown by then."""
        is_shown: bool | None = False
        while is_shown is False:
            index = self._screen.index
            hazards = self._hazards_of(index)
            is_shown = shown_by(self._screen, self._show_found, index, hazards)

    def _hazards_of(self, index: TimelineIndex) -> HazardIndex:
        """A timeline's hazards, those among them that the search has found under its policy."""
        timeline = index.timeline
        if self._search.found is None or self._search.policy != timeline.policy:
            return own_hazards(index)
        hazards = HazardIndex(index, with_potential(timeline.hazards, self._search.found))
        _ = hazards.by_weight  # sorted here and now, in the thread
        return hazards

    def _show_found(self, index: TimelineIndex, hazards: HazardIndex) -> bool:
        """Whether it is still this timeline that is shown."""
        is_shown = index is self._screen.index
        if is_shown:
            self._screen.show(index, hazards, self._screen.look)
            self._renew_list(hazards)
        return is_shown

    def _tell_lists(self, search: PotentialSearch) -> None:
        """How far the search is, unless another one has begun."""
        if search is self._search:
            self._renew_list(self._screen.hazards)

    def _renew_list(self, hazards: HazardIndex) -> None:
        for panel in self._screen.app.screen_stack:
            if isinstance(panel, HazardPanel):
                panel.renew(hazards)

    def show_hazard(self, row: int | None) -> None:
        """Both stages of a pair, as far as they ran, and what became of it in words."""
        if row is None:
            return
        screen, sites = self._screen, self._screen.hazards.sites
        earlier, later = int(sites.earlier[row]), int(sites.later[row])
        if min(earlier, later) >= 0:
            look = show_pair(screen.index, screen.look, earlier, later)
            screen.go(look, screen.hazards.sentence(row))

    # ---------------------------------------------------------------- calibrate

    def calibrate(self) -> None:
        """The panel of numbers; what they are worth is measured meanwhile."""
        panel = CalibratePanel(self.recalibration, self.recalibrate)
        self._screen.app.push_screen(panel, self._calibrated)
        self.recalibrate(self.recalibration.settings)

    def _calibrated(self, wish: int | None) -> None:
        if wish == COMPARE:
            self.compare()

    def recalibrate(self, settings: Settings) -> None:
        """Replays under these settings in a thread; what is shown stays until that is complete."""
        self.recalibration.ask(settings)
        if self.recalibration.begin():
            self._screen.run_worker(self._replay, thread=True)

    def _replay(self) -> None:
        worker, screen = get_current_worker(), self._screen

        def tell() -> None:
            index = self._arranged(self.recalibration.timeline)
            if index is not self._newest[0]:
                self._newest = (index, self._hazards_of(index))
            screen.post_message(Recalibrated())

        self.recalibration.work(tell, lambda: worker.is_cancelled)

    def _arranged(self, timeline: Timeline) -> TimelineIndex:
        """The timeline ready for looking at; the one that was opened, and the newest, as they are."""
        for known in (self._newest[0], self._opened):
            if known.timeline is timeline:
                return known
        before_ps = self._opened.timeline.makespan_ps
        index = TimelineIndex(timeline, self._opened.name, before_ps)
        prepare(index)
        return index

    def renew(self) -> None:
        """Shows the newest complete timeline in place of the one before, the cursor on the same stage,
        and what was measured. A list keeps the one that it is of until it is closed: what is chosen
        there means that one.
        """
        is_newer = self._newest[0] is not self._screen.index
        if is_newer and self._is_listed:
            self._is_late = True
        elif is_newer:
            self._show_newest()
        for panel in self._screen.app.screen_stack:
            if isinstance(panel, CalibratePanel):
                panel.renew()

    @property
    def _is_listed(self) -> bool:
        """Whether something of the timeline that is shown now lies over it."""
        return not all(isinstance(one, FOLLOWING) for one in self._screen.app.screen_stack[1:])

    def _show_newest(self) -> None:
        screen, (index, hazards) = self._screen, self._newest
        stage = screen.look.stage
        is_lost = stage != NO_STAGE and same_stage(screen.index, index, stage) == NO_STAGE
        screen.show(index, hazards, carried(screen.index, index, screen.look))
        if self._is_late:
            screen.say(NEWER_WITHOUT_IT if is_lost else NEWER)
        self._is_late = False
        if self._search.found is not None and not hazards.is_searched:
            screen.run_worker(self._add_found, thread=True)  # found after this was replayed

    # ---------------------------------------------------------------- compare

    def compare(self) -> None:
        """With the second file; without one, what was opened with what it was turned into."""
        screen, base = self._screen, self.recalibration.base
        if self.other is not None:
            beside = CompareScreen(screen.index, self.other, UPPER)
        elif screen.index.timeline is not base:
            beside = CompareScreen(TimelineIndex(base, "as it was"), screen.index, LOWER)
        else:
            screen.say(NOTHING_TO_COMPARE)
            return
        screen.app.push_screen(beside, self._compared)

    def _compared(self, stage: int | None) -> None:
        if stage is not None:
            self._screen.go(jump(self._screen.index, self._screen.look, stage))

    # ---------------------------------------------------------------- machine

    def machine(self) -> None:
        """The map of PEs and links."""
        screen = self._screen
        screen.app.push_screen(MachineScreen(screen.index, screen.look), self._to_lanes)

    def _to_lanes(self, rank: int | None) -> None:
        screen = self._screen
        if rank is None:
            return
        try:
            screen.go(to_pe(screen.index, screen.look, rank))
        except JumpError as error:
            screen.say(str(error))


OTHER_VIEWS: dict[str, Callable[[OtherViews], None]] = {
    "summary": OtherViews.summary,
    "hazards": OtherViews.hazard_list,
    "calibrate": OtherViews.calibrate,
    "compare": OtherViews.compare,
    "machine": OtherViews.machine,
}
"""By the action's name."""
