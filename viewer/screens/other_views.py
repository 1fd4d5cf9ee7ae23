"""What lies beside the main screen: the summary, hazards, the machine, a second timeline, turned numbers."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol

from textual.message import Message
from textual.worker import get_current_worker

from ...schemas.timeline import Timeline
from ..model.calibrating import Settings
from ..model.carried import carried, same_stage
from ..model.comparing import LOWER, UPPER
from ..model.index import NO_STAGE, TimelineIndex
from ..model.jumps import JumpError, to_pe
from ..model.look import Look, jump, show_pair
from ..model.reopened import Place, look_again
from ..model.summary_lines import Leads, Target
from ..recalibration import Recalibration
from .ask import AskLine
from .background import prepare
from .calibrate import COMPARE, CalibratePanel
from .command_line import CommandLine
from .compare import CompareScreen
from .hazards import HazardPanel
from .host import ShowingHost
from .keys import KeysScreen
from .left_off import LeftOff
from .machine import MachineScreen
from .possible_hazards import PossibleHazards
from .summary import SummaryScreen

NEWER = "the run with the turned numbers has taken the place of the one before"
NEWER_WITHOUT_IT = "the run with the turned numbers is here; it has no such stage"

FOLLOWING = (CalibratePanel, AskLine, CommandLine, KeysScreen)
"""What lies over the main screen and means whatever timeline that shows by then."""

NOTHING_TO_COMPARE = "nothing to compare with: name two files (view A B), or turn a number (c)"
COMPARES_THEN = "replaying with the turned numbers: the comparison opens when that is done …"
COMPARES_NOT = "the comparison will not open: x asks for it again"


class Recalibrated(Message):
    """The replay's thread has something new."""


class MainScreen(ShowingHost, Protocol):
    """The main screen."""

    @property
    def left_off(self) -> LeftOff: ...

    def action_do(self, name: str) -> None:
        """Carries out an action by its name in the action table."""


