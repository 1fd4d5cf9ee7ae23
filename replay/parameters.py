"""Which numbers of a calibration a stage graph uses, and calibrations in which some are changed."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

from ..schemas.calibration import Calibration, CostModel
from ..schemas.config_file import StrictModel, key_paths, with_values
from .durations import EQUATIONS
from .stage_graph import StageGraph


def parameters_used(graph: StageGraph, calibration: Calibration) -> tuple[str, ...]:
    """The dotted paths that the equations of the graph's durations and lags read, in file order.

    Nothing lists them: the equations are computed once, and what they look at is noted. So a
    parameter that is not among them cannot change the timeline.
    """
    seen: set[str] = set()
    watched = cast(Calibration, _Watched(calibration, "", seen))
    quantities = {
        one.equation: one.quantity for one in (*graph.duration_classes, *graph.lag_classes)
    }
    for equation, quantity in quantities.items():
        EQUATIONS[equation](watched, quantity)
    return tuple(path for path in key_paths(CostModel) if path in seen)


class _Watched:
    """A record that notes which of its numbers, those of nested records included, are read."""

    def __init__(self, record: StrictModel, prefix: str, seen: set[str]) -> None:
        self._record = record
        self._prefix = prefix
        self._seen = seen

    def __getattr__(self, name: str) -> Any:
        value, path = getattr(self._record, name), self._prefix + name
        if isinstance(value, StrictModel):
            return _Watched(value, f"{path}.", self._seen)
        self._seen.add(path)
        return value


def value_of(calibration: Calibration, path: str) -> Decimal:
    """The number at a dotted path (`hbm.latency_ns`)."""
    value: Any = calibration
    for step in path.split("."):
        value = getattr(value, step)
    return Decimal(value)


def changed(calibration: Calibration, changes: Mapping[str, Decimal | str]) -> Calibration:
    """The calibration with other numbers at some dotted paths; its name tells them, as `--set` does.

    Raises ConfigError where a number is not what it must be (a rate of 0).
    """
    told = [f"{path}={value}" for path, value in changes.items()]
    name = " + ".join((calibration.name, *told))
    return with_values(calibration, {**changes, "name": name}, "change")
