"""Builds a calibration from its levels, each naming only what it changes.

From the lowest: the shipped default, the topology's `pe_cost_model`, a calibration (shipped or a
file), single values (`pe_cpu.fixed_cycles=20`, see settings).
"""

from collections.abc import Mapping
from typing import Any

from ..schemas.calibration import Calibration, CostModel
from ..schemas.config_file import check, check_part, key_paths, leaves, nested
from ..schemas.shipped_files import read_named_yaml, shipped_names
from ..schemas.topology import Topology
from ..schemas.yaml_text import format_yaml

DEFAULT_CALIBRATION = "default"

_PACKAGE = f"{__package__}.calibrations"

NO_SETTINGS: Mapping[str, str] = {}


def shipped_calibrations() -> dict[str, str]:
    """The shipped calibrations' names, each with its one-line summary."""
    return {name: read_calibration(name).summary for name in shipped_names(_PACKAGE)}


def read_calibration(name_or_path: str) -> Calibration:
    """A calibration over the shipped default alone. Raises ConfigError as resolve_calibration does."""
    layers = _default_layers()
    layers.lay_calibration(name_or_path)
    return layers.calibration()


def resolve_calibration(
    topology: Topology, calibration: str | None = None, settings: Mapping[str, str] = NO_SETTINGS
) -> Calibration:
    """The numbers for a replay on the topology. `settings` are single values by dotted path.

    Raises ConfigError: no such calibration, an unknown key (with what was probably meant), a wrong
    or missing value; one line that names the file, or the setting, and the key.
    """
    layers = _default_layers()
    if topology.pe_cost_model:
        layers.lay(topology.pe_cost_model, f"{topology.name}.pe_cost_model")
    if calibration is not None:
        layers.lay_calibration(calibration)
    layers.lay_settings(settings)
    return layers.calibration()


def with_settings(calibration: Calibration, settings: Mapping[str, str]) -> Calibration:
    """A calibration with single values laid over it, by dotted path. Raises ConfigError as
    resolve_calibration does.
    """
    layers = _Layers(calibration.model_dump(), calibration.name, [calibration.name])
    layers.lay_settings(settings)
    return layers.calibration()


def calibration_yaml(calibration: Calibration) -> str:
    """The calibration as a YAML file's text, which reads back to an equal calibration."""
    return format_yaml(calibration)


class _Layers:
    """The levels laid so far: the merged values, and the names of what they are made of."""

    def __init__(self, values: dict[str, Any], where: str, made_of: list[str]) -> None:
        self._values, self._where, self._made_of = values, where, made_of

    def lay(self, costs: dict[str, Any], made_of: str) -> None:
        """Lay a part of a cost model over what is there."""
        self._values = _merged(self._values, costs)
        self._made_of.append(made_of)

    def lay_calibration(self, name_or_path: str) -> None:
        """Lay a calibration; its name stands for the levels it hides."""
        values, where = read_named_yaml(name_or_path, _PACKAGE, "calibration")
        check_part(Calibration, values, where)
        if self._made_of == [DEFAULT_CALIBRATION] or leaves(values).keys() >= set(
            key_paths(CostModel)
        ):
            self._made_of = []
        self.lay(values, str(values["name"]))
        self._where = where

    def lay_settings(self, settings: Mapping[str, str]) -> None:
        """Lay single values."""
        for path, value in settings.items():
            costs = nested({path: value})
            check_part(CostModel, costs, "--set")
            self.lay(costs, f"{path}={value}")

    def calibration(self) -> Calibration:
        """The levels as one calibration, checked whole."""
        return check(Calibration, self._values | {"name": " + ".join(self._made_of)}, self._where)


def _default_layers() -> _Layers:
    values, where = read_named_yaml(DEFAULT_CALIBRATION, _PACKAGE, "calibration")
    return _Layers(values, where, [DEFAULT_CALIBRATION])


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(below.get(key), dict)
        merged[key] = _merged(below[key], value) if both else value
    return merged
