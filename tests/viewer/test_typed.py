"""What is typed after `:`."""

import pytest
from kerntape.viewer.actions import on_timeline
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.screens.doings import DOINGS, TYPED_DOINGS
from kerntape.viewer.typed import Typed, TypedError, completed, completions, names, parse
from kerntape.viewer.typed_actions import TYPED
from timeline_builder import decode_like, topology, two_commands


@pytest.fixture(scope="module")
def index():
    return TimelineIndex(two_commands().build(), "x")


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("7.4us", Typed("time", "7.4us")),
        ("12 ns", Typed("time", "12 ns")),
        ("#31", Typed("command", "31")),
        ("command 31", Typed("command", "31")),
        ("  line decode.py:8 ", Typed("line", "decode.py:8")),
        ("q", Typed("quit")),
        ("zoom_in", Typed("zoom_in")),
        ("find a b", Typed("find", "a b")),
        ("find", Typed("find")),
        ("export", Typed("export")),
        ("export csv loop", Typed("csv", "loop")),
        ("export svg", Typed("svg")),
        ("mark", Typed("mark")),
    ],
)
def test_a_text_is_an_action_and_its_argument(text, typed):
    assert parse(text) == typed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("zom_in", "no action is called 'zom_in'; did you mean 'zoom_in'?"),
        ("pe", "pe needs NUMBER: :pe 5"),
        ("zoom_in now", "zoom_in takes nothing behind it"),
        ("export png x", "export must be csv or svg, not 'png'"),
    ],
)
def test_what_cannot_be_done_is_said(text, said):
    with pytest.raises(TypedError) as caught:
        parse(text)
    assert str(caught.value) == said


def test_every_action_of_the_timeline_can_be_typed():
    assert set(names()) == {action.name for action in (*on_timeline(), *TYPED)}


def test_every_action_without_a_move_has_a_doing_or_is_the_screen_s_own():
    own = {"hazards", "summary", "calibrate", "compare", "machine", "export", "quit"}
    without = {action.name for action in on_timeline() if action.move is None}
    assert without - own <= set(DOINGS)
    assert {action.name for action in TYPED} <= set(TYPED_DOINGS)


def test_names_and_arguments_are_completed(index):
    assert completions("zoom", index) == ("zoom_in", "zoom_out")
    assert completed("zoo", index) == "zoom_"
    assert completed("zoom_i", index) == "zoom_in "
    assert completions("line ", index) == ("line decode.py:7", "line decode.py:8")
    assert completed("line ", index) == "line decode.py:"
    assert completions("export ", index) == ("export csv", "export svg")
    assert completed("xyz", index) == "xyz"


def test_pes_and_labels_are_completed():
    index = TimelineIndex(decode_like(1, launched=2, machine=topology(pes=(2, 1))), "x")
    assert completions("pe ", index) == ("pe 0", "pe 1")
    assert "find K" in completions("find ", index)
