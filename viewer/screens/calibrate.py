"""The calibration panel: the numbers in use, turned by keys while the picture above is replayed."""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType

from ...schemas.errors import FileError, KerntapeError
from ...schemas.stages import Block
from ..actions import named
from ..calibration_file import SUFFIX, calibration_path, save_calibration
from ..model.calibrate_lines import (
    NO_PLACE,
    Calibrating,
    Row,
    calibrate_lines,
    changes_line,
    row_words,
)
from ..model.calibrating import (
    POLICY,
    Settings,
    reset,
    turn_complaint,
    turned,
    typed,
    unchanged,
)
from ..model.lists import scroll_top, unseen_among
from ..model.text import Line, Span, fit_line, printable, wrap
from ..model.tones import MUTED, STRONG, Paint, tone
from ..panel_actions import CALIBRATE, in_section
from ..picture_file import free_name
from ..recalibration import FACTORS, Recalibration
from .ask import AskLine
from .host import TakesKeysNow
from .panel import Panel, bindings

HEAD_LINES = 1
"""What was changed."""

DETAIL_LINES = 3

CLOSING = (*named("close").keys, *named("calibrate").keys, *named("quit").keys)

COMPARE = 1
"""What the panel closes with where the run is to be compared with how it was."""


class CalibratePanel(Panel):
    """`chosen` is the row, at first `row`, as soon as it is there: engines are measured anew after every
    replay. `ask` is called with every new choice of settings.
    """

    OWN = (*in_section(CALIBRATE), *Panel.OWN)
    KEYS = "← → turn · Enter type · s save · r R reset · x compare"
    BINDINGS: ClassVar[list[BindingType]] = bindings(in_section(CALIBRATE))

    def __init__(
        self, recalibration: Recalibration, ask: Callable[[Settings], None], row: Row = POLICY
    ) -> None:
        self._recalibration = recalibration
        super().__init__("calibrate", "calibrate", lambda width: [])
        self._ask = ask
        self._policies = recalibration.policies()
        self._top = self._room = 0
        self._places: tuple[int, ...] = ()
        self._said = ""
        self._is_wrong = False
        self.chosen = row

    def renew(self) -> None:
        """Something was measured or replayed."""
        self.panel.repaint()
        self.app.post_message(TakesKeysNow())

    def takes(self, key: str) -> bool:
        """Before there are rows to go to and numbers to turn: only what closes it."""
        return self._recalibration.knows_parameters or key in CLOSING

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
        place = self._place_in(known.rows)
        lines, self._places = calibrate_lines(known, place, width)
        room = self._room = max(height - HEAD_LINES - DETAIL_LINES, 1)
        at = self._places.index(place)
        self._top = scroll_top(self._top, at, len(lines), room)
        if place == 0:
            self._top = 0
        are_rows = [place != NO_PLACE for place in self._places]
        self.unseen = unseen_among(are_rows, self._top, room)
        body = lines[self._top : self._top + room]
        body += [fit_line((), width)] * (room - len(body))
        head = changes_line(known.settings, width)
        return [head, *body, fit_line((), width), *self._detail(known, known.rows[place], width)]

    @property
    def place(self) -> int:
        """That of the chosen row; while it is not there, the last one."""
        return self._place_in(self._calibrating().rows)

    @place.setter
    def place(self, place: int) -> None:
        rows = self._calibrating().rows  # a thread may have made them fewer
        self.chosen = rows[min(place, len(rows) - 1)]

    def _place_in(self, rows: tuple[Row, ...]) -> int:
        return rows.index(self.chosen) if self.chosen in rows else len(rows) - 1

    def place_at(self, line: int) -> int | None:
        known = self._places[self._top : self._top + self._room]
        at = line - HEAD_LINES
        return known[at] if 0 <= at < len(known) and known[at] != NO_PLACE else None

    def _detail(self, known: Calibrating, row: Row, width: int) -> list[Line]:
        """Two lines: what went wrong or was done, what is waited for, or what the chosen row is worth."""
        wrong = self._recalibration.complaint
        words, looks = wrong or self._said, STRONG
        if wrong or self._is_wrong:
            looks = tone(Paint.VIOLATED)
        elif not words:
            waits = self._recalibration.waits_words
            words, looks = (waits, MUTED) if waits else (row_words(known, row), STRONG)
        lines = [*wrap(printable(words), max(width - 4, 8))[:2], ""][:2]
        return [fit_line((Span(f"   {line}", looks),), width) for line in lines]

    # ---------------------------------------------------------------- keys

    def action_do(self, name: str) -> None:
        """Carries out an action of the panel by its name in the action table."""
        self._said, self._is_wrong, self._message = "", False, ""
        match name:
            case "turn_up":
                self._turn(1)
            case "turn_down":
                self._turn(-1)
            case "reset_row":
                self._reset(self.row)
            case "reset_all":
                self._reset_all()
            case "save_calibration":
                self._ask_name()
            case "compare_turned":
                self.dismiss(COMPARE)
            case _:
                super().action_do(name)

    def save_listed(self) -> None:
        """The numbers are saved as a calibration, which says more than a table."""
        self._say("s saves these numbers as a calibration file; e saves the screen", is_wrong=True)

    def choose(self) -> None:
        """Enter: types the chosen number; the policy and the faster engines have none."""
        row = self.row
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

    @property
    def row(self) -> Row:
        """The one at `place`."""
        rows = self._calibrating().rows
        return rows[self._place_in(rows)]

    def _turn(self, by: int) -> None:
        row = self.row
        if isinstance(row, Block):
            self._say("nothing to turn here: the columns show what was tried", is_wrong=True)
            return
        try:
            settings = turned(self._recalibration.settings, row, by, self._policies)
        except KerntapeError as error:
            self._say(turn_complaint(row, error), is_wrong=True)
        else:
            self._choose_settings(settings)

    def _reset(self, row: Row) -> None:
        settings = self._recalibration.settings
        if isinstance(row, Block) or not settings.is_changed(row):
            self._say("nothing to put back here: this is as it was opened", is_wrong=True)
            return
        self._say(f"{row} is {settings.base_words(row)} again")
        self._choose_settings(reset(settings, row))

    def _reset_all(self) -> None:
        settings = self._recalibration.settings
        if settings.is_base:
            self._say("nothing to put back: all is as it was opened", is_wrong=True)
            return
        self._say("all is as it was opened again")
        self._choose_settings(unchanged(settings.base, settings.base_policy))

    def _choose_settings(self, settings: Settings) -> None:
        self._ask(settings)
        self.panel.repaint()

    def _ask_name(self) -> None:
        """For the file, a free name to begin with."""
        free = free_name(Path(), self.app.title, SUFFIX, "calibration")
        asked = AskLine("save these numbers as a calibration file:", _name_complaint, free.name)
        self.app.push_screen(asked, self._save)

    def _save(self, name: str | None) -> None:
        if name is None:
            return
        settings = self._recalibration.settings
        try:
            path = calibration_path(name)
            save_calibration(path, settings.calibration)
        except KerntapeError as error:
            self._say(str(error), is_wrong=True)
            return
        policy = f" --hazards {settings.policy.name}" if settings.is_changed(POLICY) else ""
        self._say(f"saved {path}: kerntape replay --calibration {path}{policy} uses it")

    def _say(self, words: str, *, is_wrong: bool = False) -> None:
        self._said, self._is_wrong = words, is_wrong
        self.panel.repaint()


def _complaint(settings: Settings, row: str, text: str) -> str:
    try:
        typed(settings, row, text)
    except KerntapeError as error:
        return turn_complaint(row, error)
    return ""


def _name_complaint(text: str) -> str:
    try:
        calibration_path(text)
    except FileError as error:
        return str(error)
    return ""
