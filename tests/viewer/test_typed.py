"""What is typed after `:`."""

import pytest
from kerntape.viewer.actions import ACTIONS, ON_TIMELINE, on_timeline
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.screens.doings import DOINGS, TYPED_DOINGS
from kerntape.viewer.typed import Typed, TypedError, completed, completions, names, parse
from kerntape.viewer.typed_actions import TYPED, TYPING
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
        ("-5ns", Typed("time", "-5ns")),
        ("table loop", Typed("table", "loop")),
        ("table", Typed("table")),
        ("picture", Typed("picture")),
        ("E", Typed("save_table")),
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
        ("save_picture x", "save_picture takes nothing behind it"),
        ("turn_up", "turn_up is for another screen: in the calibration panel"),
        ("x" * 5000, f"no action is called '{'x' * 23}…'"),
    ],
)
def test_what_cannot_be_done_is_said(text, said):
    with pytest.raises(TypedError) as caught:
        parse(text)
    assert str(caught.value).split("; known")[0] == said


def test_every_action_of_the_table_can_be_typed_or_is_said_to_be_for_another_screen():
    refused = {}
    for action in ACTIONS:
        try:
            parse(f"{action.name} {action.argument}")
        except TypedError as error:
            refused[action] = str(error)
    assert {action.section for action in ACTIONS if action not in refused} == {
        *ON_TIMELINE,
        TYPING,
    }
    assert all(
        said == f"{action.name} is for another screen: {action.section.lower()}"
        for action, said in refused.items()
    )


def test_every_action_of_the_timeline_can_be_typed():
    assert set(names()) == {action.name for action in (*on_timeline(), *TYPED)}


def test_every_action_without_a_move_has_a_doing_or_is_the_screen_s_own():
    own = {"hazards", "summary", "calibrate", "compare", "machine", "export", "quit"}
    without = {action.name for action in on_timeline() if action.move is None}
    assert without - own <= set(DOINGS)
    assert {action.name for action in TYPED if action.argument} <= set(TYPED_DOINGS)
    assert {action.name for action in TYPED if not action.argument} <= set(DOINGS)


def test_names_and_arguments_are_completed(index):
    assert completions("zoom", index) == ("zoom_in", "zoom_out")
    assert completed("zoo", completions("zoo", index)) == "zoom_"
    assert completed("zoom_i", completions("zoom_i", index)) == "zoom_in "
    assert completions("line ", index) == ("line decode.py:7", "line decode.py:8")
    assert completed("line ", completions("line ", index)) == "line decode.py:"
    assert completed("xyz", completions("xyz", index)) == "xyz"


def test_a_prefix_is_completed_without_a_space_since_the_pattern_goes_on(index):
    assert completions("find k", index) == ("find kind:",)
    assert completed("find k", ("find kind:",)) == "find kind:"
    assert completed("find kind:G", completions("find kind:G", index)) == "find kind:GEMM "
    assert completed("kind:G", ("kind:GEMM",), behind="") == "kind:GEMM"


def test_pes_and_labels_are_completed():
    index = TimelineIndex(decode_like(1, launched=2, machine=topology(pes=(2, 1))), "x")
    assert completions("pe ", index) == ("pe 0", "pe 1")
    assert "find K" in completions("find ", index)
