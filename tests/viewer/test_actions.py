"""The one table of keys."""

import os
import re
from pathlib import Path

import pytest
from kerntape.viewer.actions import (
    ACTIONS,
    HINTS,
    key_table,
    named,
    on_timeline,
    sections,
    sections_for,
)
from kerntape.viewer.model.help import (
    entries_line,
    found_actions,
    hint_line,
    key_lines,
    no_key_words,
    offers_line,
    panel_title,
)
from kerntape.viewer.model.text import line_cells
from kerntape.viewer.panel_actions import (
    BOOKMARKS,
    CALIBRATE,
    COMPARE,
    HAZARDS,
    LISTS,
    MACHINE,
    SUMMARY,
)
from kerntape.viewer.screens import compare, machine, summary
from kerntape.viewer.screens.bookmarks_panel import BookmarksPanel
from kerntape.viewer.screens.calibrate import CalibratePanel
from kerntape.viewer.screens.hazards import HazardPanel
from kerntape.viewer.screens.panel import Panel
from kerntape.viewer.typed_actions import TYPED, TYPING
from painted_text import line_text

GUIDE = Path(__file__).parents[2] / "docs" / "browser.md"


def test_no_key_does_two_things_on_the_timeline():
    keys = [key for action in on_timeline() for key in action.keys]
    assert sorted(keys) == sorted(set(keys))


def test_every_action_has_a_name_keys_and_words_of_its_own():
    assert len({action.name for action in ACTIONS}) == len(ACTIONS)
    for action in ACTIONS:
        assert action.keys or action.section == TYPING
        assert action.shown
        assert action.words
        assert named(action.name) is action


def test_help_shows_every_action_and_which_line_is_whose():
    listed = key_lines(sections(), "", 3, 120)
    assert {line_cells(line) for line in listed.lines} == {120}
    by_place = dict(zip(listed.places, listed.lines, strict=True))
    for place, action in enumerate(found_actions(sections(), "")):
        assert action.words in line_text(by_place[place])
        assert action.shown in line_text(by_place[place])
    assert len(by_place) == len(ACTIONS) + 1
    assert line_text(by_place[3]).startswith("  ›")


def test_help_filters_by_every_word_typed_in_keys_names_and_words():
    names = [action.name for action in found_actions(sections(), "Stage PREV")]
    assert "previous_stage" in names
    assert "next_stage" not in names
    shown = [line_text(line) for line in key_lines(sections(), "critical step", 0, 80).lines]
    assert shown == ["  Why", "  › o                 critical path, step by step"]
    assert [line_text(line) for line in key_lines(sections(), "xyzzy", -1, 80).lines] == [
        "  nothing fits"
    ]


def test_the_hints_give_way_from_the_middle_and_keep_help_and_quit():
    assert line_text(hint_line(HINTS, 100)).endswith("? keys  q quit")
    assert line_text(hint_line(HINTS, 45)) == " , . stage  [ ] why / then  ? keys  q quit"
    assert line_text(hint_line(HINTS, 80)) == (
        " , . stage  [ ] why / then  w s zoom  / find  ⇥ hazards  ? keys  q quit"
    )
    assert line_text(hint_line(HINTS, 30)) == " , . stage  ? keys  q quit"
    assert line_text(hint_line(HINTS, 18)) == " ? keys  q quit"


@pytest.mark.parametrize("width", [40, 80, 100, 200])
@pytest.mark.parametrize(
    "hints", [HINTS, summary.HINTS, compare.HINTS, compare.FIRST_HINTS, machine.HINTS]
)
def test_the_last_line_has_whole_hints_only_with_help_and_the_way_out(hints, width):
    entries = [f"{keys} {words}" for keys, words in hints]
    line = hint_line(hints, width)
    assert line_cells(line) == width
    shown = line_text(line).strip().split("  ")
    assert set(shown) <= set(entries)
    assert shown[-2:] == entries[-2:]
    assert shown[:-2] == entries[: len(shown) - 2]
    assert shown[-2] == "? keys"


