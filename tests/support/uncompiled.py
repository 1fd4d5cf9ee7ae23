"""The modules of replay/ that are compiled, run as the Python that they were compiled from."""

import importlib.util
from pathlib import Path
from types import ModuleType

from kerntape.replay import native


def uncompiled(name: str) -> ModuleType:
    """The source, run as Python, whatever is built beside it."""
    source = Path(native.__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"kerntape.replay.uncompiled_{name}", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
