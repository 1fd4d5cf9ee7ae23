"""What is typed: after `:`, as a pattern to find or to choose rows by, and in the list of keys."""

import pytest
from kerntape.viewer.model.look import select
from kerntape.viewer.screens import finder
from kerntape.viewer.screens.command_line import CommandLine
from kerntape.viewer.widgets.painted import Painted
from kerntape.viewer.widgets.picture import Picture
from painted_text import last_line, line_texts, prompt_line
from pressed import type_in
from settling import settled
from timeline_builder import two_commands


def test_a_pattern_is_found_and_gone_along(drive):
    async def scenario(pilot, screen):
        await pilot.press("n")
        assert last_line(screen) == "nothing to find yet: / asks for a pattern"
        await pilot.press("slash", *"gemm", "enter")
        assert screen.look.stage == 1
        assert last_line(screen) == "match 1 of 4 for gemm, in its op"
        await pilot.press("N")
        assert last_line(screen) == "match 4 of 4 for gemm, in its kind, its op, from the end again"
        await pilot.press("n")
        assert last_line(screen) == "match 1 of 4 for gemm, in its op, from the start again"
        await pilot.press("n", "n")
        assert (screen.look.stage, last_line(screen)) == (
            3,
            "match 3 of 4 for gemm, in its kind, its op",
        )
        await pilot.press("N")
        assert screen.look.stage == 2
        screen.go(select(screen.index, screen.look, 6))
        await type_in(pilot, "find kind:gemm")
        assert last_line(screen).endswith(", from the start again")
        await type_in(pilot, "find ^exp$")
        assert (screen.look.stage, last_line(screen)) == (7, "match 1 of 1 for ^exp$, in its op")
        await type_in(pilot, "find nothing")
        assert (screen.look.stage, last_line(screen)) == (7, "no match for nothing")

    drive(two_commands().build(), scenario)


def test_a_long_timeline_is_searched_by_a_thread(drive, monkeypatch):
    monkeypatch.setattr(finder, "AT_ONCE_STAGES", 0)

    async def scenario(pilot, screen):
        await pilot.press("slash", *"gemm", "enter")
        await settled(pilot)
        assert (screen.look.stage, last_line(screen)) == (1, "match 1 of 4 for gemm, in its op")
        await pilot.press("n")
        assert (screen.look.stage, last_line(screen)) == (2, "match 2 of 4 for gemm, in its op")

    drive(two_commands().build(), scenario)


def test_finding_stays_on_a_match_that_the_cursor_is_at(drive):
    async def scenario(pilot, screen):
        screen.go(select(screen.index, screen.look, 3))
        await type_in(pilot, "find gemm")
        assert (screen.look.stage, last_line(screen)) == (
            3,
            "match 3 of 4 for gemm, in its kind, its op",
        )

    drive(two_commands().build(), scenario)


def test_a_pattern_that_is_none_is_said_and_can_be_typed_again(drive):
    async def scenario(pilot, screen):
        await pilot.press("slash", "left_parenthesis", "enter")
        prompt = prompt_line(pilot.app.screen)
        assert prompt.startswith(" must be a regular expression: ")
        await pilot.press("escape")
        assert pilot.app.screen is screen

    drive(two_commands().build(), scenario)


def test_tab_on_an_empty_line_lists_what_can_be_typed(drive):
    async def scenario(pilot, screen):
        await pilot.press("colon", "tab")
        return prompt_line(pilot.app.screen)

    # the first of the sorted names, and how many more there are
    said = drive(two_commands().build(), scenario)
    assert said.startswith(" area  area_figures  bookmark")
    assert said.endswith(" more")


def test_rows_are_filtered_by_a_pattern(drive, decode):
    async def scenario(pilot, screen):
        await pilot.press("F", *"gemm|math", "enter")
        shown = line_texts(screen.query_one(Picture).lines)
        assert sum("GEMM" in line or "CPU" in line for line in shown) == 1
        await type_in(pilot, "filter nothing")
        assert last_line(screen) == "no row is like nothing"
        await pilot.press("F", *"gemm", "enter", "F", "backspace", "enter")
        assert screen.look.hidden == frozenset()
        assert last_line(screen) == "all rows are shown"

    drive(decode, scenario)


def test_the_header_says_which_rows_are_shown_while_a_pattern_chooses_them(drive, decode):
    def header(screen):
        return line_texts(screen.query_one("#header", Painted).lines)[0]

    async def scenario(pilot, screen):
        unfiltered = header(screen)
        await pilot.press("F", *"gemm|math", "enter")
        assert "   rows like gemm|math   " in header(screen)
        await pilot.press("m")
        assert "   rows like gemm|math   Δ +0 ps   " in header(screen)
        await pilot.press("m")
        await type_in(pilot, "filter nothing")  # which changes nothing
        assert "   rows like gemm|math   " in header(screen)
        await pilot.press("F")
        assert pilot.app.screen.line.value == "gemm|math"
        await pilot.press("enter")
        assert "   rows like gemm|math   " in header(screen)
        await pilot.press("F", *"cpu", "enter")
        assert "   rows like cpu   " in header(screen)
        await pilot.press("I")  # shows all again, as it does where it hid some
        assert header(screen) == unfiltered
        await pilot.press("F", *"cpu", "enter")
        await type_in(pilot, "find kind:gemm")  # shows a row again that is not like that
        assert "   rows like cpu and 1 more   " in header(screen)
        await type_in(pilot, "find kind:math")
        assert "   rows like cpu and 2 more   " in header(screen)
        await type_in(pilot, "find kind:gemm")  # that one is shown already
        assert "   rows like cpu and 2 more   " in header(screen)
        await pilot.press("F", "enter")
        assert "   rows like cpu   " in header(screen)
        await type_in(pilot, "find kind:gemm")
        await pilot.press("I")
        assert header(screen) == unfiltered
        await pilot.press("F", "c", "enter", "F", "delete", "enter")
        assert header(screen) == unfiltered
        await type_in(pilot, "filter .")
        assert (last_line(screen), header(screen)) == ("every row is like .", unfiltered)

    drive(decode, scenario)


