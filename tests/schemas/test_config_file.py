"""A configuration file is read exactly, or refused in one line that names file, line or key, and remedy."""

from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.schemas.config_file import (
    MAX_CONFIG_BYTES,
    Exact,
    FromList,
    Line,
    StrictModel,
    as_exact,
    check,
    check_part,
    complaint_about_part,
    key_paths,
    leaves,
    read_yaml,
    word_of,
)
from kerntape.schemas.errors import ConfigError


class Fruit(StrEnum):
    APPLE = "apple"
    PEAR = "pear"


class Core(StrictModel):
    seeds: int
    weight: Exact


class Basket(StrictModel):
    label: Line
    fruit: Annotated[Fruit, word_of(Fruit)]
    core: Core
    cores: dict[str, Core]
    pair: Annotated[tuple[int, int], FromList]
    ripe: bool


GOOD: dict[str, Any] = {
    "label": "a basket",
    "fruit": "pear",
    "core": {"seeds": 5, "weight": Decimal("0.0625")},
    "cores": {"first": {"seeds": 1, "weight": 2}},
    "pair": [1, 2],
    "ripe": True,
}


def refusal(**changes: Any) -> str:
    with pytest.raises(ConfigError) as refused:
        check(Basket, GOOD | changes, "basket.yaml")
    return str(refused.value)


def core(**changes: Any) -> dict[str, Any]:
    return {"core": GOOD["core"] | changes}


def test_plain_words_lists_and_numbers_become_enums_tuples_and_decimals() -> None:
    basket = check(Basket, GOOD, "basket.yaml")
    assert basket.fruit is Fruit.PEAR
    assert basket.pair == (1, 2)
    assert basket.core.weight == Decimal("0.0625")
    assert basket.cores["first"].weight == Decimal(2)


