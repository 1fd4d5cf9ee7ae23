"""What the modules that are compiled when the package is built have in common (setup.py lists them).

Each is one Python source with a .pxd beside it that holds the C types, and says with `built_from()`
which source it was compiled from. Where no C compiler worked the source itself runs, much slower.
"""

import hashlib
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..schemas.errors import KerntapeError

NONE = -1

SHARED = ("engine_records.py", "engine_records.pxd")
"""Among every module's sources, as setup.py has them: the structs that numpy makes and C reads."""


class NativeModule(Protocol):
    """A module that setup.py compiles."""

    __name__: str

    def built_from(self) -> str:
        """The hash of the sources it was compiled from; '' where it runs uncompiled."""


def is_compiled(module: NativeModule) -> bool:
    """Whether the module runs as machine code."""
    return module.built_from() != ""


def refuse_stale(module: NativeModule) -> None:
    """Raises KerntapeError where the module was compiled from other sources than those beside it.

    Where none is, as in an application that was packed without sources, there is nothing to compare.
    """
    name = module.__name__.rpartition(".")[2]
    names = (f"{name}.py", f"{name}.pxd", *SHARED)
    sources = [Path(__file__).with_name(each) for each in names]
    there = [source for source in sources if source.exists()]
    if not there or not is_compiled(module):
        return
    if len(there) < len(sources) or module.built_from() != _sha256(sources):
        raise KerntapeError(
            f"{', '.join(names[:-1])} or {names[-1]} in replay/ changed since {name} was compiled;"
            " run 'pip install -e .' again"
        )


def _sha256(sources: list[Path]) -> str:
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()


def column(module: NativeModule, values: npt.NDArray[Any], dtype: type[np.integer]) -> Any:
    """What the module reads: C integers when compiled, else a list (quicker than numpy)."""
    return np.ascontiguousarray(values, dtype=dtype) if is_compiled(module) else values.tolist()


def new_column(module: NativeModule, length: int, dtype: type[np.integer]) -> Any:
    """What the module writes: `length` times NONE."""
    return np.full(length, NONE, dtype=dtype) if is_compiled(module) else [NONE] * length


def new_room(module: NativeModule, length: int, dtype: type[np.integer]) -> Any:
    """As new_column, but whatever is in it: the module writes before it reads."""
    return np.empty(length, dtype=dtype) if is_compiled(module) else [NONE] * length
