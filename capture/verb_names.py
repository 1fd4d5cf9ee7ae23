"""What an op is called where its author wrote it: a message names tl's verb, not the kind of the op.

`max`, say, is a Python name and tl's, while the op is `rmax`. The items of a composite name ops
themselves, so messages about them keep the kind.
"""

from ..schemas.commands import GEMM
from ..schemas.errors import KernelError

_OF_OTHER_NAMES = {
    "fill": "tl.full",
    "max_elem": "tl.maximum",
    "min_elem": "tl.minimum",
    "rmax": "tl.max",
    "rmin": "tl.min",
    "rsum": "tl.sum",
    "and": "&",
    "or": "|",
    "not": "~",
    GEMM: "tl.dot",
}


def verb_of(kind: str) -> str:
    """`tl.max` of rmax: the verb that issues the op alone; of the three that have none, the operator."""
    return _OF_OTHER_NAMES.get(kind, f"tl.{kind}")


def as_written(error: KernelError, kind: str) -> KernelError:
    """The error that begins with the op's kind, beginning with its verb."""
    return KernelError(f"{verb_of(kind)}: {str(error).removeprefix(f'{kind}: ')}")
