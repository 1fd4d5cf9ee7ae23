"""What a terminal sends for Esc and a key right behind it is these two keys."""

import pytest
from kerntape.viewer.terminal_driver import EscapeFirst
from textual.drivers import linux_driver


def keys_of(*sent):
    """The keys that are read from what arrives at once, part by part, and then for a while nothing."""
    parser = EscapeFirst()
    return [event.key for text in (*sent, "") for event in parser.feed(text)]


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("\x1bx", ["escape", "x"]),
        ("\x1bX", ["escape", "X"]),
        ("\x1b.", ["escape", "full_stop"]),
        ("\x1b1", ["escape", "1"]),
        ("\x1b\r", ["escape", "enter"]),
        ("\x1b\x1bq", ["escape", "escape", "q"]),
        ("\x1bN", ["escape", "N"]),
        ("\x1b[", ["escape", "left_square_bracket"]),
        ("\x1b:pe 1\r", ["escape", "colon", "p", "e", "space", "1", "enter"]),
    ],
)
def test_escape_and_a_key_are_two_keys(sent, keys):
    assert keys_of(sent) == keys


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("\x1b", ["escape"]),
        ("\x1b[A", ["up"]),
        ("\x1bOP", ["f1"]),
        ("\x1b[1;3A", ["alt+up"]),
        ("\x1b\x7f", ["ctrl+w"]),
        ("\x1bf", ["ctrl+right"]),
        ("\x1b\t", ["shift+tab"]),
    ],
)
def test_a_key_that_is_sent_as_several_bytes_is_one(sent, keys):
    assert keys_of(sent) == keys


def test_a_sequence_that_comes_in_parts_is_one_key():
    assert keys_of("\x1b", "[", "B") == ["down"]


def test_the_terminal_is_read_so():
    assert vars(linux_driver)["XTermParser"] is EscapeFirst