@pytest.mark.parametrize(
    ("words", "stage"),
    [("command 1", 6), ("line decode.py:8", 6), ("time 60ns", 2), ("last_stage", 6), ("pe 0", 0)],
)
def test_what_is_typed_is_done(drive, words, stage):
    async def scenario(pilot, screen):
        screen.go(select(screen.index, screen.look, 2 if words.startswith("time") else 0))
        await type_in(pilot, words)
        return screen.look.stage

    assert drive(two_commands().build(), scenario) == stage


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("command x", " a number must be of digits, not 'x'"),
        ("pe 9", " PE must be one of the launch (0 to 0), not 9"),
        ("line 99", " no command of this PE that ran comes from line 99"),
        ("speed fast", " a time must be like 7.4us, 12345ns or 3ms, not 'fast'"),
    ],
)
def test_what_cannot_be_done_is_said_and_can_be_typed_again(drive, words, said):
    async def scenario(pilot, screen):
        await type_in(pilot, words)
        assert isinstance(pilot.app.screen, CommandLine)
        return prompt_line(pilot.app.screen)

    assert drive(two_commands().build(), scenario) == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("#" + "9" * 5000, " a number must be of at most 9 digits, not 5,000"),
        ("pe " + "9" * 5000, " a number must be of at most 9 digits, not 5,000"),
        ("9" * 5000, f" a time must be like 7.4us, 12345ns or 3ms, not '{'9' * 23}…'"),
        ("line " + "9" * 5000, f" a line must be like decode.py:118 or 118, not '{'9' * 23}…'"),
        ("filter " + "(" * 5000, " a pattern must be of at most 300 characters, not 5,000"),
    ],
)
def test_what_is_far_too_long_is_said_to_be(drive, words, said):
    async def scenario(pilot, screen):
        await pilot.press("colon")
        pilot.app.focused.value = words  # as pasted
        await pilot.press("enter")
        return prompt_line(pilot.app.screen)

    assert drive(two_commands().build(), scenario) == said


def test_tab_completes_and_what_fits_is_shown(drive):
    async def scenario(pilot, screen):
        await pilot.press("colon", *"zoo")
        line = pilot.app.screen
        assert prompt_line(line) == " zoom_in  zoom_out"
        span = screen.look.span_ps
        await pilot.press("tab", "i", "tab", "enter")
        assert screen.look.span_ps == span // 2
        await pilot.press("colon", "enter")  # nothing typed: nothing done
        assert pilot.app.screen is screen

    drive(two_commands().build(), scenario)


def test_the_keys_are_a_palette_that_does_what_is_chosen(drive):
    async def scenario(pilot, screen):
        span = screen.look.span_ps
        await pilot.press("ctrl+p", *"zoom in", "enter")
        assert (pilot.app.screen, screen.look.span_ps) == (screen, span // 2)
        await pilot.press("question_mark", *"kernel line's", "enter")
        assert last_line(screen) == "type :line 118"
        await pilot.press("question_mark", *"hazards held", "enter")
        assert pilot.app.screen is not screen

    drive(two_commands().build(), scenario)


def test_the_line_of_a_pattern_offers_prefixes_and_what_there_is_behind_them(drive):
    async def scenario(pilot, screen):
        def offered():
            return prompt_line(pilot.app.screen).strip()

        await pilot.press("slash")
        assert offered() == (
            "find (a regular expression) anywhere · kind: op: handle: line: in that only"
        )
        await pilot.press("k")
        assert offered() == "kind:"
        await pilot.press("tab")
        assert offered() == "kind:GEMM  kind:MATH  kind:dispatch  kind:fetch  kind:finish"
        await pilot.press("x", "tab")
        assert offered() == "nothing completes this"
        await pilot.press("backspace", "g", "tab", "enter")
        assert last_line(screen) == "match 1 of 2 for kind:GEMM, in its kind"
        await type_in(pilot, "find line:exp")
        assert last_line(screen) == "match 1 of 2 for line:exp, in the kernel's line"
        await pilot.press("slash", *"op:", "enter")
        assert offered() == "a pattern must follow op:"
        await pilot.press("escape")
        await type_in(pilot, "find lime:exp")
        assert last_line(screen) == "no match for lime:exp; did you mean 'line:'?"

    drive(two_commands().build(), scenario, size=(80, 24))
