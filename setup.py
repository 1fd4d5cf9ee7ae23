"""Builds the compiled modules of replay/ (each a .py with its .pxd); all else is in pyproject.toml.

Where no C compiler works the package installs without it and runs the same source uncompiled.
"""

import hashlib
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from Cython.Build import cythonize
from setuptools import Extension, setup

MODULES = ("engine", "engine_layout", "order_layout", "order_pass", "slack_pass")
SHARED = "engine_records"
"""The structs that modules have in common: as C has them, and as numpy makes them."""


def extension(module: str) -> Extension:
    """The module, which says what it was built from; replay/native.py refuses another."""
    names = (f"{module}.py", f"{module}.pxd", f"{SHARED}.py", f"{SHARED}.pxd")
    sources = [f"replay/{name}" for name in names]
    digest = hashlib.sha256(b"".join(Path(source).read_bytes() for source in sources))
    return Extension(
        f"kerntape.replay.{module}",
        sources[:1],
        define_macros=[(f"KERNTAPE_{module.upper()}_SHA256", f'"{digest.hexdigest()}"')],
        depends=sources,
    )


def spell_out(root: Path) -> None:
    """Cython finds a .pxd by the module's full name, which the folders here do not spell out."""
    package = root / "kerntape" / "replay"
    package.mkdir(parents=True)
    for module in (*MODULES, SHARED):
        shutil.copy(f"replay/{module}.pxd", package)


def extensions() -> list[Extension]:
    with TemporaryDirectory() as root:
        spell_out(Path(root))
        built = cythonize(
            [extension(module) for module in MODULES],
            include_path=[root],
            compiler_directives={
                "annotation_typing": False,
                "boundscheck": False,
                "initializedcheck": False,
                "language_level": 3,
                "wraparound": False,
            },
        )
    for each in built:
        each.optional = True  # cythonize drops it
    return built


setup(ext_modules=extensions())
