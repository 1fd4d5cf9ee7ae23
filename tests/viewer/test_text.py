"""How text is fitted into terminal cells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.viewer.model.text import (
    Span,
    cells,
    cut,
    fit,
    fit_line,
    line_cells,
    printable,
    spread,
    wrap,
)


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("kernel", 6),
        ("커널", 4),  # Hangul syllables are wide
        ("核心", 4),
        ("é", 1),  # e and a combining accent
        ("नमस्ते", 4),
        ("🔥", 2),
        ("▁▂▃█", 4),
        ("", 0),
    ],
)
def test_a_text_takes_the_cells_that_a_terminal_gives_it(text, width):
    assert cells(text) == width


def test_what_would_move_the_cursor_or_turn_the_direction_is_not_shown():
    assert printable("a\tb") == "a   b"
    assert printable("a\x1b[31mb\n") == "a·[31mb·"
    assert printable("a\u202eb\u200d") == "ab"


def test_a_text_that_is_cut_ends_in_an_ellipsis():
    assert cut("composite", 9) == "composite"
    assert cut("composite", 5) == "comp…"
    assert cut("composite", 1) == "…"
    assert cut("composite", 0) == ""


def test_a_wide_character_is_never_cut_in_half():
    # 커 and 널 take two cells each: in three cells there is room for 커 and the ellipsis
    assert cut("커널", 3) == "커…"
    assert fit("커널", 2) == "… "


@given(st.text(max_size=30), st.integers(0, 40))
def test_fitted_text_takes_exactly_the_width_whatever_the_script(text, width):
    assert cells(fit(printable(text), width)) == width


def test_a_line_is_cut_within_the_span_that_does_not_fit():
    line = (Span("abc"), Span("defgh", 8))
    assert fit_line(line, 6) == (Span("abc"), Span("de…", 8))
    assert fit_line(line, 3) == (Span("abc"),)


def test_a_line_is_filled_to_its_width():
    assert fit_line((Span("ab"),), 4) == (Span("ab"), Span("  "))


def test_where_both_ends_do_not_fit_the_left_one_is_cut():
    assert spread((Span("left"),), (Span("right"),), 12) == (
        Span("left"),
        Span("   "),
        Span("right"),
    )
    assert spread((Span("left"),), (Span("right"),), 8) == (Span("le…"), Span("right"))
    assert line_cells(spread((Span("left"),), (Span("right"),), 3)) == 3


def test_words_are_wrapped_at_spaces_and_broken_only_if_they_must():
    assert wrap("waited for the engine", 10) == ["waited for", "the engine"]
    assert wrap("abcdefgh ij", 4) == ["abcd", "efgh", "ij"]
    assert wrap("   ", 4) == []
