"""A composite while it is planned: its bindings, what it allocates, and its ops so far.

A binding is a number for a handle: first the distinct handles that the kernel gave, in order of
appearance, then those that the composite makes itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..schemas.commands import OpForm
from ..schemas.dtypes import DType
from ..schemas.handles import Geometry, Space, contiguous_strides
from ..schemas.op_rules import Shape
from .handles import TensorHandle
from .segments import PlannedOp


@dataclass(frozen=True, slots=True)
class Allocated:
    """A handle that the composite makes. `label` '' takes the call site's; `view_of` a binding."""

    label: str
    geometry: Geometry
    view_of: int | None = None


class Bindings:
    """The distinct handles of a call, numbered in order of appearance.

    `roots` has, per handle, the number of the first one on the same TCM allocation: its own, unless
    the kernel gave several views of one buffer.
    """

    def __init__(self) -> None:
        self.handles: list[TensorHandle] = []
        self.roots: list[int] = []
        self._numbers: dict[int, int] = {}
        self._first_on: dict[int, int] = {}

    def number(self, handle: TensorHandle) -> int:
        """The handle's binding; a new handle gets the next."""
        following = len(self.handles)
        number = self._numbers.setdefault(id(handle), following)
        if number == following:
            self.handles.append(handle)
            allocation = handle.allocation
            in_hbm = allocation.region is None
            root = number if in_hbm else self._first_on.setdefault(id(allocation), number)
            self.roots.append(root)
        return number


class Workspace:
    """The ops planned so far. `previous` is the binding that the last of them (or a recipe) made."""

    def __init__(self, given: Bindings) -> None:
        self._given = given
        self.allocated: list[Allocated] = []
        self.ops: list[PlannedOp] = []
        self.previous: int | None = None

    def binding(self, handle: TensorHandle) -> int:
        """The binding of a handle that the kernel gave."""
        return self._given.number(handle)

    def geometry(self, binding: int) -> Geometry:
        """What the bound handle looks like."""
        given = self._given.handles
        if binding < len(given):
            return given[binding].geometry
        return self.allocated[binding - len(given)].geometry

    def allocate(self, label: str, shape: Shape, dtype: DType) -> int:
        """A new contiguous TCM handle's binding."""
        strides = contiguous_strides(shape, dtype.size_bytes)
        return self._make(Allocated(label, Geometry(shape, strides, dtype, Space.TCM)))

    def transposed(self, binding: int) -> int:
        """The binding of a view of an allocated handle, its axes exchanged."""
        made = self.allocated[binding - len(self._given.handles)]
        flipped = replace(
            made.geometry, shape=made.geometry.shape[::-1], strides=made.geometry.strides[::-1]
        )
        return self._make(Allocated(made.label, flipped, view_of=binding))

    @property
    def viewed(self) -> dict[int, int]:
        """The bindings on another's allocation, each with the one that stands for all of them."""
        given = {number: root for number, root in enumerate(self._given.roots) if root != number}
        made = {
            len(self._given.handles) + place: made.view_of
            for place, made in enumerate(self.allocated)
            if made.view_of is not None
        }
        return given | made

    def _make(self, made: Allocated) -> int:
        self.allocated.append(made)
        return len(self._given.handles) + len(self.allocated) - 1

    def emit(self, form: OpForm, slots: Sequence[int]) -> None:
        """Adds an op; its slots are bindings, the output's last."""
        self.ops.append(PlannedOp(form, tuple(slots)))
        self.previous = slots[-1]
