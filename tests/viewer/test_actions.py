"""The one table of keys."""

import os
import re
from pathlib import Path

from kerntape.viewer.actions import (
    ACTIONS,
    HINTS,
    key_table,
    named,
    on_timeline,
    sections,
)
from kerntape.viewer.model.help import found_actions, hint_line, key_lines
from kerntape.viewer.model.text import line_cells

GUIDE = Path(__file__).parents[2] / "docs" / "browser.md"


def text(line):
    return "".join(span.text for span in line).rstrip()


def test_no_key_does_two_things_on_the_timeline():
    keys = [key for action in on_timeline() for key in action.keys]
    assert sorted(keys) == sorted(set(keys))


def test_every_action_has_a_name_keys_and_words_of_its_own():
    assert len({action.name for action in ACTIONS}) == len(ACTIONS)
    for action in ACTIONS:
        assert action.keys or action.argument
        assert action.shown
        assert action.words
        assert named(action.name) is action


def test_help_shows_every_action_and_which_line_is_whose():
    listed = key_lines(sections(), "", 3, 120)
    assert {line_cells(line) for line in listed.lines} == {120}
    by_place = dict(zip(listed.places, listed.lines, strict=True))
    for place, action in enumerate(found_actions(sections(), "")):
        assert action.words in text(by_place[place])
        assert action.shown in text(by_place[place])
    assert len(by_place) == len(ACTIONS) + 1
    assert text(by_place[3]).startswith("  ›")


def test_help_filters_by_every_word_typed_in_keys_names_and_words():
    names = [action.name for action in found_actions(sections(), "Stage PREV")]
    assert "previous_stage" in names
    assert "next_stage" not in names
    shown = [text(line) for line in key_lines(sections(), "critical step", 0, 80).lines]
    assert shown == ["  Why", "  › o                 critical path, step by step"]
    assert [text(line) for line in key_lines(sections(), "xyzzy", -1, 80).lines] == [
        "  nothing fits"
    ]


def test_the_hints_give_way_from_the_middle_and_keep_help_and_quit():
    assert text(hint_line(HINTS, 100)).endswith("? keys  q quit")
    assert text(hint_line(HINTS, 45)) == " , . stage  [ ] why / then  ? keys  q quit"
    assert text(hint_line(HINTS, 30)) == " , . stage  ? keys  q quit"
    assert text(hint_line(HINTS, 18)) == " ? keys  q quit"


def test_the_guide_has_the_table_of_all_keys():
    if os.environ.get("KERNTAPE_WRITE_SNAPSHOTS"):
        guide = GUIDE.read_text(encoding="utf-8")
        table = re.compile(r"\| key \| what it does \|\n(\|.*\n)*")
        GUIDE.write_text(table.sub(lambda _: key_table(), guide), encoding="utf-8")
    assert key_table() in GUIDE.read_text(encoding="utf-8"), (
        "docs/browser.md must hold this table:\n" + key_table()
    )
