"""Typed patterns and the texts they match: whatever is typed ends, or is refused in one line."""

import re
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.viewer.model import matching as module
from kerntape.viewer.model.matching import (
    MOST_PATTERN,
    MOST_TEXT,
    PatternError,
    compiled,
    is_quick,
    matching,
)
from painted_text import last_line, prompt_line
from settling import settled
from timeline_builder import decode_like

FOR_EVER = r"(\w+\W*)+!"
"""It splits a text without ! in 2^n ways before it gives up; these words keep it busy for centuries."""

MANY_WORDS = "acc = tl.composite gemm b v tile prologue merge epilogue store and many more words"

TOO_LONG = "the pattern takes too long: repeat nothing that repeats, as in (a+)+"


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(", "must be a regular expression: missing ), unterminated subpattern"),
        (
            "a{99999999999}",
            "must be a regular expression: the repetition number is too",
        ),
        (
            "(" * 600 + ")" * 600,
            f"a pattern must be of at most {MOST_PATTERN} characters, not 1,200",
        ),
        (
            "a{" + "9" * 5000 + "}",
            f"a pattern must be of at most {MOST_PATTERN} characters, not 5,003",
        ),
    ],
)
def test_what_is_no_pattern_is_said_in_one_line(pattern, said):
    with pytest.raises(PatternError) as caught:
        compiled(pattern)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RecursionError("maximum …"), "its groups lie too deep in each other"),
        (ValueError("too many digits"), "too many digits"),
    ],
)
def test_whatever_python_makes_of_a_pattern_is_said_in_one_line(monkeypatch, error, reason):
    def fail(*_):
        raise error

    monkeypatch.setattr(re, "compile", fail)
    with pytest.raises(PatternError) as caught:
        compiled("a")
    assert str(caught.value) == f"must be a regular expression: {reason}"


def test_a_pattern_is_blind_to_case_wherever_it_is_matched():
    for pattern in ("gemm", "(gemm)+"):
        assert matching(compiled(pattern), ["GEMM 3", "math", "a Gemm"]).tolist() == [1, 0, 1]


def test_only_repetitions_choices_and_groups_may_take_long():
    assert all(is_quick(compiled(one)) for one in ("gemm", "^fetch$", "[kv].", r"decode\.py:8"))
    assert not any(is_quick(compiled(one)) for one in ("a+", "a*", "a?", "a|b", "(a)", "a{2}"))


@given(
    st.lists(st.text("ab1 +\n\ud800é", max_size=6)), st.sampled_from(["b", "(a|1)+", "^$", "é?a"])
)
def test_it_finds_what_python_finds(texts, pattern):
    expected = [re.search(pattern, text, re.IGNORECASE) is not None for text in texts]
    assert matching(compiled(pattern), texts).tolist() == expected


def test_every_distinct_text_is_looked_at_once_and_no_more_of_it_than_is_worth_it(monkeypatch):
    looked_at = []

    def match(_pattern, texts, _limit_s):
        looked_at.extend(texts)
        return [True] * len(texts)

    monkeypatch.setattr(module, "_matched_elsewhere", match)
    matching(compiled("(a)"), ["x", "y", "x", "z" * (MOST_TEXT + 1)])
    assert looked_at == ["x", "y", "z" * MOST_TEXT]


def test_a_pattern_that_takes_for_ever_is_said_to():
    with pytest.raises(PatternError) as caught:
        matching(compiled(FOR_EVER), [MANY_WORDS], limit_s=0.1)
    assert str(caught.value) == TOO_LONG


def test_where_no_process_can_be_started_it_says_so(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(PatternError) as caught:
        matching(compiled("(a)"), ["a"])
    assert str(caught.value) == (
        "the pattern cannot be searched for: No such file or directory; leave out * + ? { | and ("
    )


# ---------------------------------------------------------------- on the screen


@pytest.fixture
def slow():
    """A timeline with a kernel line on which FOR_EVER takes for ever."""
    timeline = decode_like(2)
    first, *others = timeline.trace.lines
    lines = (replace(first, text=MANY_WORDS), *others)
    return replace(timeline, trace=replace(timeline.trace, lines=lines))


async def typed(pilot, key, text):
    await pilot.press(*key.split())
    pilot.app.focused.value = text
    await pilot.press("enter")


def test_keys_work_while_a_pattern_takes_for_ever_and_then_it_is_said(drive, slow):
    async def scenario(pilot, screen):
        await typed(pilot, "slash", FOR_EVER)
        searching = last_line(screen)
        await pilot.press("w")
        zoomed = screen.look.span_ps
        await settled(pilot)
        return searching, zoomed, last_line(screen)

    searching, zoomed, said = drive(slow, scenario, (120, 30))
    assert searching == f"searching for {FOR_EVER} …"
    assert zoomed == (slow.makespan_ps + 1) // 2
    assert said == TOO_LONG


def test_steps_that_are_typed_while_it_is_searched_are_taken_when_it_is_found(drive):
    # as test_what_is_behind_a_pattern_goes_along_what_it_finds, with a pattern that may take long:
    # the first match, two on, one back
    async def scenario(pilot, screen):
        await typed(pilot, "slash", "(fetch)")
        screen.action_do("next_match")
        screen.action_do("next_match")
        screen.action_do("previous_match")
        await settled(pilot)
        return last_line(screen)

    assert drive(decode_like(4), scenario, (120, 30)) == "match 2 of 32 for (fetch), in its kind"


@pytest.mark.parametrize("key", ["F", "tab slash", "slash", "colon"])
def test_whatever_is_typed_for_a_pattern_is_answered_in_the_line(drive, key):
    async def scenario(pilot, _):
        await typed(pilot, key, "filter a{99999999999}" if key == "colon" else "a{99999999999}")
        return prompt_line(pilot.app.screen).strip()

    assert drive(decode_like(1), scenario, (120, 30)) == (
        "must be a regular expression: the repetition number is too large"
    )


@pytest.mark.parametrize(("key", "where"), [("F", "rows"), ("tab slash", "hazard_filter")])
def test_a_filter_that_takes_for_ever_changes_nothing_and_says_so(
    drive, key, where, opt2, monkeypatch
):
    def give_up(*_):
        raise PatternError(TOO_LONG)

    async def scenario(pilot, screen):
        before = screen.look
        monkeypatch.setattr(f"kerntape.viewer.model.{where}.matching", give_up)
        await typed(pilot, key, FOR_EVER)
        await pilot.pause()
        shown = ["".join(span.text for span in line) for line in pilot.app.screen_lines()]
        return screen.look == before, any(TOO_LONG in line for line in shown)

    assert drive(opt2, scenario, (120, 30)) == (True, True)
