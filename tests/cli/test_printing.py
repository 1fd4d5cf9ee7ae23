"""Tables line up, and JSON numbers print as they were written."""

from decimal import Decimal

import pytest
from kerntape.cli.printing import aligned, between_words, print_json


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


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty columns wide."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")


@pytest.mark.usefixtures("terminal")
def test_a_terminal_breaks_no_word() -> None:
    assert between_words("name  holds any command for others", "      ") == (
        "name  holds any\n      command for\n      others"
    )


@pytest.mark.usefixtures("terminal")
def test_a_word_that_is_wider_than_the_terminal_stays_whole() -> None:
    assert between_words("a " + 24 * "b") == "a\n" + 24 * "b"


def test_what_goes_to_a_program_stays_as_it_is() -> None:
    assert between_words(40 * "word ") == 40 * "word "
