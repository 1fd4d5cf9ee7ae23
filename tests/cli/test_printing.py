"""Tables line up, and JSON numbers print as they were written."""

from decimal import Decimal

import pytest
from kerntape.cli.printing import aligned, print_json


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
