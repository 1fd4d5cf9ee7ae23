"""What a few questions prove of many values, and where they leave it open."""

from collections.abc import Callable
from typing import Any

import pytest
from kerntape.schemas.proofs import (
    Unproven,
    all_are,
    columns,
    each_once,
    flags,
    flat,
    integers,
    meanings,
    texts,
)

WORDS = {1: "one", 2: "two"}


def test_true_is_no_integer() -> None:
    assert all_are([1, 2], int)
    assert not all_are([1, True], int)
    assert all_are([1, 2.5, "x"], int, float, str)
    assert all_are([], int)


def test_rows_are_turned_into_columns() -> None:
    assert columns([("a", 1), ("b", 2)], 2) == [("a", "b"), (1, 2)]
    assert columns([], 3) == [(), (), ()]


def test_what_is_proved_is_handed_back() -> None:
    assert texts(("a", "b")) == ("a", "b")
    assert flags((True, False)) == (True, False)
    assert integers((0, 7), 0, 7) == (0, 7)
    assert integers((), 5, 1) == ()
    assert flat([(1, 2), (), (3,)]) == [1, 2, 3]
    assert meanings((2, 1, 2), int, WORDS) == ["two", "one", "two"]
    each_once([("a", "b"), ("a",)], 3)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: columns([("a", 1), ("b",)], 2),
        lambda: columns([["a", 1]], 2),
        lambda: columns(["ab"], 2),
        lambda: texts(("a", b"b")),
        lambda: flags((True, 1)),
        lambda: integers((0, 8), 0, 7),
        lambda: integers((-1, 7), 0, 7),
        lambda: integers((True,), 0, 7),
        lambda: flat([(1,), 2]),
        lambda: meanings((1, 3), int, WORDS),
        lambda: meanings((1, True), int, WORDS),  # which is a key of WORDS
        lambda: meanings((1, [2]), int, WORDS),  # which no map can look up
        lambda: each_once([("a", "b"), ("a", "a")], 4),
    ],
)
def test_what_may_be_wrong_is_left_open(ask: Callable[[], Any]) -> None:
    with pytest.raises(Unproven):
        ask()
