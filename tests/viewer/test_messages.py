"""What is said fits the screen: in as many lines as there are, or in fewer words."""

from types import SimpleNamespace

import pytest
from kerntape.viewer.actions import named
from kerntape.viewer.model.fates import Fate
from kerntape.viewer.model.help import said_lines
from kerntape.viewer.model.matching import _too_long
from kerntape.viewer.screens.finder import pattern_complaint
from kerntape.viewer.screens.hazards import _found_words
from kerntape.viewer.screens.panel import Panel
from painted_text import line_texts


def test_a_message_takes_as_many_lines_as_it_needs_and_three_at_most():
    assert said_lines("", 20) == []
    assert line_texts(said_lines("saved a b.svg", 20)) == [" saved a b.svg"]
    # 19 cells beside the first space
    missing = "there is no folder x; create the folder first"
    assert line_texts(said_lines(missing, 20)) == [
        " there is no folder",
        " x; create the",
        " folder first",
    ]
    assert line_texts(said_lines("nine cell " * 8, 20))[2] == " nine cell nine cel…"


def test_what_is_wrong_with_a_pattern_fits_eighty_columns():
    unterminated = "must be a regular expression: missing ), unterminated subpattern at position 0"
    assert pattern_complaint("(") == unterminated
    assert len(unterminated) == 78
    assert len(_too_long()) < 80


@pytest.mark.parametrize(
    ("violated", "potential", "words"),
    [
        (0, 0, "no pair can go wrong"),
        (7, 0, "nothing else can go wrong"),
        (0, 2, "2 can go wrong"),
        (7, 2, "2 more can go wrong"),
    ],
)
def test_what_the_search_found_is_said_of_pairs_not_of_the_run(violated, potential, words):
    counts = {Fate.VIOLATED: violated, Fate.POTENTIAL: potential}
    assert _found_words(SimpleNamespace(counts=counts)) == words


@pytest.mark.parametrize(("width", "shown"), [(60, "title · "), (40, "")])
def test_what_a_panel_says_takes_the_place_of_its_title_where_both_do_not_fit(width, shown):
    panel = Panel("title", "area", lambda width: [])
    panel._message = "x" * 30  # 30 and the title's 8 and the rule's 4 fit 60, not 40
    assert line_texts(panel._painted(width, 1))[0].startswith(f"── {shown}{'x' * 30} ")


def test_every_key_that_leaves_is_listed():
    leave = named("quit")
    assert (leave.keys, leave.shown) == (("q", "ctrl+c", "ctrl+q"), "q ^C ^Q")
