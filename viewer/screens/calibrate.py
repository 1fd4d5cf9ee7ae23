"""The calibration panel: the numbers in use, turned by keys while the picture above is replayed."""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType

from ...replay.calibration import calibration_yaml
from ...schemas.atomic_file import write_whole
from ...schemas.errors import KerntapeError
from ...schemas.stages import Block
from ..model.calibrate_lines import NO_PLACE, Calibrating, Row, calibrate_lines, row_words
from ..model.calibrating import POLICY, Settings, reset, turned, typed, unchanged
from ..model.lists import scroll_top
from ..model.text import Line, Span, fit_line, printable, wrap
from ..model.tones import MUTED, STRONG, Paint, tone
from ..panel_actions import CALIBRATE, in_section
from ..picture_file import free_name
from ..recalibration import FACTORS, Recalibration
from .ask import AskLine
from .panel import FRAME_LINES, Panel, bindings

DETAIL_LINES = 3

COMPARE = 1
"""What the panel closes with where the run is to be compared with how it was."""


class CalibratePanel(Panel):
    """`place` is the chosen row. `ask` is called with every new choice of settings."""

    OWN = (*Panel.OWN, *in_section(CALIBRATE))
    KEYS = "← → turn · Enter type · r R reset · s save · x compare · ? keys"
    BINDINGS: ClassVar[list[BindingType]] = bindings(in_section(CALIBRATE))

    def __init__(self, recalibration: Recalibration, ask: Callable[[Settings], None]) -> None:
        super().__init__("calibrate", "calibrate", lambda width: [])
        self._recalibration = recalibration
        self._ask = ask
        self._policies = recalibration.policies()
        self._top = 0
        self._places: tuple[int, ...] = ()
        self._said = ""
        self._is_wrong = False

    def renew(self) -> None:
        """Something was measured or replayed."""
        self.panel.repaint()

    def count(self) -> int:
        return len(self._calibrating().rows)

    def _calibrating(self) -> Calibrating:
        known = self._recalibration
        return Calibrating(
            settings=known.settings,
            parameters=known.parameters,
            effects=dict(known.worths.effects),
            blocks=known.worths.blocks,
            factors=FACTORS,
            sped_up_ps=dict(known.worths.sped_up_ps),
            makespan_ps=known.timeline.makespan_ps,
        )

    def shown(self, width: int, height: int) -> list[Line]:
        """The rows, scrolled to the chosen one, and what there is to say of it."""
        known = self._calibrating()
        self.place = min(self.place, len(known.rows) - 1)
        lines, self._places = calibrate_lines(known, self.place, width)
        room, at = max(height - DETAIL_LINES, 1), self._places.index(self.place)
        self._top = scroll_top(self._top, at, len(lines), room)
        if self.place == 0:
            self._top = 0
        body = lines[self._top : self._top + room]
        body += [fit_line((), width)] * (room - len(body))
        return [*body, fit_line((), width), *self._detail(known, width)]

    def place_at(self, line: int) -> int | None:
        room = self.panel.size.height - FRAME_LINES - DETAIL_LINES
        known = self._places[self._top : self._top + room]
        return known[line] if line < len(known) and known[line] != NO_PLACE else None

    def _detail(self, known: Calibrating, width: int) -> list[Line]:
        """Two lines: what went wrong or was done, or what the chosen row is worth."""
        wrong = self._recalibration.complaint
        words = wrong or self._said or row_words(known, known.rows[self.place])
        looks = tone(Paint.VIOLATED) if wrong or self._is_wrong else STRONG
        if not wrong and not self._said and self._recalibration.is_waiting:
            words, looks = "replaying …", MUTED
        lines = [*wrap(printable(words), max(width - 4, 8))[:2], ""][:2]
        return [fit_line((Span(f"   {line}", looks),), width) for line in lines]

    # ---------------------------------------------------------------- keys

    def action_do(self, name: str) -> None:
        """Carries out an action of the panel by its name in the action table."""
        self._said, self._is_wrong = "", False
        match name:
            case "turn_up":
                self._turn(1)
            case "turn_down":
                self._turn(-1)
            case "reset_row":
                row = self._row()
                if not isinstance(row, Block):
                    self._choose_settings(reset(self._recalibration.settings, row))
            case "reset_all":
                base = self._recalibration.base
                self._choose_settings(unchanged(base.calibration, base.policy))
            case "save_calibration":
                self._save()
            case "compare_turned":
                self.dismiss(COMPARE)
            case _:
                super().action_do(name)

    def export_csv(self) -> None:
        """The numbers are saved as a calibration, which says more than a table."""
        self._say("s saves these numbers as a calibration file; e saves the screen", is_wrong=True)

    def choose(self) -> None:
        """Enter: types the chosen number; the policy and the faster engines have none."""
        row = self._row()
        if row == POLICY or isinstance(row, Block):
            self._say("only a number can be typed; ← and → choose the policy", is_wrong=True)
            return
        settings = self._recalibration.settings
        asked = AskLine(
            f"{row}, exactly:",
            lambda text: _complaint(settings, row, text),
            str(settings.value(row)),
        )
        self.app.push_screen(asked, lambda text: self._typed(row, text))

    def _typed(self, row: str, text: str | None) -> None:
        if text is not None:
            self._choose_settings(typed(self._recalibration.settings, row, text))

    def _row(self) -> Row:
        rows = self._calibrating().rows
        return rows[min(self.place, len(rows) - 1)]

    def _turn(self, by: int) -> None:
        row = self._row()
        if isinstance(row, Block):
            self._say("nothing to turn here: the columns show what was tried", is_wrong=True)
            return
        try:
            settings = turned(self._recalibration.settings, row, by, self._policies)
        except KerntapeError as error:
            self._say(str(error), is_wrong=True)
        else:
            self._choose_settings(settings)

    def _choose_settings(self, settings: Settings) -> None:
        self._ask(settings)
        self.panel.repaint()

    def _save(self) -> None:
        """Beside the user's other files, never over one of them."""
        calibration = self._recalibration.settings.calibration
        path = free_name(Path(), "calibration", ".yaml")
        try:
            with write_whole(path) as file:
                file.write(calibration_yaml(calibration).encode("utf-8"))
        except KerntapeError as error:
            self._say(str(error), is_wrong=True)
        else:
            self._say(f"saved {path.name}: kerntape replay --calibration {path.name} uses it")

    def _say(self, words: str, *, is_wrong: bool = False) -> None:
        self._said, self._is_wrong = words, is_wrong
        self.panel.repaint()


def _complaint(settings: Settings, row: str, text: str) -> str:
    try:
        typed(settings, row, text)
    except KerntapeError as error:
        return str(error)
    return ""