def test_a_record_survives_its_plain_json_form() -> None:
    basket = check(Basket, GOOD, "basket.yaml")
    assert Basket.model_validate(basket.model_dump(mode="json")) == basket


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labl": 1}, "unknown key 'labl'; did you mean 'label'?"),
        ({"seeds": 1}, "unknown key 'seeds'; did you mean 'core.seeds'?"),
        ({"qqqq": 1}, "unknown key 'qqqq'; known: label, fruit, core, cores, pair, ripe"),
        (core(seds=1), "unknown key 'core.seds'; did you mean 'core.seeds'?"),
        (
            {"cores": {"first": {"seeds": 1, "weight": 1, "wait": 1}}},
            "unknown key 'cores.first.wait'; known: cores.first.seeds, cores.first.weight",
        ),
        (core(seeds=Decimal("1.0")), "core.seeds: must be a whole number, not 1.0"),
        (core(seeds=True), "core.seeds: must be a whole number, not true"),
        (core(seeds="5"), "core.seeds: must be a whole number, not '5'"),
        (core(weight=True), "core.weight: must be a number, not true"),
        (core(weight=None), "core.weight: must be a number, not nothing"),
        (core(weight=[1]), "core.weight: must be a number, not [1]"),
        (core(weight={}), "core.weight: must be a number, not a mapping"),
        (core(weight="heavy"), "core.weight: must be a number, not 'heavy'"),
        (core(weight=Decimal("inf")), "core.weight: must be a finite number, not infinity"),
        (core(weight=float("nan")), "core.weight: must be a finite number, not nan"),
        (
            core(weight=Decimal("0.1234567890123456")),
            "core.weight: must have at most 15 significant digits, not 16",
        ),
        ({"core": None}, "core: must be a mapping of keys to values, not nothing"),
        ({"core": [1]}, "core: must be a mapping of keys to values, not [1]"),
        ({"cores": [1]}, "cores: must be a mapping of keys to values, not [1]"),
        ({"pair": 3}, "pair: must be a list, not 3"),
        ({"pair": [1, 2, 3]}, "pair: must be a list of 2, not [1, 2, 3]"),
        ({"pair": [1]}, "the key 'pair.1' is missing"),
        ({"ripe": 1}, "ripe: must be true or false, not 1"),
        ({"ripe": "true"}, "ripe: must be true or false, not 'true'"),
        ({"label": 7}, "label: must be text, not 7"),
        ({"label": ""}, "label: must be one line of text, not ''"),
        ({"label": "a\nb"}, "label: must be one line of text, not 'a\\nb'"),
        (
            {"fruit": "Pear"},
            "fruit: must be one of apple, pear, not 'Pear'; did you mean 'pear'?",
        ),
        ({"fruit": "xyz"}, "fruit: must be one of apple, pear, not 'xyz'"),
        ({"fruit": None}, "fruit: must be one of apple, pear, not nothing"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_file_key_and_remedy(
    changes: dict[str, Any], message: str
) -> None:
    assert refusal(**changes) == f"basket.yaml: {message}"


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^basket\.yaml: the key 'core\.seeds' is missing$"):
        check(Basket, GOOD | {"core": {"weight": 1}}, "basket.yaml")


def test_a_misspelt_key_is_reported_before_the_key_that_it_leaves_missing() -> None:
    assert "did you mean 'core.seeds'?" in refusal(core={"seds": 1, "weight": 1})


def test_a_long_value_is_cut_in_the_message() -> None:
    assert refusal(ripe="x" * 500) == f"basket.yaml: ripe: must be true or false, not '{'x' * 40}…'"


def test_a_part_may_leave_keys_out_but_not_get_them_wrong() -> None:
    check_part(Basket, {"core": {"seeds": 1}}, "part.yaml")
    with pytest.raises(ConfigError, match=r"^part\.yaml: core\.seeds: must be a whole number, not"):
        check_part(Basket, {"core": {"seeds": "x"}}, "part.yaml")


def test_a_part_may_leave_all_keys_out_but_is_a_mapping() -> None:
    assert complaint_about_part(Basket, {}) is None
    for nothing in (None, [], "", 0, False):
        no_mapping: Any = nothing
        complaint = complaint_about_part(Basket, no_mapping)
        assert str(complaint).startswith(": must be a mapping of keys to values, not ")


def test_key_paths_lead_into_nested_records_and_stop_at_mappings() -> None:
    expected = ["label", "fruit", "core.seeds", "core.weight", "cores", "pair", "ripe"]
    assert key_paths(Basket) == expected


def test_leaves_are_the_innermost_values_by_dotted_path() -> None:
    assert leaves({"a": {"b": 1, "c": {"d": [2]}}, "e": 3}) == {"a.b": 1, "a.c.d": [2], "e": 3}


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=0, max_value=10**12, places=3))
def test_a_number_of_15_digits_survives_being_taken_for_a_binary_float(number: Decimal) -> None:
    assert as_exact(float(number)) == number


def test_a_file_is_read_as_its_mapping(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("\ufeffa: 1\n", encoding="utf-8")
    assert read_yaml(path) == {"a": 1}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    with pytest.raises(ConfigError) as refused:
        read_yaml(path)
    assert str(refused.value) == f"{path}: cannot be read: No such file or directory"


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        read_yaml(tmp_path)
    assert str(refused.value) == f"{tmp_path}: cannot be read: Is a directory"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: \xff", "must be UTF-8 text"),
        (b"a" * (MAX_CONFIG_BYTES + 1), "a configuration must have at most 65536 bytes"),
        (b"\xff" * (MAX_CONFIG_BYTES + 1), "a configuration must have at most 65536 bytes"),
    ],
)
def test_what_is_no_small_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        read_yaml(path)
    assert str(refused.value) == f"{path}: {message}"


def test_an_endless_file_is_not_read_to_its_end() -> None:
    with pytest.raises(ConfigError, match="at most 65536 bytes"):
        read_yaml(Path("/dev/zero"))
