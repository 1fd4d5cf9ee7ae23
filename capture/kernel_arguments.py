"""What each PE's kernel is called with: the launch's arguments, each tensor as the part that the PE sees."""

from collections.abc import Callable
from typing import Any, TypeAlias

from .hbm_layout import PeTensors
from .runtime import Tensor

Seen: TypeAlias = Callable[[PeTensors], Any]


def seen_by_pe(argument: Any) -> Seen:
    """The argument as a function of the PE. Lists, tuples and dicts are looked into.

    What holds no tensor is the same object for all.
    """
    if isinstance(argument, Tensor):
        return lambda pe: pe.kernel_argument(argument)
    if not _holds_tensor(argument):
        return lambda pe: argument
    if isinstance(argument, dict):
        by_name = {name: seen_by_pe(value) for name, value in argument.items()}
        return lambda pe: {name: seen(pe) for name, seen in by_name.items()}
    each = [seen_by_pe(value) for value in argument]
    make = getattr(argument, "_make", type(argument))  # a named tuple takes its fields one by one
    return lambda pe: make([seen(pe) for seen in each])


def _holds_tensor(argument: Any) -> bool:
    if isinstance(argument, dict):
        return any(map(_holds_tensor, argument.values()))
    if isinstance(argument, (list, tuple)):
        return any(map(_holds_tensor, argument))
    return isinstance(argument, Tensor)
