"""A hazard policy is plain words, and what it holds fits what it compares."""

import re
from typing import Any

import pytest
from kerntape.schemas.config_file import check
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.hazard_policy import Compares, HazardKind, HazardPolicy, Holds

POLICY: dict[str, Any] = {
    "name": "test",
    "summary": "for tests",
    "compares": "bytes",
    "kinds": ["WAR", "RAW"],
    "holds": "commands",
    "passing": True,
}


def test_plain_words_become_what_they_name() -> None:
    policy = check(HazardPolicy, POLICY, "test.yaml")
    assert policy.compares is Compares.BYTES
    assert policy.kinds == (HazardKind.WAR, HazardKind.RAW)
    assert policy.holds is Holds.COMMANDS
    assert policy.passing


def test_it_survives_a_file_header() -> None:
    policy = check(HazardPolicy, POLICY, "test.yaml")
    assert check(HazardPolicy, policy.model_dump(mode="json"), "header") == policy


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"compares": "byte"},
            "compares: must be one of nothing, rw_handles, handles, bytes, everything, not 'byte';"
            " did you mean 'bytes'?",
        ),
        (
            {"kinds": ["raw"]},
            "kinds.0: must be one of RAW, WAR, WAW, not 'raw'; did you mean 'RAW'?",
        ),
        ({"kinds": "RAW"}, "kinds: must be a list, not 'RAW'"),
        ({"kinds": ["RAW", "RAW"]}, "kinds must name each kind once, not [RAW, RAW]"),
        ({"kinds": []}, "kinds must name a kind where bytes are compared, not []"),
        (
            {"compares": "nothing"},
            "kinds must be [] where nothing is compared, not [WAR, RAW]",
        ),
        (
            {"compares": "everything"},
            "kinds must be [RAW, WAR, WAW] where everything is compared, not [WAR, RAW]",
        ),
        (
            {"holds": "all"},
            "holds: must be one of composites, commands, not 'all'",
        ),
        ({"passing": "maybe"}, "passing: must be true or false, not 'maybe'"),
        ({"pass": True}, "unknown key 'pass'; did you mean 'passing'?"),
    ],
)
def test_a_wrong_policy_is_refused_in_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape('test.yaml: ' + message)}$"):
        check(HazardPolicy, POLICY | changes, "test.yaml")
