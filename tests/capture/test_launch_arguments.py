"""`--arg name=text` becomes what the launch function's signature asks for."""

from typing import Annotated

import pytest
from kerntape.capture.launch_arguments import bind_arguments, default_text, launch_parameters
from kerntape.schemas.errors import ConfigError


def launch(rt, rows: int, variant: str = "fast", scale=1.5, masked=False, *, spare=None):
    """A launch function with every kind of parameter."""


def bound(**texts: str) -> dict[str, object]:
    return bind_arguments(launch, texts, "my.py:launch")


def message(**texts: str) -> str:
    with pytest.raises(ConfigError) as error:
        bound(**texts)
    return str(error.value)


def test_defaults_are_filled_in_and_the_order_is_the_functions():
    arguments = bound(scale="2", rows="8")
    assert list(arguments.items()) == [
        ("rows", 8),
        ("variant", "fast"),
        ("scale", 2.0),
        ("masked", False),
        ("spare", None),
    ]
    assert isinstance(arguments["scale"], float)


@pytest.mark.parametrize(
    ("text", "truth"), [("true", True), ("Yes", True), ("1", True), ("false", False), ("0", False)]
)
def test_a_truth_value_is_written_true_or_false(text: str, truth: bool):
    assert bound(rows="1", masked=text)["masked"] is truth


@pytest.mark.parametrize(("text", "value"), [("3", 3), ("0.5", 0.5), ("ring", "ring")])
def test_without_a_type_a_text_that_reads_as_a_number_is_one(text: str, value: object):
    assert bound(rows="1", spare=text)["spare"] == value


def test_a_launch_function_that_takes_any_name_gets_any_name():
    def launch_any(rt, rows: int = 1, **options):
        """Takes whatever it is given."""

    assert bind_arguments(launch_any, {"depth": "2"}, "my.py") == {"rows": 1, "depth": 2}


def test_annotations_may_be_written_as_text():
    def launch_text(rt, rows: "int", width: "float" = 1):
        """As under `from __future__ import annotations`."""

    assert bind_arguments(launch_text, {"rows": "3", "width": "2"}, "my.py") == {
        "rows": 3,
        "width": 2.0,
    }


def test_an_unknown_name_says_what_was_meant():
    assert message(rows="1", varient="x") == (
        "my.py:launch has no argument 'varient'; did you mean 'variant'?"
    )


def test_a_missing_argument_says_how_to_give_it():
    assert message() == "my.py:launch needs the argument 'rows'; add --arg rows=…"


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("rows", "many", "must be a whole number, not 'many'"),
        ("rows", "1.5", "must be a whole number, not '1.5'"),
        ("rows", str(1 << 63), "must fit 64 bits, not 9223372036854775808"),
        ("scale", "wide", "must be a number, not 'wide'"),
        ("scale", "inf", "must be a finite number, not 'inf'"),
        ("masked", "maybe", "must be true or false, not 'maybe'"),
    ],
)
def test_a_text_that_is_not_of_the_type_says_what_it_must_be(name: str, text: str, what: str):
    assert message(**{"rows": "1"} | {name: text}) == f"my.py:launch: argument '{name}' {what}"


def test_a_default_that_a_header_cannot_hold_is_refused():
    def launch_odd(rt, shape=(1, 2)):
        """A tuple cannot be given on a command line."""

    with pytest.raises(ConfigError) as error:
        bind_arguments(launch_odd, {}, "my.py:launch")
    assert str(error.value) == (
        "my.py:launch: the default of 'shape' must be a number, a truth value, a text or None,"
        " not (1, 2)"
    )


def test_a_launch_function_must_take_the_runtime():
    with pytest.raises(ConfigError) as error:
        bind_arguments(lambda: None, {}, "my.py:launch")
    assert str(error.value) == (
        "my.py:launch must take the runtime as its first argument: launch(rt, …)"
    )


def launch_open(
    rt,
    scale: Annotated[float | None, "1/√d"] = None,
    rows: int | None = None,
    name: "str | None" = None,
    either: int | str = "x",
):
    """None is what the function works out itself."""


def test_a_default_of_none_takes_its_type_from_the_annotation():
    assert bind_arguments(launch_open, {}, "k") == {
        "scale": None,
        "rows": None,
        "name": None,
        "either": "x",
    }
    texts = {"scale": "0", "rows": "2", "name": "3", "either": "4"}
    bound = bind_arguments(launch_open, texts, "k")
    assert bound == {"scale": 0.0, "rows": 2, "name": "3", "either": "4"}
    assert isinstance(bound["scale"], float)


def test_a_person_is_shown_what_none_stands_for():
    shown = map(default_text, launch_parameters(launch_open, "k").values())
    assert list(shown) == ["1/√d", "None", "None", "x"]
