"""The one table of what the browser's keys do: it makes the bindings, the help and docs/browser.md's table.

An action either moves (a pure function of index and look) or asks the screen for something.
Knows no Textual; keys have Textual's names (`comma`, `left_square_bracket`).
"""

from collections.abc import Iterator
from fractions import Fraction

from .action import Action
from .panel_actions import (
    BOOKMARKS,
    CALIBRATE,
    COMPARE,
    HAZARDS,
    LISTS,
    MACHINE,
    PANEL_ACTIONS,
    SUMMARY,
)
from .timeline_actions import MORE, ROWS, STAGES, TIME, TIMELINE_ACTIONS, WHY
from .typed_actions import TYPED, TYPING

ON_TIMELINE = (STAGES, WHY, ROWS, TIME, MORE)
PANELS = (LISTS, BOOKMARKS, CALIBRATE, HAZARDS)

EVERYWHERE = ("help", "save_picture", "save_table", "theme")
"""The names of the timeline's actions that every screen has, on the same keys."""

ACTIONS = (*TIMELINE_ACTIONS, *PANEL_ACTIONS, *TYPED)

HINTS = (
    (", .", "stage"),
    ("[ ]", "why / then"),
    ("w s", "zoom"),
    ("/", "find"),
    ("⇥", "hazards"),
    (":", "go to"),
    ("u", "summary"),
    ("p", "path"),
    ("O", "stage box"),
    ("?", "keys"),
    ("q", "quit"),
)
"""The keys of the screen's last line, the most important first, and those that are always there."""


def sections() -> Iterator[tuple[str, list[Action]]]:
    """The table by section, in the order for reading."""
    for section in (*ON_TIMELINE, TYPING, SUMMARY, *PANELS, COMPARE, MACHINE):
        actions = [action for action in ACTIONS if action.section == section]
        if actions:
            yield section, actions


def sections_for(own: tuple[Action, ...]) -> list[tuple[str, list[Action]]]:
    """The table by section for a screen that has the actions `own`: those sections first of which it
    has the largest share, of equal ones the one that `own` names first.
    """
    places = {action.section: place for place, action in enumerate(reversed(own))}
    mine = {action.name for action in own}

    def share(section: tuple[str, list[Action]]) -> tuple[Fraction, int]:
        title, actions = section
        has = sum(action.name in mine for action in actions)
        return Fraction(has, len(actions)), places.get(title, -1)

    return sorted(sections(), key=share, reverse=True)


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