class OtherViews:
    """Opens them and brings back what they end with. `other` is the second file's timeline, if any."""

    def __init__(self, screen: MainScreen, other: TimelineIndex | None = None) -> None:
        self._screen = screen
        self._opened = screen.index
        self._newest = (screen.index, screen.hazards)
        self._is_late = False
        self._is_over = False
        self._compares_then = False
        self._turning_again: tuple[Place, Look] | None = None
        self.other = other
        self.recalibration = Recalibration(screen.index.timeline)
        self._possible = PossibleHazards(screen)

    @property
    def opened(self) -> tuple[TimelineIndex, ...]:
        """The timelines of the files, as they were opened."""
        return (self._opened,) if self.other is None else (self._opened, self.other)

    def end(self) -> None:
        """Others take the place of these: nothing that their threads are at is wanted any more."""
        self._is_over = True
        self._possible.end()

    # ---------------------------------------------------------------- summary and hazards

    def summary(self, *, is_first: bool = False) -> None:
        """The summary, over the whole screen."""
        screen = self._screen
        index, chosen = screen.index, screen.left_off.in_summary(screen.index)
        summary = SummaryScreen(index, screen.hazards, is_first=is_first, chosen=chosen)
        screen.app.push_screen(summary, partial(self._summarised, summary, index))

    def _summarised(
        self, summary: SummaryScreen, index: TimelineIndex, chosen: Target | str | None
    ) -> None:
        screen = self._screen
        screen.left_off.leave_summary(index, summary.chosen)
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
        panel = HazardPanel(
            screen.index,
            screen.hazards,
            self._possible.search(),
            self._possible.find,
            screen.left_off,
        )
        screen.app.push_screen(panel, partial(self._listed, panel))

    def _listed(self, panel: HazardPanel, row: int | None) -> None:
        panel.leave(self._screen.left_off)
        self.show_hazard(row)

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
        number = self._screen.left_off.number
        panel = CalibratePanel(self.recalibration, self.recalibrate, number)
        self._screen.app.push_screen(panel, partial(self._calibrated, panel))
        self.recalibrate(self.recalibration.settings)

    def _calibrated(self, panel: CalibratePanel, wish: int | None) -> None:
        self._screen.left_off.number = panel.chosen
        if wish == COMPARE:
            self.compare()

    def recalibrate(self, settings: Settings) -> None:
        """Replays under these settings in a thread; what is shown stays until that is complete."""
        self.recalibration.ask(settings)
        if self.recalibration.begin():
            self._screen.run_worker(self._replay, thread=True)

    def turn_again(self, settings: Settings, before: Place) -> None:
        """Turns what was turned when the screen showed the place `before`, in the file as it was then: the
        replay leads back there, if nobody goes elsewhere meanwhile, and leaves the last line as it is.
        """
        self._turning_again = (before, self._screen.look)
        self.recalibrate(settings)

    def _replay(self) -> None:
        worker, screen = get_current_worker(), self._screen

        def tell() -> None:
            index = self._arranged(self.recalibration.timeline)
            if index is not self._newest[0]:
                self._newest = (index, self._possible.hazards_of(index))
            screen.post_message(Recalibrated())

        self.recalibration.work(tell, lambda: worker.is_cancelled or self._is_over)

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
            self._is_late, self._compares_then = True, False
        elif is_newer:
            self._show_newest()
        elif self._turning_again is not None and self.recalibration.complaint:
            self._turning_again = None
            self._screen.say(f"what was turned cannot be here: {self.recalibration.complaint}")
        for panel in self._screen.app.screen_stack:
            if isinstance(panel, CalibratePanel):
                panel.renew()
        if self._compares_then and not self._is_replaying:
            self._compare_now()

    @property
    def _is_replaying(self) -> bool:
        """Whether the run with the newest numbers is still to come, or to be shown."""
        known = self.recalibration
        return known.is_behind or known.timeline is not self._screen.index.timeline

    @property
    def _is_listed(self) -> bool:
        """Whether something of the timeline that is shown now lies over it."""
        return not all(isinstance(one, FOLLOWING) for one in self._screen.app.screen_stack[1:])

    def _show_newest(self) -> None:
        screen, (index, hazards) = self._screen, self._newest
        stage, before = screen.look.stage, screen.index
        is_lost = stage != NO_STAGE and same_stage(screen.index, index, stage) == NO_STAGE
        screen.show(
            index, hazards, self._look_in(index), keeps_words=self._turning_again is not None
        )
        self._turning_again = None
        if before is not self._opened:
            before.forget()
        if self._is_late:
            screen.say(NEWER_WITHOUT_IT if is_lost else NEWER)
        self._is_late = False
        if not hazards.is_searched:
            self._possible.add_later()  # found after this was replayed

    def _look_in(self, index: TimelineIndex) -> Look:
        """The screen's, carried to a newer timeline."""
        shown, look = self._screen.index, self._screen.look
        if self._turning_again is not None:
            (before, left), begun = self._turning_again
            if replace(look, top=begun.top) == begun:
                return look_again(before, index, left)
        return carried(shown, index, look)

    # ---------------------------------------------------------------- compare

    def compare(self, *, is_first: bool = False) -> None:
        """With the second file; without one, what was opened with what was turned, once that is there."""
        screen, base = self._screen, self.recalibration.base
        if self._is_replaying:
            self._compares_then = True
            screen.say(COMPARES_THEN)
            return
        if self.other is not None:
            beside = CompareScreen(screen.index, self.other, UPPER, screen.look, is_first=is_first)
        elif screen.index.timeline is not base:
            before = TimelineIndex(base, "as it was")
            beside = CompareScreen(before, screen.index, LOWER, screen.look)
        else:
            screen.say(NOTHING_TO_COMPARE)
            return
        screen.app.push_screen(beside, self._compared)

    def _compare_now(self) -> None:
        """What was asked for before the run was there. Who has opened something since wants that."""
        self._compares_then, complaint = False, self.recalibration.complaint
        if complaint:
            self._screen.say(f"nothing new to compare with: {complaint}")
        elif len(self._screen.app.screen_stack) == 1:
            self.compare()

    def compares_not(self) -> bool:
        """Takes back that it opens as soon as it can; False where it was not to."""
        was, self._compares_then = self._compares_then, False
        return was

    def _compared(self, stage: int | None) -> None:
        """To the stage that one has walked to, and else back to where one was."""
        screen = self._screen
        if stage is not None and stage != screen.look.stage:
            screen.go(jump(screen.index, screen.look, stage))

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
