"""Reads a YAML file into a checked model, with messages that name the file, the key and the remedy.

Decimals keep their written value (`0.0625` is 625/10000, never a binary float), and aliases are
refused, so a small file cannot unfold into a large one.
"""

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from .errors import ConfigError, did_you_mean

MAX_CONFIG_BYTES = 1 << 20


class StrictModel(BaseModel):
    """The base of every record read from YAML: frozen, no unknown keys, no silent conversions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _as_decimal(value: object) -> object:
    """YAML gives int or Decimal; a number from Python code may be a float, read as it prints."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        return value
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return value


Exact = Annotated[Decimal, BeforeValidator(_as_decimal)]
"""A number with its written value: fractions of it are exact."""

Model = TypeVar("Model", bound=BaseModel)


class _ExactLoader(yaml.SafeLoader):
    """SafeLoader whose floats are Decimals, which refuses aliases and repeated keys."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(
                None, None, "aliases (*name) are not allowed here", event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    None, None, f"a key must be a word, not {key!r}", key_node.start_mark
                )
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key}' stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def _construct_decimal(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Decimal:
    text = str(loader.construct_scalar(node)).replace("_", "").lower()
    text = text.replace(".inf", "inf").replace(".nan", "nan")
    try:
        return Decimal(text)
    except InvalidOperation:
        raise yaml.constructor.ConstructorError(
            None, None, f"'{text}' is not a number", node.start_mark
        ) from None


_ExactLoader.add_constructor("tag:yaml.org,2002:float", _construct_decimal)


def parse_yaml(text: str, where: str) -> dict[str, Any]:
    """The mapping that the text holds. Raises ConfigError naming `where` and the line."""
    try:
        # not yaml.load on arbitrary tags: the loader is SafeLoader with fewer freedoms
        parsed = yaml.load(text, Loader=_ExactLoader)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(f"{where}{line}: not valid YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(f"{where}: not valid YAML: {_first_line(error)}") from None
    if not isinstance(parsed, dict):
        raise ConfigError(f"{where}: must be a mapping of keys to values, not {_kind(parsed)}")
    return parsed


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in the file. Raises ConfigError where it is missing, too large or not YAML."""
    try:
        if path.stat().st_size > MAX_CONFIG_BYTES:
            raise ConfigError(f"{path}: larger than {MAX_CONFIG_BYTES} bytes; not a configuration")
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    return parse_yaml(text, str(path))


def check(model: type[Model], values: dict[str, Any], where: str) -> Model:
    """The values as the model. Raises ConfigError: one line, the key's dotted path, the remedy."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{where}: {_explain(model, error)}") from None


def _explain(model: type[BaseModel], error: ValidationError) -> str:
    first = error.errors()[0]
    path = ".".join(str(step) for step in first["loc"])
    if first["type"] == "extra_forbidden":
        parent, _, name = path.rpartition(".")
        known = _fields_at(model, parent.split(".") if parent else [])
        return f"unknown key '{path}'{did_you_mean(name, known)}"
    if first["type"] == "missing":
        return f"the key '{path}' is missing"
    message = first["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    if first["type"] == "value_error":
        return f"{path}: {message}" if path else message
    return f"{path}: {message}, not {_shown(first['input'])}"


def _fields_at(model: type[BaseModel], path: list[str]) -> list[str]:
    """The keys a model knows at a dotted path; none where the path leaves the models."""
    current = model
    for step in path:
        field = current.model_fields.get(step)
        annotation = field.annotation if field else None
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            return []
        current = annotation
    return list(current.model_fields)


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
