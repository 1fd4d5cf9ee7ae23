"""The machine view: which PEs and links are busy, and the way of the selected message."""

from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from ..model.help import hint_line
from ..model.index import TimelineIndex
from ..model.look import Look
from ..model.machine import (
    Load,
    MachineLook,
    first_machine_look,
    load_of,
    message_of,
    next_engine,
    stepped,
)
from ..model.machine_lines import Drawn, machine_detail, machine_title, map_lines
from ..model.text import Line, fit_line
from ..panel_actions import MACHINE, in_section
from ..widgets.painted import Painted
from .panel import bindings

FIXED_LINES = 6
"""The title, an empty line, three lines of detail, the hints."""

STEPS = {"pe_right": (1, 0), "pe_left": (-1, 0), "pe_down": (0, 1), "pe_up": (0, -1)}

HINTS = (
    ("← → ↑ ↓", "PE"),
    ("w s", "near / far"),
    ("e", "engine"),
    ("t", "instant / range"),
    ("Enter", "its lanes"),
    ("g", "back"),
)


class MachineScreen(Screen[int | None]):
    """Closes with the rank of the PE to whose lanes to go, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(in_section(MACHINE))
    AUTO_FOCUS = None
    ALLOW_SELECT = False

    def __init__(self, index: TimelineIndex, look: Look) -> None:
        super().__init__()
        self._index = index
        self._look = look
        self.shown: MachineLook = first_machine_look(index, look)
        self.load: Load = load_of(index, look, self.shown)
        self._message = message_of(index, look.stage)

    def compose(self) -> ComposeResult:
        yield Painted(self._painted, id="machine")

    def _painted(self, width: int, height: int) -> list[Line]:
        drawn = Drawn(self._index.timeline.topology, self.load, self.shown, self._message)
        room = max(height - FIXED_LINES, 0)
        lines = [
            machine_title(drawn, width),
            *map_lines(drawn, width, room),
            fit_line((), width),
            *machine_detail(drawn, width),
            hint_line(HINTS, width),
        ]
        return lines[:height]

    def action_do(self, name: str) -> None:
        """Carries out an action by its name in the action table."""
        match name:
            case "leave_machine":
                self.dismiss(None)
                return
            case "go_to_lanes":
                self.dismiss(self.shown.rank)
                return
            case "nearer" | "farther":
                self.shown = replace(self.shown, is_near=name == "nearer")
            case "next_engine":
                self.shown = next_engine(self.shown, self.load)
            case "instant":
                self.shown = replace(self.shown, at_cursor=not self.shown.at_cursor)
                self.load = load_of(self._index, self._look, self.shown)
            case _:
                topology = self._index.timeline.topology
                self.shown = stepped(topology, self.shown, *STEPS[name])
        self.query_one("#machine", Painted).repaint()
