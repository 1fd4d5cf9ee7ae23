"""What lies beside the main screen: the machine, a second timeline, and the replay of turned numbers."""

from typing import TYPE_CHECKING

from textual.worker import get_current_worker

from ...schemas.timeline import Timeline
from ..model.calibrating import Settings
from ..model.carried import carried
from ..model.comparing import LOWER, UPPER
from ..model.hazards import HazardIndex
from ..model.index import TimelineIndex
from ..model.jumps import JumpError
from ..model.look import select
from ..model.machine import to_lanes
from ..recalibration import Recalibration
from .calibrate import CalibratePanel
from .compare import CompareScreen
from .machine import MachineScreen

if TYPE_CHECKING:
    from .timeline import TimelineScreen

NOTHING_TO_COMPARE = "nothing to compare with: name two files (view A B), or turn a number (c)"


class OtherViews:
    """Opens them and brings back what they end with. `other` is the second file's timeline, if any."""

    def __init__(self, screen: "TimelineScreen", other: TimelineIndex | None) -> None:
        self._screen = screen
        self.other = other
        self.recalibration = Recalibration(screen.index.timeline)

    # ---------------------------------------------------------------- calibrate

    def calibrate(self) -> None:
        """The panel of numbers; what they are worth is measured meanwhile."""
        self._screen.app.push_screen(CalibratePanel(self.recalibration, self.recalibrate))
        self.recalibrate(self.recalibration.settings)

    def recalibrate(self, settings: Settings) -> None:
        """Replays under these settings in a thread; what is shown stays until that is complete."""
        self.recalibration.ask(settings)
        if self.recalibration.begin():
            self._screen.run_worker(self._replay, thread=True)

    def _replay(self) -> None:
        worker, screen = get_current_worker(), self._screen

        def tell() -> None:
            screen.post_message(screen.Recalibrated())

        self.recalibration.work(tell, lambda: worker.is_cancelled)

    def renew(self) -> None:
        """Shows the newest complete timeline, and what was measured."""
        self.show_timeline(self.recalibration.timeline)
        for screen in self._screen.app.screen_stack:
            if isinstance(screen, CalibratePanel):
                screen.renew()

    def show_timeline(self, timeline: Timeline) -> None:
        """Takes the place of the one shown, the cursor on the same stage."""
        screen, base = self._screen, self.recalibration.base
        if timeline is screen.index.timeline:
            return
        before_ps = None if timeline is base else base.makespan_ps
        index = TimelineIndex(timeline, screen.index.name, before_ps)
        look = carried(screen.index, index, screen.look)
        screen.index, screen.hazards = index, HazardIndex(index)
        screen.go(look)

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
