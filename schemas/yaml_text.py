"""YAML as configurations use it: plain mappings, exact numbers, nothing that can unfold or surprise.

Fewer freedoms than YAML has: no aliases, no merge keys, no repeated keys, keys are words, nesting
is shallow, whole numbers are decimal (`010` and `1:30` are refused, not read as 8 and 90).
"""

import re
from decimal import Decimal
from typing import Any

import yaml
from pydantic import BaseModel

from .errors import ConfigError

_TAG = "tag:yaml.org,2002:"

MAX_DEPTH = 20
MAX_DIGITS = 40

_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9_]*)")
_NUMBER = re.compile(r"[-+]?(\.inf|\.nan|[0-9][0-9_]*(\.[0-9_]*)?(e[-+]?[0-9]+)?|\.[0-9_]+)")


class _Refused(yaml.MarkedYAMLError):
    """Valid YAML that a configuration may not use."""

    def __init__(self, problem: str, mark: yaml.Mark | None) -> None:
        super().__init__(problem=problem, problem_mark=mark)


class _ExactLoader(yaml.SafeLoader):
    """SafeLoader with fewer freedoms, whose floats are Decimals and whose dates are text."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # types-PyYAML leaves it bare
        if self.check_event(yaml.AliasEvent):
            raise _Refused("an alias (*name) is not allowed; write the value out", event.start_mark)
        if event.tag is not None:
            raise _Refused(f"a tag ({event.tag}) is not allowed; leave it out", event.start_mark)
        if self.depth == MAX_DEPTH:
            raise _Refused(f"nested deeper than {MAX_DEPTH} levels", event.start_mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            key = _word(key_node)
            if key in seen:
                raise _Refused(f"the key '{key}' stands twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def _word(key_node: yaml.Node) -> str:
    if key_node.tag == _TAG + "merge":
        raise _Refused("a merge key (<<) is not allowed; write the keys out", key_node.start_mark)
    if key_node.tag != _TAG + "str":
        found = key_node.value if isinstance(key_node, yaml.ScalarNode) else "a list or mapping"
        raise _Refused(f"a key must be a word, not {found}", key_node.start_mark)
    return str(key_node.value)


def _construct_whole(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    return int(_digits(node, _WHOLE))


def _construct_decimal(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Decimal:
    return Decimal(_digits(node, _NUMBER).replace(".inf", "inf").replace(".nan", "nan"))


def _digits(node: yaml.ScalarNode, form: re.Pattern[str]) -> str:
    text = str(node.value).lower()
    if len(text) > MAX_DIGITS:
        problem = f"a number must have at most {MAX_DIGITS} digits, not {len(text)}"
        raise _Refused(problem, node.start_mark)
    if not form.fullmatch(text):
        raise _Refused(f"a number must be written in plain decimal, not {text}", node.start_mark)
    return text


_ExactLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TAG + "timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_ExactLoader.add_constructor(_TAG + "int", _construct_whole)
_ExactLoader.add_constructor(_TAG + "float", _construct_decimal)


def parse_yaml(text: str, where: str) -> dict[str, Any]:
    """The mapping that the text holds. Raises ConfigError naming `where` and the line."""
    try:
        parsed = yaml.load(text, Loader=_ExactLoader)  # a SafeLoader with fewer freedoms
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(f"{where}{line}: not valid YAML: {_one_line(error.problem)}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{where}: not valid YAML: {_one_line(str(error))}") from None
    if not isinstance(parsed, dict):
        raise ConfigError(f"{where}: must be a mapping of keys to values, not {shown(parsed)}")
    return parsed


def _one_line(problem: str | None) -> str:
    return (problem or "cannot be read").split("\n")[0]


def shown(value: object) -> str:
    """A value as the user wrote it in YAML, short enough for an error's one line."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case dict():
            return "a mapping"
        case list() | tuple():
            return _shortened(f"[{', '.join(map(shown, value))}]")
        case str():
            return repr(_shortened(value))
        case _:
            return _shortened(str(value))


def _shortened(text: str) -> str:
    """The text, cut where it is too long for an error's line."""
    return text if len(text) <= MAX_DIGITS else text[:MAX_DIGITS] + "…"


class _ExactDumper(yaml.SafeDumper):
    """SafeDumper that writes Decimals as they stand and lists on one line."""


def _represent_decimal(dumper: yaml.SafeDumper, value: Decimal) -> yaml.Node:
    text = format(value, "f")
    kind = "float" if "." in text else "int"
    return dumper.represent_scalar(_TAG + kind, text)


def _represent_list(dumper: yaml.SafeDumper, values: list[Any]) -> yaml.Node:
    return dumper.represent_sequence(_TAG + "seq", values, flow_style=True)


_ExactDumper.add_representer(Decimal, _represent_decimal)
_ExactDumper.add_representer(list, _represent_list)


def format_yaml(record: BaseModel) -> str:
    """The record as YAML that reads back to an equal one. Numbers keep their written decimal."""
    return yaml.dump(
        _plain(record.model_dump()),
        Dumper=_ExactDumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=100,
    )


def _plain(value: Any) -> Any:
    """Words for enums and lists for tuples, Decimals left as they are."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return str(value) if isinstance(value, str) else value
