"""Finds a machine by the name it ships under, or reads a user's own file."""

from ..schemas.config_file import check
from ..schemas.shipped_files import read_named_yaml, shipped_names
from ..schemas.topology import Topology

_PACKAGE = __package__


def shipped_topologies() -> dict[str, str]:
    """The shipped machines' names, each with its one-line summary."""
    return {name: resolve_topology(name).summary for name in shipped_names(_PACKAGE)}


def resolve_topology(name_or_path: str) -> Topology:
    """The machine of that name, or in that YAML file.

    Raises ConfigError: no such machine or file (with what was probably meant), or a wrong key or
    value in it (with file and key).
    """
    values, where = read_named_yaml(name_or_path, _PACKAGE, "topology")
    return check(Topology, values, where)
