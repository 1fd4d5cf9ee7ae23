"""Reads a YAML file into a checked model, with messages that name the file, the key and the remedy.

Decimals keep their written value: `0.0625` is 625/10000, never a binary float.
"""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from .errors import ConfigError, nearest
from .yaml_text import parse_yaml, shown

MAX_CONFIG_BYTES = 1 << 16
MAX_SIGNIFICANT_DIGITS = 15
MAX_NAME_LENGTH = 1000


class StrictModel(BaseModel):
    """The base of every record read from YAML: frozen, no unknown keys, no silent conversions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def as_exact(value: object) -> Decimal:
    """A number with its written value. Raises ValueError where it is none, or not finite.

    YAML gives int or Decimal, a trace's header gives text, Python code may give a float.
    """
    if isinstance(value, float):
        value = format(value, f".{MAX_SIGNIFICANT_DIGITS}g")
    if isinstance(value, bool) or not isinstance(value, (int, str, Decimal)):
        raise ValueError(f"must be a number, not {shown(value)}")
    try:
        number = Decimal(value)
    except InvalidOperation:
        raise ValueError(f"must be a number, not {shown(value)}") from None
    if not number.is_finite():
        raise ValueError(f"must be a finite number, not {str(number).lower()}")
    return number


def _few_digits(number: Decimal) -> Decimal:
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    if len(digits) > MAX_SIGNIFICANT_DIGITS:
        raise ValueError(
            f"must have at most {MAX_SIGNIFICANT_DIGITS} significant digits, not {len(digits)}"
        )
    return number


Exact = Annotated[Decimal, BeforeValidator(as_exact), AfterValidator(_few_digits)]
"""A finite number with its written value. At most 15 significant digits, so that it survives any
reader that takes it for a binary float."""


def _one_line(text: str) -> str:
    if not text or not text.isprintable() or len(text) > MAX_NAME_LENGTH:
        raise ValueError(f"must be one line of text, not {shown(text)}")
    return text


Line = Annotated[str, AfterValidator(_one_line)]
"""One line of printable text: it can stand in a table or a log line."""

Word = TypeVar("Word", bound=StrEnum)


def word_of(words: type[Word]) -> BeforeValidator:
    """A validator that reads a plain word as a member of the enum."""
    by_name = {str(word): word for word in words}

    def read(value: object) -> Word:
        if isinstance(value, str) and value in by_name:
            return by_name[value]
        known = list(by_name)
        near = nearest(value, known) if isinstance(value, str) else None
        hint = f"; did you mean '{near}'?" if near else ""
        raise ValueError(f"must be one of {', '.join(known)}, not {shown(value)}{hint}")

    return BeforeValidator(read)


def _tuple_of(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


FromList = BeforeValidator(_tuple_of)
"""Reads a YAML list as a tuple."""


Model = TypeVar("Model", bound=BaseModel)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in the file. Raises ConfigError where it is missing, too large or not YAML."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_CONFIG_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(content) > MAX_CONFIG_BYTES:
        raise ConfigError(f"{path}: a configuration must have at most {MAX_CONFIG_BYTES} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: must be UTF-8 text") from None
    return parse_yaml(text, str(path))


def check(model: type[Model], values: dict[str, Any], where: str) -> Model:
    """The values as the model. Raises ConfigError: one line, the key's dotted path, the remedy."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{where}: {_complaint(model, error.errors())}") from None


def check_part(model: type[BaseModel], values: dict[str, Any], where: str) -> None:
    """Check values that name only some of the model's keys. Raises ConfigError as `check` does."""
    complaint = complaint_about_part(model, values)
    if complaint:
        raise ConfigError(f"{where}: {complaint}")


def complaint_about_part(model: type[BaseModel], values: dict[str, Any]) -> str | None:
    """What is wrong with values that name some of the model's keys, or None. Absent keys are fine."""
    if values == {}:
        return None
    try:
        model.model_validate(values)
    except ValidationError as error:
        present = [entry for entry in error.errors() if entry["type"] != "missing"]
        return _complaint(model, present) if present else None
    return None


def key_paths(model: type[BaseModel], prefix: str = "") -> list[str]:
    """The dotted paths of the model's values, those of nested models included, in order."""
    paths: list[str] = []
    for name, field in model.model_fields.items():
        inside = _model_in(field.annotation)
        paths += key_paths(inside, f"{prefix}{name}.") if inside else [prefix + name]
    return paths


def leaves(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as one: the values that are none, by dotted path, in order."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        inside = isinstance(value, dict)
        flat |= leaves(value, f"{prefix}{key}.") if inside else {f"{prefix}{key}": value}
    return flat


def nested(values: Mapping[str, object]) -> dict[str, Any]:
    """Values by dotted path as nested mappings: the inverse of `leaves`."""
    tree: dict[str, Any] = {}
    for path, value in values.items():
        *groups, key = path.split(".")
        inside = tree
        for group in groups:
            inside = inside.setdefault(group, {})
        inside[key] = value
    return tree


def with_values(record: Model, values: Mapping[str, object], where: str) -> Model:
    """The record with other values at some dotted paths. ConfigError where it cannot have them."""
    changed = record.model_dump()
    for path, value in values.items():
        *groups, key = path.split(".")
        inside = changed
        for group in groups:
            inside = inside[group]
        inside[key] = value
    return check(type(record), changed, where)


def _complaint(model: type[BaseModel], errors: list[ErrorDetails]) -> str:
    """One line about the first error; a key that does not exist explains one that is missing."""
    first = min(errors, key=lambda entry: entry["type"] != "extra_forbidden")
    path = ".".join(str(step) for step in first["loc"])
    match first["type"]:
        case "extra_forbidden":
            return f"unknown key '{path}'{_near_key(model, path)}"
        case "missing":
            return f"the key '{path}' is missing"
        case "value_error":
            message = str(first["msg"]).removeprefix("Value error, ")
            return f"{path}: {message}" if path else message
        case kind:
            message = _MUST_BE.get(kind, first["msg"]).format(**first.get("ctx", {}))
            return f"{path}: {message}, not {shown(first['input'])}"


_MUST_BE = {
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "string_pattern_mismatch": "must match {pattern}",
    "model_type": "must be a mapping of keys to values",
    "dict_type": "must be a mapping of keys to values",
    "tuple_type": "must be a list",
    "too_long": "must be a list of {max_length}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}


def _near_key(model: type[BaseModel], path: str) -> str:
    parent, dot, _ = path.rpartition(".")
    siblings = [f"{parent}{dot}{name}" for name in _fields_at(model, parent)]
    near = nearest(path, [*siblings, *key_paths(model)])
    return f"; did you mean '{near}'?" if near else f"; known: {', '.join(siblings)}"


def _fields_at(model: type[BaseModel], path: str) -> list[str]:
    """The keys of the nested model that the path leads to; a mapping's own keys lead through it."""
    current = model
    for step in path.split(".") if path else []:
        field = current.model_fields.get(step)
        if field is not None:
            values = get_args(field.annotation)
            current = _model_in(values[-1] if values else field.annotation) or current
    return list(current.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return annotation if is_model else None
