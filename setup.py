"""Builds the compiled runner (replay/engine.py by way of replay/engine.pxd); all else is in pyproject.toml.

Where no C compiler works the package installs without it and runs the same source uncompiled.
"""

import hashlib
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

SOURCES = ("replay/engine.py", "replay/engine.pxd")


def sources_sha256() -> str:
    """What the module says it was built from; compiled_runner refuses another."""
    digest = hashlib.sha256()
    for source in SOURCES:
        digest.update(Path(source).read_bytes())
    return digest.hexdigest()


def extensions() -> list[Extension]:
    engine = Extension(
        "kerntape.replay.engine",
        ["replay/engine.py"],
        define_macros=[("KERNTAPE_ENGINE_SHA256", f'"{sources_sha256()}"')],
    )
    built = cythonize(
        [engine],
        # Cython finds engine.pxd by the module's full name, which only .typing/ spells out
        include_path=[".typing"],
        compiler_directives={
            "annotation_typing": False,
            "boundscheck": False,
            "initializedcheck": False,
            "language_level": 3,
            "wraparound": False,
        },
    )
    for extension in built:
        extension.optional = True  # cythonize drops it
    return built


setup(ext_modules=extensions())
