"""The shipped hazard policies are those of the design, and a user's own file works like one."""

from pathlib import Path

import pytest
from kerntape.replay.policy import DEFAULT_POLICY, resolve_policy, shipped_policies
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.yaml_text import format_yaml

NAMES = ["byte_range", "none", "rw_aware", "rw_handles", "serial", "strict_fifo"]


def test_six_policies_ship_each_with_a_summary() -> None:
    assert list(shipped_policies()) == NAMES
    assert all(shipped_policies().values())


@pytest.mark.parametrize(
    ("name", "compares", "kinds", "holds", "passing"),
    [
        ("none", "nothing", "", "composites", False),
        ("rw_handles", "rw_handles", "RAW WAR WAW", "composites", False),
        ("strict_fifo", "handles", "RAW WAW", "composites", False),
        ("byte_range", "bytes", "RAW WAR WAW", "commands", False),
        ("rw_aware", "bytes", "RAW WAR WAW", "commands", True),
        ("serial", "everything", "RAW WAR WAW", "commands", False),
    ],
)
def test_a_shipped_policy_holds_what_the_design_says(
    name: str, compares: str, kinds: str, holds: str, passing: bool
) -> None:
    policy = resolve_policy(name)
    assert policy.name == name
    assert policy.compares == compares
    assert policy.kinds == tuple(HazardKind(kind) for kind in kinds.split())
    assert policy.holds == holds
    assert policy.passing is passing


def test_strict_fifo_is_the_default() -> None:
    assert DEFAULT_POLICY == "strict_fifo"
    assert resolve_policy() == resolve_policy("strict_fifo")


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_reads_back_from_its_own_yaml(name: str, tmp_path: Path) -> None:
    path = tmp_path / "again.yaml"
    path.write_text(format_yaml(resolve_policy(name)), encoding="utf-8")
    assert resolve_policy(str(path)) == resolve_policy(name)


def test_an_unknown_policy_says_what_was_probably_meant() -> None:
    with pytest.raises(ConfigError, match=r"^no policy 'strict'; did you mean 'strict_fifo'\?$"):
        resolve_policy("strict")


def test_a_wrong_word_in_a_users_file_names_file_and_key(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("compares: bytes\nkinds: [RAW]\nholds: composite\npassing: no\n")
    with pytest.raises(ConfigError) as refused:
        resolve_policy(str(path))
    assert str(refused.value) == (
        f"{path}: holds: must be one of composites, commands, not 'composite';"
        " did you mean 'composites'?"
    )
