"""Finds a hazard policy by the name it ships under, or reads a user's own file."""

from ..schemas.config_file import check
from ..schemas.hazard_policy import HazardPolicy
from ..schemas.shipped_files import read_named_yaml, shipped_names

DEFAULT_POLICY = "strict_fifo"

_PACKAGE = f"{__package__}.policies"


def shipped_policies() -> dict[str, str]:
    """The shipped policies' names, each with its one-line summary."""
    return {name: resolve_policy(name).summary for name in shipped_names(_PACKAGE)}


def resolve_policy(name_or_path: str = DEFAULT_POLICY) -> HazardPolicy:
    """The policy of that name, or in that YAML file.

    Raises ConfigError: no such policy or file (with what was probably meant), or a wrong key or
    value in it (with file and key).
    """
    values, where = read_named_yaml(name_or_path, _PACKAGE, "policy")
    return check(HazardPolicy, values, where)
