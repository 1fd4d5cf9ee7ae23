"""What a composite allocates, laid out once per plan, so that each call takes it in one piece.

The parts lie as if each had been taken by itself, in order, each at its alignment.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .interning import InternedGeometry, InternPool
from .memory import align_up
from .workspace import Allocated


@dataclass(frozen=True, slots=True)
class Part:
    """One handle, `offset` bytes from the start. `label` '' takes the call site's.

    A view lies on the bytes of a part before it.
    """

    interned: InternedGeometry
    offset: int
    label: str
    is_view: bool


@dataclass(frozen=True, slots=True)
class ScratchLayout:
    """The parts in order, their geometries' numbers, and the bytes from the first to the last."""

    parts: tuple[Part, ...]
    geometry_numbers: tuple[int, ...]
    size_bytes: int


def lay_out(allocated: Sequence[Allocated], first: int, pool: InternPool) -> ScratchLayout:
    """The layout of what a composite makes; `first` is the binding of the first of it."""
    parts: list[Part] = []
    size_bytes = 0
    for each in allocated:
        shown = each.geometry
        interned = pool.geometry(shown.shape, shown.strides, shown.dtype, shown.space)
        if each.view_of is None:
            offset = align_up(size_bytes)
            size_bytes = offset + interned.size_bytes
        else:
            offset = parts[each.view_of - first].offset
        parts.append(Part(interned, offset, each.label, each.view_of is not None))
    return ScratchLayout(tuple(parts), tuple(part.interned.number for part in parts), size_bytes)
