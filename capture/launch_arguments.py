"""Turns the `--arg name=text` of a command line into the arguments of a launch function.

The function's own signature says which names there are and what each must be: a parameter's type is
its annotation where that is int, float, bool or str, or one of them `| None`, else the type of its
default; without either, a text that reads as a number is one. What a default of None stands for may
be said in the annotation: `scale: Annotated[float | None, "1/√d"] = None`.
"""

import inspect
from collections.abc import Callable, Mapping
from math import isfinite
from types import UnionType
from typing import Annotated, TypeAlias, Union, get_args, get_origin

from ..schemas.errors import ConfigError, did_you_mean

LaunchArgument: TypeAlias = int | float | bool | str | None

_TYPES = ("int", "float", "bool", "str")
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_INT64 = range(-(1 << 63), 1 << 63)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def bind_arguments(
    launch: Callable[..., object], texts: Mapping[str, str], kernel: str
) -> dict[str, LaunchArgument]:
    """Every argument of the launch function but the runtime, defaults filled in, in its order.

    Raises ConfigError naming the argument: unknown, missing, or not what its type asks for.
    """
    parameters = launch_parameters(launch, kernel)
    takes_any = any(
        parameter.kind is parameter.VAR_KEYWORD
        for parameter in inspect.signature(launch).parameters.values()
    )
    for name in texts:
        if name not in parameters and not takes_any:
            raise ConfigError(f"{kernel} has no argument '{name}'{did_you_mean(name, parameters)}")
    bound = {name: _value(parameter, texts, kernel) for name, parameter in parameters.items()}
    extra = {name: _guess(text) for name, text in texts.items() if name not in parameters}
    return bound | extra


def launch_parameters(launch: Callable[..., object], kernel: str) -> dict[str, inspect.Parameter]:
    """The launch function's named parameters after the runtime. Raises ConfigError without one."""
    parameters = list(inspect.signature(launch).parameters.values())
    if not parameters or parameters[0].kind in _VARIADIC:
        raise ConfigError(f"{kernel} must take the runtime as its first argument: launch(rt, …)")
    named = (parameter for parameter in parameters[1:] if parameter.kind not in _VARIADIC)
    return {parameter.name: parameter for parameter in named}


def default_text(parameter: inspect.Parameter) -> str:
    """The default as a person is shown it: of None, what the annotation says that it stands for."""
    if parameter.default is None and get_origin(parameter.annotation) is Annotated:
        return str(get_args(parameter.annotation)[1])
    return str(parameter.default)


def _value(parameter: inspect.Parameter, texts: Mapping[str, str], kernel: str) -> LaunchArgument:
    if parameter.name in texts:
        return _parse(parameter, texts[parameter.name], kernel)
    if parameter.default is parameter.empty:
        name = parameter.name
        raise ConfigError(f"{kernel} needs the argument '{name}'; add --arg {name}=…")
    default: object = parameter.default
    if default is None or isinstance(default, (int, float, str)):
        return default
    raise ConfigError(
        f"{kernel}: the default of '{parameter.name}' must be a number, a truth value, a text or"
        f" None, not {default!r}"
    )


def _parse(parameter: inspect.Parameter, text: str, kernel: str) -> LaunchArgument:
    where = f"{kernel}: argument '{parameter.name}'"
    match _type_of(parameter):
        case "bool":
            return _truth(text, where)
        case "int":
            return _integer(text, where)
        case "float":
            return _number(text, where)
        case "str":
            return text
    return _guess(text)


def _type_of(parameter: inspect.Parameter) -> str | None:
    """'int', 'float', 'bool' or 'str'; None where the signature does not say."""
    names = (_type_name(parameter.annotation), type(parameter.default).__name__)
    return next((name for name in names if name in _TYPES), None)


def _type_name(annotation: object) -> str:
    """The one type that an annotation names, None apart; '' where it names several."""
    if get_origin(annotation) is Annotated:
        return _type_name(get_args(annotation)[0])
    names = [getattr(annotation, "__name__", "")]
    if isinstance(annotation, str):
        names = [name.strip() for name in annotation.split("|")]
    elif get_origin(annotation) in (Union, UnionType):
        names = [each.__name__ for each in get_args(annotation)]
    types = [name for name in names if name not in ("None", "NoneType")]
    return types[0] if len(types) == 1 else ""


def _truth(text: str, where: str) -> bool:
    if text.lower() not in _TRUTHS:
        raise ConfigError(f"{where} must be true or false, not '{text}'")
    return _TRUTHS[text.lower()]


def _integer(text: str, where: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise ConfigError(f"{where} must be a whole number, not '{text}'") from None
    if number not in _INT64:  # a trace holds no others
        raise ConfigError(f"{where} must fit 64 bits, not {number}")
    return number


def _number(text: str, where: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ConfigError(f"{where} must be a number, not '{text}'") from None
    if not isfinite(number):
        raise ConfigError(f"{where} must be a finite number, not '{text}'")
    return number


def _guess(text: str) -> LaunchArgument:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
