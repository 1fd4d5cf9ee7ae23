"""YAML of configurations: exact numbers, and nothing that can unfold, repeat or surprise."""

from decimal import Decimal

import pytest
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.yaml_text import format_yaml, parse_yaml
from pydantic import BaseModel


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as refused:
        parse_yaml(text, "x.yaml")
    return str(refused.value)


def test_numbers_keep_their_written_decimal() -> None:
    values = parse_yaml("a: 0.0625\nb: 40\nc: 1_000\nd: -1.50\ne: 1.5e+3\n", "x.yaml")
    assert values == {"a": Decimal("0.0625"), "b": 40, "c": 1000, "d": Decimal("-1.50"), "e": 1500}
    assert str(values["d"]) == "-1.50"
    assert type(values["b"]) is int


def test_dates_and_words_are_text() -> None:
    assert parse_yaml("a: 2026-11-30\nb: W\nN: x", "x.yaml") == {
        "a": "2026-11-30",
        "b": "W",
        "N": "x",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.yaml: must be a mapping of keys to values, not nothing"),
        ("# only a comment\n", "x.yaml: must be a mapping of keys to values, not nothing"),
        ("- 1\n- 2\n", "x.yaml: must be a mapping of keys to values, not [1, 2]"),
        ("hello", "x.yaml: must be a mapping of keys to values, not 'hello'"),
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3: not valid YAML: the key 'a' stands twice"),
        ("1: x", "x.yaml:1: not valid YAML: a key must be a word, not 1"),
        ("on: x", "x.yaml:1: not valid YAML: a key must be a word, not on"),
        ("~: x", "x.yaml:1: not valid YAML: a key must be a word, not ~"),
        ("? [1, 2]\n: x", "x.yaml:1: not valid YAML: a key must be a word, not a list or mapping"),
        (
            "a: &one [1]\nb: *one\n",
            "x.yaml:2: not valid YAML: an alias (*name) is not allowed; write the value out",
        ),
        (
            "a: {<<: {b: 1}}",
            "x.yaml:1: not valid YAML: a merge key (<<) is not allowed; write the keys out",
        ),
        (
            "a: !!int '1'",
            "x.yaml:1: not valid YAML: a tag (tag:yaml.org,2002:int) is not allowed; leave it out",
        ),
        (
            "a: !!python/object:os.system {}",
            "x.yaml:1: not valid YAML: a tag (tag:yaml.org,2002:python/object:os.system)"
            " is not allowed; leave it out",
        ),
        ("a: 010", "x.yaml:1: not valid YAML: a number must be written in plain decimal, not 010"),
        (
            "a: 0x1f",
            "x.yaml:1: not valid YAML: a number must be written in plain decimal, not 0x1f",
        ),
        (
            "a: 1:30",
            "x.yaml:1: not valid YAML: a number must be written in plain decimal, not 1:30",
        ),
        (
            "a: 1:30.5",
            "x.yaml:1: not valid YAML: a number must be written in plain decimal, not 1:30.5",
        ),
        (
            "a: " + "9" * 5000,
            "x.yaml:1: not valid YAML: a number must have at most 40 digits, not 5000",
        ),
        (
            "a: 0." + "1" * 50,
            "x.yaml:1: not valid YAML: a number must have at most 40 digits, not 52",
        ),
        (
            "a:\n\tb: 1",
            "x.yaml:2: not valid YAML: found character '\\t' that cannot start any token",
        ),
        ("a: 'x", "x.yaml:1: not valid YAML: found unexpected end of stream"),
        ("a: 1\n---\nb: 2\n", "x.yaml:2: not valid YAML: but found another document"),
        (
            "a: \x00",
            "x.yaml: not valid YAML: unacceptable character #x0000: special characters are",
        ),
        ("a: =", "x.yaml:1: not valid YAML: could not determine a constructor for the tag"),
    ],
)
def test_what_a_configuration_may_not_use_is_refused_with_its_line(text: str, message: str) -> None:
    assert refusal(text).startswith(message)
    assert "\n" not in refusal(text)


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused_at_a_fixed_depth(opening: str) -> None:
    deep = opening * 10_000
    assert refusal(f"a:\n {deep}") == "x.yaml:2: not valid YAML: nested deeper than 20 levels"


def test_a_bomb_of_aliases_is_refused_before_it_unfolds() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    assert refusal("\n".join(lines)).startswith("x.yaml:2: not valid YAML: an alias")


class Record(BaseModel):
    name: str
    costs: dict[str, Decimal]
    steps: tuple[int, ...]
    free: bool


@pytest.mark.parametrize("name", ["plain", "no", "a: b # c", "12", "“×” – ü", "x" * 300, " pad "])
def test_a_record_reads_back_from_its_yaml_to_an_equal_one(name: str) -> None:
    costs = {"a": Decimal("0.0625"), "b": Decimal("1E+3"), "c": Decimal(40), "d": Decimal("1E-9")}
    record = Record(name=name, costs=costs, steps=(1, -1), free=True)
    assert Record.model_validate(parse_yaml(format_yaml(record), "x.yaml")) == record


def test_yaml_is_written_one_key_a_line_with_plain_numbers_and_lists_on_a_line() -> None:
    record = Record(name="r", costs={"a": Decimal("1E+3")}, steps=(0, -1), free=False)
    assert format_yaml(record) == "name: r\ncosts:\n  a: 1000\nsteps: [0, -1]\nfree: false\n"
