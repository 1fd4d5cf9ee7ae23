"""The one table of keys."""

from pathlib import Path

from kerntape.viewer.actions import (
    ACTIONS,
    HINTS,
    in_lists,
    key_table,
    named,
    on_timeline,
    sections,
)
from kerntape.viewer.model.help import help_lines, hint_line
from kerntape.viewer.model.text import line_cells

GUIDE = Path(__file__).parents[2] / "docs" / "browser.md"


def text(line):
    return "".join(span.text for span in line).rstrip()


def test_no_key_does_two_things_on_the_same_screen():
    for actions in (on_timeline(), in_lists()):
        keys = [key for action in actions for key in action.keys]
        assert sorted(keys) == sorted(set(keys))


def test_every_action_has_a_name_keys_and_words_of_its_own():
    assert len({action.name for action in ACTIONS}) == len(ACTIONS)
    for action in ACTIONS:
        assert action.keys
        assert action.shown
        assert action.words
        assert named(action.name) is action


def test_help_shows_every_action_in_one_column_or_two():
    for width in (60, 120):
        lines = help_lines(sections(), width)
        assert {line_cells(line) for line in lines} == {width}
        shown = "\n".join(text(line) for line in lines)
        for action in ACTIONS:
            assert action.words in shown
            assert action.shown in shown


def test_the_hints_give_way_from_the_middle_and_keep_help_and_quit():
    assert text(hint_line(HINTS, 100)).endswith("? keys  q quit")
    assert text(hint_line(HINTS, 45)) == " , . stage  [ ] why / then  ? keys  q quit"
    assert text(hint_line(HINTS, 30)) == " , . stage  ? keys  q quit"
    assert text(hint_line(HINTS, 18)) == " ? keys  q quit"


def test_the_guide_has_the_table_of_all_keys():
    assert key_table() in GUIDE.read_text(encoding="utf-8"), (
        "docs/browser.md must hold this table:\n" + key_table()
    )
