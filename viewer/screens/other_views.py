"""What lies beside the main screen: the summary, hazards, the machine, a second timeline, turned numbers."""

from collections.abc import Callable
from typing import Protocol

from textual.message import Message
from textual.worker import get_current_worker

from ...schemas.timeline import Timeline
from ..model.calibrating import Settings
from ..model.carried import carried
from ..model.comparing import LOWER, UPPER
from ..model.hazards import HazardIndex
from ..model.index import TimelineIndex
from ..model.jumps import JumpError
from ..model.look import Look, select, show_pair
from ..model.machine import to_lanes
from ..model.summary_lines import Leads, Target
from ..recalibration import Recalibration
from .background import prepare
from .calibrate import COMPARE, CalibratePanel
from .compare import CompareScreen
from .hazards import HazardPanel
from .host import Host
from .machine import MachineScreen
from .summary import SummaryScreen

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
        self._opened = self._newest = screen.index
        self.other = other
        self.recalibration = Recalibration(screen.index.timeline)

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
                screen.go(select(screen.index, screen.look, first))
            case Target(Leads.PATH, stage):
                screen.go(select(screen.index, screen.look, stage))
            case Target(Leads.HAZARD, row):
                self.show_hazard(row)
            case Target(Leads.DEADLOCK):
                screen.action_do("deadlock")

    def hazard_list(self) -> None:
        """The list of hazards; Enter shows both stages."""
        screen = self._screen
        panel = HazardPanel(screen.index, screen.hazards, self._more_hazards)
        screen.app.push_screen(panel, self.show_hazard)

    def _more_hazards(self, hazards: HazardIndex) -> None:
        self._screen.show(self._screen.index, hazards, self._screen.look)

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
            self._newest = self._arranged(self.recalibration.timeline)
            screen.post_message(Recalibrated())

        self.recalibration.work(tell, lambda: worker.is_cancelled)

    def _arranged(self, timeline: Timeline) -> TimelineIndex:
        """The timeline ready for looking at; the one that was opened, and the newest, as they are."""
        for known in (self._newest, self._opened):
            if known.timeline is timeline:
                return known
        before_ps = self._opened.timeline.makespan_ps
        index = TimelineIndex(timeline, self._opened.name, before_ps)
        prepare(index)
        return index

    def renew(self) -> None:
        """Shows the newest complete timeline in place of the one before, the cursor on the same stage,
        and what was measured.
        """
        screen, index = self._screen, self._newest
        if index is not screen.index:
            screen.show(index, HazardIndex(index), carried(screen.index, index, screen.look))
        for panel in screen.app.screen_stack:
            if isinstance(panel, CalibratePanel):
                panel.renew()

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
            self._screen.go(select(self._screen.index, self._screen.look, stage))

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
            screen.go(to_lanes(screen.index, screen.look, rank))
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
