"""The one table of what the browser's keys do: it makes the bindings, the help and docs/browser.md's table.

An action either moves (a pure function of index and look) or asks the screen for something.
Knows no Textual; keys have Textual's names (`comma`, `left_square_bracket`).
"""

from collections.abc import Iterator
from functools import partial

from .action import Action
from .model import look, marking, rows, steps
from .model.look import Overlay
from .panel_actions import (
    CALIBRATE,
    COMPARE,
    HAZARDS,
    LISTS,
    MACHINE,
    PANEL_ACTIONS,
    SUMMARY,
)
from .typed_actions import TYPED, TYPING

STAGES, ROWS, TIME, WHY, MORE = "Stages", "Rows", "Time", "Why", "More"

ON_TIMELINE = (STAGES, WHY, ROWS, TIME, MORE)
PANELS = (LISTS, CALIBRATE, HAZARDS)

EVERYWHERE = ("help", "export", "export_csv", "theme")
"""The names of the timeline's actions that every screen has, on the same keys."""

PAGE_ROWS = 10


FOLDS = (
    "the outermost groups only",
    "one level of groups more",
    "two levels of groups more",
    "every row",
)

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
        ("L", "shift+right"),
        "L ⇧→",
        STAGES,
        "next stage of this PE, on whichever engine",
        partial(steps.step_pe, by=1),
    ),
    Action(
        "previous_in_pe",
        ("H", "shift+left"),
        "H ⇧←",
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
    Action(
        "next_tile",
        ("t",),
        "t",
        STAGES,
        "the same work in the next tile or composite",
        partial(steps.step_tile, by=1),
    ),
    Action(
        "previous_tile",
        ("T",),
        "T",
        STAGES,
        "the same work in the previous tile",
        partial(steps.step_tile, by=-1),
    ),
    Action("next_hazard", ("z",), "z", STAGES, "next command that a hazard held or harmed"),
    Action("previous_hazard", ("Z",), "Z", STAGES, "previous command that a hazard held or harmed"),
    Action("next_match", ("n",), "n", STAGES, "next stage that / found"),
    Action("previous_match", ("N",), "N", STAGES, "previous stage that / found"),
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
        "next_released",
        ("backslash",),
        "\\",
        WHY,
        "another stage that the same one let start",
        steps.next_released,
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
    Action("summary", ("u",), "u", WHY, "summary: busy, idle and why, critical path"),
    Action(
        "path",
        ("p",),
        "p",
        WHY,
        "critical path: heavy on the rows, a strip below",
        partial(look.toggle_overlay, overlay=Overlay.PATH),
    ),
    Action("path_steps", ("o",), "o", WHY, "critical path, step by step"),
    Action(
        "idle",
        ("i",),
        "i",
        WHY,
        "idle time by what the engine waited for",
        partial(look.toggle_overlay, overlay=Overlay.IDLE),
    ),
    Action("deadlock", ("exclamation_mark",), "!", WHY, "deadlock: who waits for whom"),
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
    *(
        Action(
            f"fold_{depth + 1}",
            (str(depth + 1),),
            str(depth + 1),
            ROWS,
            f"{words}",
            partial(rows.fold_to, depth=depth),
        )
        for depth, words in enumerate(FOLDS)
    ),
    Action("pin", ("P",), "P", ROWS, "pin this row to the top, or let it go", rows.toggle_pin),
    Action("filter", ("F",), "F", ROWS, "only the rows whose name matches a pattern"),
    Action(
        "idle_rows",
        ("I",),
        "I",
        ROWS,
        "hide rows that do nothing here; again: show all",
        rows.toggle_idle_rows,
    ),
    Action("zoom_in", ("w", "W", "plus", "equals_sign"), "w W +", TIME, "zoom in", look.zoom_in),
    Action("zoom_out", ("s", "S", "minus", "underscore"), "s S −", TIME, "zoom out", look.zoom_out),
    Action("pan_left", ("a", "A"), "a A", TIME, "pan to earlier times", look.pan_left),
    Action("pan_right", ("d", "D"), "d D", TIME, "pan to later times", look.pan_right),
    Action("show_all", ("0",), "0", TIME, "the whole timeline", look.show_all),
    Action("focus", ("f",), "f", TIME, "the selected stage in the middle, large", steps.focus),
    Action("play", ("space",), "Space", TIME, "play, until the end or any key"),
    Action("play_faster", ("greater_than_sign",), ">", TIME, "play twice as fast"),
    Action("play_slower", ("less_than_sign",), "<", TIME, "play half as fast"),
    Action("set_mark", ("m",), "m", TIME, "mark this place; Δ counts from it", marking.set_mark),
    Action("to_mark", ("apostrophe",), "'", TIME, "to the mark, and back", marking.to_mark),
    Action("area", ("v",), "v", TIME, "area: begin, end and study it, take it away"),
    Action("area_figures", ("V",), "V", TIME, "the area's figures again"),
    Action("find", ("slash",), "/", MORE, "find: kinds, ops, handles, kernel lines"),
    Action("command_line", ("colon",), ":", MORE, "type what to do or where to go"),
    Action("bookmark", ("b",), "b", MORE, "bookmark this place"),
    Action("bookmarks", ("B",), "B", MORE, "bookmarks and notes"),
    Action("calibrate", ("c",), "c", MORE, "calibrate: turn a number, see the run change"),
    Action("compare", ("x",), "x", MORE, "compare: two files, or before and after c"),
    Action("machine", ("g", "M"), "g M", MORE, "the machine: how busy its PEs and links are"),
    Action("export", ("e",), "e", MORE, "save this screen as an SVG picture"),
    Action("export_csv", ("E",), "E", MORE, "save what is shown, or the area, as a CSV table"),
    Action("theme", ("C",), "C", MORE, "light or dark colours"),
    Action("help", ("question_mark", "f1", "ctrl+p"), "? ^P", MORE, "all keys: type to find one"),
    Action("quit", ("q", "ctrl+c"), "q", MORE, "quit"),
    *PANEL_ACTIONS,
    *TYPED,
)

HINTS = (
    (", .", "stage"),
    ("[ ]", "why / then"),
    ("⇥", "hazards"),
    ("u", "summary"),
    ("p", "path"),
    ("w s", "zoom"),
    ("/", "find"),
    (":", "go to"),
    ("?", "keys"),
    ("q", "quit"),
)
"""The keys of the screen's last line."""


def sections() -> Iterator[tuple[str, list[Action]]]:
    """The table by section, in the order for reading."""
    for section in (*ON_TIMELINE, TYPING, SUMMARY, *PANELS, COMPARE, MACHINE):
        actions = [action for action in ACTIONS if action.section == section]
        if actions:
            yield section, actions


def on_timeline() -> tuple[Action, ...]:
    """The actions of the main screen."""
    return tuple(action for action in ACTIONS if action.section in ON_TIMELINE)


def everywhere() -> tuple[Action, ...]:
    """The actions that every screen has."""
    return tuple(named(name) for name in EVERYWHERE)


def without_keys_of(actions: tuple[Action, ...], taken: tuple[Action, ...]) -> tuple[Action, ...]:
    """The actions none of whose keys means something else on a screen."""
    mine = {key for action in taken for key in action.keys}
    return tuple(action for action in actions if not mine.intersection(action.keys))


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
