"""The machine view: which PEs and links are busy, and the way of the selected message."""

from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from ..actions import everywhere
from ..model.help import hint_line, no_key_words
from ..model.index import TimelineIndex
from ..model.look import Look
from ..model.machine import (
    LOAD_COLUMNS,
    Load,
    MachineLook,
    first_machine_look,
    load_of,
    load_rows,
    message_of,
    next_engine,
    stepped,
)
from ..model.machine_lines import map_lines, more_words, rank_under
from ..model.machine_words import Drawn, machine_detail, machine_title
from ..model.text import Line, Span, fit_line
from ..model.tones import STRONG
from ..panel_actions import MACHINE, in_section
from ..widgets.painted import Painted
from .host import PictureAsked, ThemeAsked
from .keys import show_keys
from .panel import bindings
from .saving import save_table

FIXED_LINES = 6
"""The title, an empty line, three lines of detail, the hints."""

STEPS = {"pe_right": (1, 0), "pe_left": (-1, 0), "pe_down": (0, 1), "pe_up": (0, -1)}

NO_ZOOM = {"nearer": "this is one CUBE, a box a PE", "farther": "these are all CUBEs"}
"""What is said where it is as near or as far as can be."""

HINTS = (
    ("← → ↑ ↓", "PE"),
    ("w s", "near / far"),
    ("n N", "engine"),
    ("t", "instant / range"),
    ("Enter", "its lanes"),
    ("?", "keys"),
    ("g", "back"),
)

OWN = (*in_section(MACHINE), *everywhere())


class MachineScreen(Screen[int | None]):
    """Closes with the rank of the PE to whose lanes to go, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(OWN)
    AUTO_FOCUS = None
    ALLOW_SELECT = False

    def __init__(self, index: TimelineIndex, look: Look) -> None:
        super().__init__()
        self._index = index
        self._look = look
        self.shown: MachineLook = first_machine_look(index, look)
        self.load: Load = load_of(index, look, self.shown)
        self._way = message_of(index, look.stage)
        self._message = ""
        self._map = Painted(self._painted, id="machine")

    def compose(self) -> ComposeResult:
        yield self._map

    def _drawn(self) -> Drawn:
        return Drawn(self._index.timeline.topology, self.load, self.shown, self._way)

    def _painted(self, width: int, height: int) -> list[Line]:
        drawn, room = self._drawn(), max(height - FIXED_LINES, 0)
        said = fit_line((Span(f" {self._message}", STRONG),), width)
        lines = [
            machine_title(drawn, width, more_words(drawn, width)),
            *map_lines(drawn, width, room),
            fit_line((), width),
            *machine_detail(drawn, width),
            said if self._message else hint_line(HINTS, width),
        ]
        return lines[:height]

    def say(self, message: str) -> None:
        """Says something in the last line, until the next key."""
        self._message = message
        self._repaint()

    def _repaint(self) -> None:
        self._map.repaint()

    # ---------------------------------------------------------------- keys

    def action_do(self, name: str) -> None:
        """Carries out an action by its name in the action table."""
        self._message = ""
        topology = self._index.timeline.topology
        match name:
            case "leave_machine":
                self.dismiss(None)
                return
            case "go_to_lanes":
                self.dismiss(self.shown.rank)
                return
            case "help":
                show_keys(self, OWN)
            case "save_picture":
                self.post_message(PictureAsked(self.say, "machine"))
            case "save_table":
                rows = load_rows(topology, self.load)
                save_table(self, "machine", LOAD_COLUMNS, rows, "the load of PEs and links")
            case "theme":
                self.post_message(ThemeAsked())
            case "nearer" | "farther":
                self._show(replace(self.shown, is_near=name == "nearer"), NO_ZOOM[name])
            case "next_engine" | "previous_engine":
                by = 1 if name == "next_engine" else -1
                self._show(next_engine(self.shown, self.load, by), "no other kind of engine ran")
            case "instant":
                self.shown = replace(self.shown, at_cursor=not self.shown.at_cursor)
                self.load = load_of(self._index, self._look, self.shown)
            case _:
                self._show(stepped(topology, self.shown, *STEPS[name]), "the machine ends here")
        self._repaint()

    def _show(self, shown: MachineLook, if_alike: str) -> None:
        """Another look, or what there is to say where it is the same."""
        self._message = if_alike if shown == self.shown else ""
        self.shown = shown

    def on_key(self, event: events.Key) -> None:
        """A key that is none here."""
        self.say(no_key_words(event.key, event.character))

    # ---------------------------------------------------------------- mouse

    def on_painted_clicked(self, event: Painted.Clicked) -> None:
        """A click chooses a PE; one on the chosen PE goes to its lanes."""
        size = self.size.width, max(self.size.height - FIXED_LINES, 0)
        cell = event.column, event.line - 1
        rank = rank_under(self._drawn(), cell, size) if 0 <= cell[1] < size[1] else None
        if rank == self.shown.rank:
            self.dismiss(rank)
        elif rank is not None:
            self.shown = replace(self.shown, rank=rank)
            self._repaint()

    def on_painted_wheeled(self, event: Painted.Wheeled) -> None:
        """The wheel goes near and far."""
        self.action_do("nearer" if event.by < 0 else "farther")
