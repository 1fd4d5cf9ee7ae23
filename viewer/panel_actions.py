"""The part of the action table that belongs to the panels and screens over the timeline."""

from .action import Action

CALIBRATE, HAZARDS, COMPARE, MACHINE = (
    "In the calibration panel",
    "In the list of hazards",
    "Side by side",
    "In the machine view",
)

PANEL_ACTIONS = (
    Action("turn_up", ("right", "l", "plus"), "→ l", CALIBRATE, "10 % more, or the next policy"),
    Action(
        "turn_down", ("left", "h", "minus"), "← h", CALIBRATE, "10 % less, or the policy before"
    ),
    Action("reset_row", ("r",), "r", CALIBRATE, "this number as it was"),
    Action("reset_all", ("R",), "R", CALIBRATE, "everything as it was"),
    Action("save_calibration", ("s",), "s", CALIBRATE, "save the numbers as a calibration file"),
    Action("next_outcome", ("o",), "o", HAZARDS, "only violated, potential, held; all"),
    Action("next_kind", ("f",), "f", HAZARDS, "only RAW, WAR, WAW; all"),
    Action("same_pe", ("p",), "p", HAZARDS, "only those on the chosen one's PE; all"),
    Action("handle_filter", ("slash",), "/", HAZARDS, "only those on handles named like this"),
    Action("no_filter", ("r",), "r", HAZARDS, "all of them"),
    Action("find_potential", ("a",), "a", HAZARDS, "find what can go wrong in any replay"),
    Action("next_difference", ("n",), "n", COMPARE, "next line of the table: where it is largest"),
    Action("previous_difference", ("N",), "N", COMPARE, "the line before"),
    Action("first_divergence", ("v",), "v", COMPARE, "the first moment at which the two are apart"),
    Action("swap_sides", ("tab",), "Tab", COMPARE, "the cursor to the other timeline"),
    Action("regroup", ("g",), "g", COMPARE, "table by engine, kind of stage, kernel line"),
    Action(
        "leave_comparison", ("x", "escape", "q", "ctrl+c"), "x Esc", COMPARE, "back, to this stage"
    ),
    Action("pe_right", ("right", "l"), "→ l", MACHINE, "the PE on the right"),
    Action("pe_left", ("left", "h"), "← h", MACHINE, "the PE on the left"),
    Action("pe_down", ("down", "j"), "↓ j", MACHINE, "the PE below"),
    Action("pe_up", ("up", "k"), "↑ k", MACHINE, "the PE above"),
    Action("nearer", ("w", "W", "plus", "equals_sign"), "w +", MACHINE, "one CUBE, a box a PE"),
    Action("farther", ("s", "S", "minus", "underscore"), "s −", MACHINE, "all CUBEs, a glyph a PE"),
    Action("next_engine", ("e",), "e", MACHINE, "shade by the next engine"),
    Action("instant", ("t",), "t", MACHINE, "at the cursor's instant, or over what is shown"),
    Action("go_to_lanes", ("enter",), "Enter", MACHINE, "to this PE's lanes"),
    Action("leave_machine", ("g", "M", "escape", "q", "ctrl+c"), "g Esc", MACHINE, "back"),
)


def in_section(section: str) -> tuple[Action, ...]:
    """The actions of one of the screens."""
    return tuple(action for action in PANEL_ACTIONS if action.section == section)
