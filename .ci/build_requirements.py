"""Prints what building kerntape needs, one requirement a line, as pyproject.toml says."""

import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))
print("\n".join(project["build-system"]["requires"]))
