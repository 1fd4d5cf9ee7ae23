"""Checks what a wheel would install: kerntape and nothing else, whole, usable from the wheel itself.

Usage: check_wheel.py WHEEL, from the root of the checkout. Exits with one line per fault.
"""

import sys
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

SOURCE_SUFFIXES = {".py", ".pxd", ".yaml", ".tcss", ".typed"}
COMPILED_SUFFIXES = {".so", ".pyd"}


def expected_files(root: Path) -> set[str]:
    """Every source and data file of the checkout's packages, as a wheel names it."""
    settings = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    return {
        f"kerntape/{file.relative_to(root).as_posix()}"
        for folder in settings["package-dir"].values()
        for file in (root / folder).rglob("*")
        if file.suffix in SOURCE_SUFFIXES
    }


def faults(names: set[str], root: Path) -> list[str]:
    """What the wheel has and should not, or lacks. A compiled module may stand beside its source."""
    expected = expected_files(root)
    installed = {name for name in names if ".dist-info/" not in name}
    strange = {name for name in installed - expected if source_of(name) not in expected}
    return [f"must not be in the wheel: {name}" for name in sorted(strange)] + [
        f"must be in the wheel: {name}" for name in sorted(expected - installed)
    ]


def source_of(name: str) -> str | None:
    """The source of a compiled module: a/engine.cpython-311-….so → a/engine.py; else None."""
    path = PurePosixPath(name)
    if path.suffix not in COMPILED_SUFFIXES:
        return None
    return str(path.with_name(path.name.partition(".")[0] + ".py"))


def main(wheel: str) -> None:
    """Exits non-zero where the wheel is not what it must be."""
    names = set(zipfile.ZipFile(wheel).namelist())
    if found := faults(names, Path.cwd()):
        sys.exit("\n".join(found))
    print(f"{len(names)} files, all of kerntape")


if __name__ == "__main__":
    main(sys.argv[1])