SCREENS = {
    "Stages": (*on_timeline(), *TYPED),
    SUMMARY: summary.OWN,
    LISTS: Panel.OWN,
    BOOKMARKS: BookmarksPanel.OWN,
    CALIBRATE: CalibratePanel.OWN,
    HAZARDS: HazardPanel.OWN,
    COMPARE: compare.OWN,
    MACHINE: machine.OWN,
}


@pytest.mark.parametrize(("first", "own"), SCREENS.items(), ids=SCREENS)
def test_help_shows_the_sections_first_of_which_the_screen_has_most(first, own):
    mine = {action.name for action in own}
    titles, shares = [], []
    for title, actions in sections_for(own):
        titles.append(title)
        shares.append(sum(action.name in mine for action in actions) / len(actions))
    assert titles[0] == first
    assert shares == sorted(shares, reverse=True)
    assert sorted(titles) == sorted(title for title, _ in sections())


def test_a_panel_s_own_section_comes_before_that_of_all_panels():
    titles = [title for title, _ in sections_for(HazardPanel.OWN)]
    assert titles[:3] == [HAZARDS, LISTS, "More"]


def test_help_lists_the_glyphs_and_finds_them():
    shown = [line_text(line) for line in key_lines(sections(), "pinned", -1, 80).lines]
    assert shown == ["  Glyphs", "    ┬                 a row that P pinned to the top"]
    assert "  Glyphs" in [line_text(line) for line in key_lines(sections(), "", -1, 80).lines]


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (60, "── hazards · 4 ─── Enter show · a any · ? keys · Esc close ─"),
        (50, "── hazards · 4 ─ Enter show · ? keys · Esc close ─"),
        (40, "── hazards · 4 ──── ? keys · Esc close ─"),
        (29, "── haza… ? keys · Esc close ─"),
    ],
)
def test_a_panel_s_keys_are_cut_at_whole_ones_and_help_and_close_are_always_there(width, shown):
    line = panel_title("hazards · 4", "Enter show · a any", width, is_said=False)
    assert line_cells(line) == width
    assert line_text(line) == shown


def test_what_a_panel_says_goes_before_its_keys():
    line = panel_title("area · saved 12 stages as area.csv", "E save", 50, is_said=True)
    assert line_text(line) == "── area · saved 12 stages as area.csv " + "─" * 12
    assert "? keys" in line_text(panel_title("area · saved", "E save", 60, is_said=True))


def test_the_entries_of_a_prompt_are_cut_at_whole_ones():
    assert (
        line_text(entries_line("7.4us · #31 · or any action", 30)) == " 7.4us · #31 · or any action"
    )
    assert line_text(entries_line("7.4us · #31 · or any action", 20)) == " 7.4us · #31"


def test_offers_are_cut_at_whole_ones_and_the_rest_is_counted():
    assert line_text(offers_line(("zoom_in", "zoom_out"), 30)) == " zoom_in  zoom_out"
    assert line_text(offers_line(("one", "two", "three", "four"), 20)) == " one  two  … 2 more"
    assert line_text(offers_line(("a_very_long_one", "b"), 10)) == " a_very_l…"


def test_a_key_that_is_none_is_named_as_it_is_typed():
    assert no_key_words("dollar_sign", "$") == "$ does nothing here: ? lists the keys"
    assert no_key_words("f5", None) == "f5 does nothing here: ? lists the keys"
    assert no_key_words("alt+c", "c") == "alt+c does nothing here: ? lists the keys"


def test_the_guide_has_the_table_of_all_keys():
    if os.environ.get("KERNTAPE_WRITE_SNAPSHOTS"):
        guide = GUIDE.read_text(encoding="utf-8")
        table = re.compile(r"\| key \| what it does \|\n(\|.*\n)*")
        GUIDE.write_text(table.sub(lambda _: key_table(), guide), encoding="utf-8")
    assert key_table() in GUIDE.read_text(encoding="utf-8"), (
        "docs/browser.md must hold this table:\n" + key_table()
    )
