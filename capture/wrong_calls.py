"""Calls of tl and rt that Python itself refuses: a name or an argument misspelt, missing, or too much.

Python's TypeError names a private class and needs a traceback to be understood. Here it becomes one
line with the verb as its author wrote it. Which function was called is the only thing that is read
from Python's text beside the names in quotes.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol, get_args

from ..schemas.errors import KernelError, did_you_mean

_CALLED = re.compile(r"([\w.]+)\(\) (.*)")
_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")
_MISSING = re.compile(r"missing \d+ required .*?: (.*)")
_TWICE = re.compile(r"multiple values for argument '(\w+)'")


class NoSuchVerbError(KernelError, AttributeError):
    """Nothing of that name is offered; as an AttributeError it lets `hasattr(tl, …)` answer."""


class Offering:
    """An object whose public functions are there to be called; its author knows it as `_called`."""

    _called: ClassVar[str]

    if not TYPE_CHECKING:  # a type checker is to report an unknown name itself

        def __getattr__(self, name: str) -> NoReturn:
            offered = [each for each in dir(type(self)) if not each.startswith("_")]
            raise NoSuchVerbError(f"{self._called} has no '{name}'{did_you_mean(name, offered)}")


class Called(Protocol):
    """An object that a kernel's author knows by another name than its class's."""

    _called: ClassVar[str]


def wrong_call(error: TypeError, *offered: type[Called]) -> str | None:
    """What is wrong with the call of a public function of one of the classes; None where the error is
    about something else.
    """
    called = _CALLED.match(str(error))
    for each in offered:
        functions = _public_functions(each)
        if called is not None and called[1] in functions:
            return _wrong_call(called, each._called, functions[called[1]])
    return None


def _wrong_call(called: re.Match[str], name: str, function: Callable[..., Any]) -> str:
    verb = f"{name}.{function.__name__}"
    by_name = any(_arguments(function))
    unexpected = _UNEXPECTED.search(called[2])
    if unexpected and by_name:
        return no_such_argument(verb, function, unexpected[1])
    wrong = "is given more arguments than it takes by position"
    if unexpected:
        wrong = "takes no argument by name"
    elif missing := _MISSING.search(called[2]):
        wrong = f"needs {missing[1]}"
    elif twice := _TWICE.search(called[2]):
        wrong = f"is given '{twice[1]}' twice"
    return f"{verb} {wrong}; it is called as {name}.{_spelled(function)}"


def no_such_argument(verb: str, function: Callable[..., Any], argument: str) -> str:
    """A message about an argument that the verb has not, with the nearest that it has."""
    return f"{verb} has no argument '{argument}'{did_you_mean(argument, _arguments(function))}"


def _public_functions(offered: type) -> dict[str, Callable[..., Any]]:
    """By what Python calls them in a TypeError."""
    members = inspect.getmembers(offered, inspect.isfunction)
    return {member.__qualname__: member for name, member in members if not name.startswith("_")}


def _arguments(function: Callable[..., Any]) -> Iterator[str]:
    """The names of those that can be given by name; for keywords of a TypedDict, that one's."""
    for parameter in _parameters(function):
        if parameter.kind is parameter.VAR_POSITIONAL:
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            for keywords in get_args(parameter.annotation):
                yield from keywords.__annotations__
        else:
            yield parameter.name


def _spelled(function: Callable[..., Any]) -> str:
    """`send(direction, src)`: without types, and without the object it is called on."""
    bare = [
        each.replace(annotation=each.empty, default=_plain(each.default))
        for each in _parameters(function)
    ]
    return f"{function.__name__}{inspect.Signature(bare)}"


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return [*inspect.signature(function).parameters.values()][1:]


def _plain(default: object) -> object:
    return default.value if isinstance(default, Enum) else default
