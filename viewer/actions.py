"""The one table of what the browser's keys do: it makes the bindings, the help and docs/browser.md's table.

An action either moves (a pure function of index and look) or asks the screen for something.
Knows no Textual; keys have Textual's names (`comma`, `left_square_bracket`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from .model import look, steps
from .model.look import Move

STAGES, ROWS, TIME, WHY, MORE, LISTS = (
    "Stages",
    "Rows",
    "Time",
    "Why",
    "More",
    "In a list or panel",
)

PAGE_ROWS = 10


@dataclass(frozen=True)
class Action:
    """A thing one can do. `shown` is how the keys are written for people, `words` what they do.

    `move` is None for an action that the screen in front does itself, by its name.
    """

    name: str
    keys: tuple[str, ...]
    shown: str
    section: str
    words: str
    move: Move | None = None


ACTIONS = (
    Action(
        "next_stage",
        ("full_stop", "right", "l"),
        ". → l",
        STAGES,
        "next stage of this row",
        partial(steps.step_row, by=1),
    ),
    Action(
        "previous_stage",
        ("comma", "left", "h"),
        ", ← h",
        STAGES,
        "previous stage of this row",
        partial(steps.step_row, by=-1),
    ),
    Action(
        "next_in_pe",
        ("greater_than_sign", "shift+right"),
        "> ⇧→",
        STAGES,
        "next stage of this PE, on whichever engine",
        partial(steps.step_pe, by=1),
    ),
    Action(
        "previous_in_pe",
        ("less_than_sign", "shift+left"),
        "< ⇧←",
        STAGES,
        "previous stage of this PE",
        partial(steps.step_pe, by=-1),
    ),
    Action(
        "next_in_machine",
        ("right_parenthesis", "ctrl+right"),
        ") ^→",
        STAGES,
        "next stage in the whole machine",
        partial(steps.step_machine, by=1),
    ),
    Action(
        "previous_in_machine",
        ("left_parenthesis", "ctrl+left"),
        "( ^←",
        STAGES,
        "previous stage in the whole machine",
        partial(steps.step_machine, by=-1),
    ),
    Action(
        "next_command",
        ("right_curly_bracket",),
        "}",
        STAGES,
        "next command of this PE: its dispatch",
        partial(steps.step_command, by=1),
    ),
    Action(
        "previous_command",
        ("left_curly_bracket",),
        "{",
        STAGES,
        "previous command of this PE",
        partial(steps.step_command, by=-1),
    ),
    Action("first_stage", ("home",), "Home", STAGES, "first stage of this row", steps.first_in_row),
    Action("last_stage", ("end",), "End", STAGES, "last stage of this row", steps.last_in_row),
    Action(
        "cause",
        ("left_square_bracket",),
        "[",
        WHY,
        "back to the stage that let this one start",
        steps.cause_back,
    ),
    Action(
        "released",
        ("right_square_bracket",),
        "]",
        WHY,
        "on to the stage that this one let start",
        steps.cause_forward,
    ),
    Action(
        "trail_back",
        ("backspace",),
        "Backspace",
        WHY,
        "one step back on the trail",
        steps.trail_back,
    ),
    Action("hazards", ("tab",), "Tab", WHY, "hazards: held, violated, potential"),
    Action("summary", ("s",), "s", WHY, "summary: busy, idle and why, critical path"),
    Action("row_down", ("down", "j"), "↓ j", ROWS, "the row below", partial(steps.move_rows, by=1)),
    Action("row_up", ("up", "k"), "↑ k", ROWS, "the row above", partial(steps.move_rows, by=-1)),
    Action(
        "page_down",
        ("pagedown",),
        "PgDn",
        ROWS,
        "ten rows down",
        partial(steps.move_rows, by=PAGE_ROWS),
    ),
    Action(
        "page_up", ("pageup",), "PgUp", ROWS, "ten rows up", partial(steps.move_rows, by=-PAGE_ROWS)
    ),
    Action("fold", ("enter",), "Enter", ROWS, "fold or unfold this group", steps.toggle_fold),
    Action("zoom_in", ("W", "w", "plus", "equals_sign"), "W +", TIME, "zoom in", look.zoom_in),
    Action("zoom_out", ("S", "minus", "underscore"), "S −", TIME, "zoom out", look.zoom_out),
    Action("pan_left", ("A", "a"), "A", TIME, "pan to earlier times", look.pan_left),
    Action("pan_right", ("D", "d"), "D", TIME, "pan to later times", look.pan_right),
    Action("show_all", ("0",), "0", TIME, "the whole timeline", look.show_all),
    Action("focus", ("f",), "f", TIME, "the selected stage in the middle, large", look.focus),
    Action("jump", ("g", "colon"), "g :", TIME, "jump to a time (7.4us) or a command (#31)"),
    Action("export", ("e",), "e", MORE, "save this screen as an SVG picture"),
    Action("help", ("question_mark", "f1"), "?", MORE, "these keys"),
    Action("quit", ("q", "ctrl+c"), "q", MORE, "quit"),
    Action("list_down", ("down", "j"), "↓ j", LISTS, "next line"),
    Action("list_up", ("up", "k"), "↑ k", LISTS, "previous line"),
    Action("list_page_down", ("pagedown", "space"), "PgDn", LISTS, "a page down"),
    Action("list_page_up", ("pageup",), "PgUp", LISTS, "a page up"),
    Action("list_first", ("home",), "Home", LISTS, "first line"),
    Action("list_last", ("end",), "End", LISTS, "last line"),
    Action("choose", ("enter",), "Enter", LISTS, "show both stages of the hazard"),
    Action(
        "close", ("escape", "q", "ctrl+c"), "Esc q", LISTS, "close; so does the key that opened it"
    ),
)

HINTS = (
    (", .", "stage"),
    ("[ ]", "why / then"),
    ("⇥", "hazards"),
    ("s", "summary"),
    ("W S", "zoom"),
    ("g", "go to"),
    ("?", "keys"),
    ("q", "quit"),
)
"""The keys of the screen's last line."""


def sections() -> Iterator[tuple[str, list[Action]]]:
    """The table by section, in the order for reading."""
    for section in (STAGES, WHY, ROWS, TIME, MORE, LISTS):
        yield section, [action for action in ACTIONS if action.section == section]


def on_timeline() -> tuple[Action, ...]:
    """The actions of the main screen."""
    return tuple(action for action in ACTIONS if action.section != LISTS)


def in_lists() -> tuple[Action, ...]:
    """The actions of the lists and panels over it."""
    return tuple(action for action in ACTIONS if action.section == LISTS)


def named(name: str) -> Action:
    """The action of that name. Raises KeyError where there is none."""
    return {action.name: action for action in ACTIONS}[name]


def key_table() -> str:
    """The table of docs/browser.md, as Markdown."""
    lines = ["| key | what it does |", "|---|---|"]
    for section, actions in sections():
        lines.append(f"| **{section}** | |")
        lines += [f"| `{action.shown}` | {action.words} |" for action in actions]
    return "\n".join(lines) + "\n"
