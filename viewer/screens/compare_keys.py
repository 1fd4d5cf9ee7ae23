"""The keys of two timelines side by side: the screen's own, and the timeline's moves that work there too."""

from ..action import Action
from ..actions import everywhere, on_timeline, without_keys_of
from ..panel_actions import COMPARE, in_section
from ..timeline_actions import ROWS, STAGES, TIME, WHY

MARKING = ("set_mark", "to_mark")

HINTS = (
    (", .", "stage"),
    ("n N", "differences"),
    ("v", "first apart"),
    ("⇥", "other side"),
    ("g", "group"),
    ("/", "find"),
    ("m", "mark"),
    ("?", "keys"),
    ("x", "back"),
)
QUIT = ("q", "quit")
FIRST_HINTS = (("x", "timeline"), *HINTS[:-1], QUIT)
"""The keys of the last line, and those where it is the first screen of all."""


def compare_moves() -> tuple[Action, ...]:
    """The timeline's moves that work here too: those whose keys this screen does not need itself."""
    moves = (
        action
        for action in on_timeline()
        if action.move is not None
        and action.section in (STAGES, ROWS, TIME, WHY)
        and action.name != "idle"
    )
    return without_keys_of(tuple(moves), (*in_section(COMPARE), *everywhere()))


OWN = (*in_section(COMPARE), *compare_moves(), *everywhere())
