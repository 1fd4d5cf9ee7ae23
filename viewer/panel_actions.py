"""The part of the action table that belongs to the summary, the panels and the other screens."""

from .action import Action

SUMMARY, LISTS, BOOKMARKS, CALIBRATE, HAZARDS, COMPARE, MACHINE = (
    "In the summary",
    "In a list or panel",
    "In the list of bookmarks",
    "In the calibration panel",
    "In the list of hazards",
    "Side by side",
    "In the machine view",
)

PANEL_ACTIONS = (
    Action(
        "to_timeline",
        ("enter",),
        "Enter",
        SUMMARY,
        "to the timeline: what the chosen line is about",
    ),
    Action("leave_summary", ("escape", "u"), "Esc u", SUMMARY, "to the timeline as it was"),
    Action("line_down", ("down", "j"), "↓ j", SUMMARY, "next line"),
    Action("line_up", ("up", "k"), "↑ k", SUMMARY, "previous line"),
    Action("page_of_lines_down", ("pagedown",), "PgDn", SUMMARY, "a page down"),
    Action("page_of_lines_up", ("pageup",), "PgUp", SUMMARY, "a page up"),
    Action("first_line", ("home",), "Home", SUMMARY, "first line"),
    Action("last_line", ("end",), "End", SUMMARY, "last line"),
    Action("list_down", ("down", "j"), "↓ j", LISTS, "next line"),
    Action("list_up", ("up", "k"), "↑ k", LISTS, "previous line"),
    Action("list_page_down", ("pagedown", "space"), "PgDn", LISTS, "a page down"),
    Action("list_page_up", ("pageup",), "PgUp", LISTS, "a page up"),
    Action("list_first", ("home",), "Home", LISTS, "first line"),
    Action("list_last", ("end",), "End", LISTS, "last line"),
    Action("choose", ("enter",), "Enter", LISTS, "go there; in the calibration type the number"),
    Action(
        "close", ("escape", "q", "ctrl+c"), "Esc q", LISTS, "close; so does the key that opened it"
    ),
    Action("remove_bookmark", ("d", "delete"), "d Del", BOOKMARKS, "remove the chosen bookmark"),
    Action("turn_up", ("right", "l", "plus"), "→ l", CALIBRATE, "10 % more, or the next policy"),
    Action(
        "turn_down", ("left", "h", "minus"), "← h", CALIBRATE, "10 % less, or the policy before"
    ),
    Action("reset_row", ("r",), "r", CALIBRATE, "this number as it was"),
    Action("reset_all", ("R",), "R", CALIBRATE, "everything as it was"),
    Action("save_calibration", ("s",), "s", CALIBRATE, "save the numbers as a calibration file"),
    Action("compare_turned", ("x",), "x", CALIBRATE, "close, and compare with how it was"),
    Action("next_fate", ("o",), "o", HAZARDS, "only violated, potential, held, at no cost; all"),
    Action("next_kind", ("f",), "f", HAZARDS, "only RAW, WAR, WAW; all"),
    Action("same_pe", ("p",), "p", HAZARDS, "only those on the chosen one's PE; all"),
    Action("handle_filter", ("slash",), "/", HAZARDS, "only those on handles named like this"),
    Action("no_filter", ("r",), "r", HAZARDS, "no filter: every hazard"),
    Action("find_potential", ("a",), "a", HAZARDS, "find what can go wrong in any replay"),
    Action("next_difference", ("n",), "n", COMPARE, "next line of the table: where it is largest"),
    Action("previous_difference", ("N",), "N", COMPARE, "the line before"),
    Action("first_divergence", ("v",), "v", COMPARE, "the first moment at which the two are apart"),
    Action("swap_sides", ("tab",), "Tab", COMPARE, "the cursor to the other timeline"),
    Action("regroup", ("g",), "g", COMPARE, "table by engine, kind of stage, kernel line"),
    Action("find_beside", ("slash",), "/", COMPARE, "find on the cursor's side"),
    Action("match_after", ("greater_than_sign",), ">", COMPARE, "next stage that / found"),
    Action("match_before", ("less_than_sign",), "<", COMPARE, "previous stage that / found"),
    Action(
        "leave_comparison",
        ("x", "escape"),
        "x Esc",
        COMPARE,
        "back to the timeline, to this stage",
    ),
    Action(
        "quit_comparison",
        ("q", "ctrl+c"),
        "q ^C",
        COMPARE,
        "the same; as the first screen (view A B), leave",
    ),
    Action("pe_right", ("right", "l"), "→ l", MACHINE, "the PE on the right"),
    Action("pe_left", ("left", "h"), "← h", MACHINE, "the PE on the left"),
    Action("pe_down", ("down", "j"), "↓ j", MACHINE, "the PE below"),
    Action("pe_up", ("up", "k"), "↑ k", MACHINE, "the PE above"),
    Action("nearer", ("w", "W", "plus", "equals_sign"), "w +", MACHINE, "one CUBE, a box a PE"),
    Action("farther", ("s", "S", "minus", "underscore"), "s −", MACHINE, "all CUBEs, a glyph a PE"),
    Action("next_engine", ("n",), "n", MACHINE, "shade by the next engine"),
    Action("previous_engine", ("N",), "N", MACHINE, "shade by the engine before"),
    Action(
        "instant",
        ("t",),
        "t",
        MACHINE,
        "at the cursor's instant, or over the area or what is shown",
    ),
    Action("go_to_lanes", ("enter",), "Enter", MACHINE, "to this PE's lanes"),
    Action(
        "leave_machine",
        ("g", "M", "escape", "q", "ctrl+c"),
        "g Esc",
        MACHINE,
        "back to the timeline",
    ),
)


def in_section(*sections: str) -> tuple[Action, ...]:
    """The actions of some sections."""
    return tuple(action for action in PANEL_ACTIONS if action.section in sections)
