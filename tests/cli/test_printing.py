"""Tables line up, and JSON numbers print as they were written."""

import io
from decimal import Decimal

import pytest
from kerntape.cli.printing import aligned, between_words, print_json, terminal_columns


def test_columns_line_up_and_no_line_ends_in_a_space() -> None:
    rows = [("name", "count", ""), ("a", "5", "yes"), ("longer", "1000", "")]
    assert aligned(rows, right={1}) == (
        "name    count\n"  #
        "a           5  yes\n"
        "longer   1000"
    )


def test_rows_of_unequal_length_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="zip"):
        aligned([("a", "b"), ("c",)])


def test_decimals_print_as_the_numbers_that_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"b": Decimal("0.1"), "a": Decimal("40.0"), "×": [Decimal("123456789012.345")]})
    assert capsys.readouterr().out == (
        '{\n  "b": 0.1,\n  "a": 40,\n  "×": [\n    123456789012.345\n  ]\n}\n'
    )


def test_what_has_no_json_form_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="set has no JSON form"):
        print_json({"a": {1}})


def test_no_word_is_broken() -> None:
    assert between_words("name  holds any command for others", 20, "      ") == (
        "name  holds any\n      command for\n      others"
    )
    assert between_words("one step of grouped-query attention", 20) == (
        "one step of\ngrouped-query\nattention"
    )


def test_a_word_that_is_wider_stays_whole() -> None:
    assert between_words("a " + 24 * "b", 20) == "a\n" + 24 * "b"


def test_what_goes_to_a_program_stays_as_it_is() -> None:
    assert between_words(40 * "word ", None) == 40 * "word "


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("output", "columns"), [(Terminal(), 40), (io.StringIO(), None), (None, None)]
)
def test_a_terminal_is_as_wide_as_it_says_and_nothing_else_has_a_width(
    monkeypatch: pytest.MonkeyPatch, output: io.StringIO | None, columns: int | None
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdout", output)
    assert terminal_columns() == columns
