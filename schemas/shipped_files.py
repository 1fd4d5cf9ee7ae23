"""Finds a YAML configuration by the name it ships under, or by a path. Works from a wheel.

A word ending in .yaml or .yml, or containing a path separator, is a path; any other word is the
name of a file that ships in the given package.
"""

import os
from importlib import resources
from pathlib import Path
from typing import Any

from .config_file import read_yaml
from .errors import ConfigError, did_you_mean, nearest
from .yaml_text import parse_yaml

_SUFFIXES = (".yaml", ".yml")


def shipped_names(package: str) -> list[str]:
    """The names of the YAML files in an installed package, sorted."""
    files = resources.files(package).iterdir()
    return sorted(Path(file.name).stem for file in files if file.name.endswith(".yaml"))


def read_named_yaml(name_or_path: str, package: str, kind: str) -> tuple[dict[str, Any], str]:
    """The file's mapping, and where it is from, for messages.

    A file without `name` or `summary` is named, and summed up, by its file name. Raises
    ConfigError: no such name or file (with what was probably meant), or not YAML.
    """
    if is_path(name_or_path):
        path = Path(name_or_path)
        values, where = _read_path(path, package), name_or_path
    else:
        path = Path(name_or_path + _SUFFIXES[0])
        values, where = _read_shipped(name_or_path, package, kind), f"{kind} {name_or_path}"
    return {"name": path.stem, "summary": f"read from {path.name}"} | values, where


def is_path(name_or_path: str) -> bool:
    """Whether the word means a file rather than a shipped name."""
    separators = [separator for separator in (os.sep, os.altsep) if separator]
    return name_or_path.endswith(_SUFFIXES) or any(mark in name_or_path for mark in separators)


def _read_path(path: Path, package: str) -> dict[str, Any]:
    if not path.exists():
        near = nearest(path.stem, shipped_names(package))
        hint = f"; did you mean the shipped '{near}'?" if near else ""
        raise ConfigError(f"{path}: no such file{hint}")
    return read_yaml(path)


def _read_shipped(name: str, package: str, kind: str) -> dict[str, Any]:
    names = shipped_names(package)
    if name not in names:
        raise ConfigError(f"no {kind} '{name}'{_what_was_meant(name, names)}")
    text = (resources.files(package) / f"{name}{_SUFFIXES[0]}").read_text(encoding="utf-8")
    return parse_yaml(text, f"{kind} {name}")


def _what_was_meant(name: str, names: list[str]) -> str:
    if Path(name).is_file():
        return "; a file of your own must end in .yaml"
    return did_you_mean(name, names)
