"""The handles a kernel works with: tensors in the PE's TCM, and references into HBM.

A handle is a place and a geometry, never a value: it has no truth value, and Python operators on it
issue commands. `id` counts within the PE; every allocation, view and reference is a new one.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, NoReturn, Protocol, TypeAlias

from ..schemas.dtypes import DType
from ..schemas.errors import KernelError
from ..schemas.footprints import footprint, shared_bytes
from ..schemas.handles import Geometry, Space
from ..schemas.op_rules import Shape
from ..schemas.values import Array
from .arguments import ShapeLike, as_extents
from .interning import InternedGeometry
from .memory import Region
from .no_values import NoValues
from .views import Index, View, indexed, reshaped, transposed

UnwaitedWrite: TypeAlias = tuple[int, Geometry, int]
"""A command and the geometry and address that it writes."""


class Allocation:
    """Bytes handed out once, in a region of the arena (None: in HBM).

    `transfers` and `composites` are the writes into it that PE_CPU has not waited for: loads and
    receives in the one, composites in the other.
    """

    __slots__ = ("composites", "region", "transfers")

    def __init__(self, region: Region | None) -> None:
        self.region = region
        self.transfers: list[UnwaitedWrite] = []
        self.composites: list[UnwaitedWrite] = []


class Owner(Protocol):
    """The PE that a handle belongs to, as far as a handle needs it."""

    def math(self, kind: str, operands: "tuple[Operand, ...]") -> "TensorHandle":
        """Issues a math command; returns its result."""
        ...

    def view_of(self, handle: "TensorHandle", view: View) -> "TensorHandle":
        """A new handle on the same bytes."""
        ...


class TensorHandle(NoValues):
    """A tensor in TCM or a reference to one in HBM. Kernels get them from tl and do not make them."""

    __slots__ = (
        "address",
        "allocation",
        "array",
        "geometry",
        "geometry_number",
        "id",
        "label",
        "owner",
        "tensor",
    )
    OFFERED = ("shape", "dtype", "T", "view", "reshape")
    _called: ClassVar[str] = "handle"

    def __init__(
        self,
        owner: Owner,
        handle_id: int,
        interned: InternedGeometry,
        address: int,
        tensor: int,
        label: str,
        allocation: Allocation,
    ) -> None:
        self.owner = owner
        self.id = handle_id
        self.geometry = interned.geometry
        self.geometry_number = interned.number
        self.address = address
        self.tensor = tensor
        self.label = label
        self.allocation = allocation
        self.array: Array | None = None

    @property
    def shape(self) -> Shape:
        return self.geometry.shape

    @property
    def dtype(self) -> DType:
        return self.geometry.dtype

    @property
    def space(self) -> Space:
        return self.geometry.space

    @property
    def described(self) -> str:
        """For messages: `'Sj' [8, 64] f32`."""
        return f"'{self.label}' {list(self.shape)} {self.dtype}"

    def covers_as(self, other: "TensorHandle") -> bool:
        """Whether it is the same geometry at the same place of the same memory."""
        here = (self.geometry, self.address, self.tensor)
        return here == (other.geometry, other.address, other.tensor)

    def shared_bytes(self, other: "TensorHandle") -> tuple[int, int] | None:
        """The first bytes [from, to) that two handles of one memory share; None where there are none."""
        places = footprint(self.geometry, self.address), footprint(other.geometry, other.address)
        return shared_bytes(*places) if self.tensor == other.tensor else None

    def __repr__(self) -> str:
        return f"<{self.space} handle {self.described}>"

    @property
    def whole(self) -> View:
        """The handle as a view of itself."""
        return View(self.geometry.shape, self.geometry.strides)

    def view(self, *shape: ShapeLike) -> "TensorHandle":
        """The same contiguous bytes in another shape: `x.view(8, -1)` or `x.view((8, 64))`."""
        extents = as_extents(shape[0] if len(shape) == 1 else shape, "view")  # type: ignore[arg-type]
        view = reshaped(self.whole, extents, self.dtype.size_bytes, self.described)
        return self.owner.view_of(self, view)

    reshape = view

    @property
    def T(self) -> "TensorHandle":  # noqa: N802 (the name numpy users know)
        """The last two axes exchanged: a strided view."""
        return self.owner.view_of(self, transposed(self.whole, self.described))

    def __getitem__(self, places: Index) -> "TensorHandle":
        return self.owner.view_of(self, indexed(self.whole, places, self.described))

    def __setitem__(self, places: Index, _: object) -> NoReturn:
        raise KernelError(f"{self.described} cannot be assigned to; name it in a verb: out=")

    def __iter__(self) -> "Iterator[TensorHandle]":
        """Its rows, as views."""
        return (self[row] for row in range(len(self)))

    def __len__(self) -> int:
        if not self.shape:
            raise KernelError(f"{self.described} is one value and has no rows")
        return self.shape[0]

    def __bool__(self) -> NoReturn:
        raise KernelError(
            f"{self.described} has no truth value: a kernel's flow cannot depend on computed"
            " values; use tl.where"
        )

    __hash__ = object.__hash__

    def __add__(self, other: "Operand") -> "TensorHandle":
        return self.owner.math("add", (self, other))

    def __radd__(self, other: "Operand") -> "TensorHandle":
        return self.owner.math("add", (other, self))

    def __sub__(self, other: "Operand") -> "TensorHandle":
        return self.owner.math("sub", (self, other))

    def __rsub__(self, other: "Operand") -> "TensorHandle":
        return self.owner.math("sub", (other, self))

    def __mul__(self, other: "Operand") -> "TensorHandle":
        return self.owner.math("mul", (self, other))

    def __rmul__(self, other: "Operand") -> "TensorHandle":
        return self.owner.math("mul", (other, self))

    def __truediv__(self, other: "Operand") -> "TensorHandle":
        return self.owner.math("div", (self, other))

    def __rtruediv__(self, other: "Operand") -> "TensorHandle":
        return self.owner.math("div", (other, self))

    def __neg__(self) -> "TensorHandle":
        return self.owner.math("neg", (self,))

    def __lt__(self, other: "Operand") -> "TensorHandle":
        return self.owner.math("lt", (self, other))

    def __le__(self, other: "Operand") -> "TensorHandle":
        return self.owner.math("le", (self, other))

    def __gt__(self, other: "Operand") -> "TensorHandle":
        return self.owner.math("gt", (self, other))

    def __ge__(self, other: "Operand") -> "TensorHandle":
        return self.owner.math("ge", (self, other))

    def __eq__(self, other: Any) -> "TensorHandle":  # type: ignore[override]
        return self.owner.math("eq", (self, other))

    def __ne__(self, other: Any) -> "TensorHandle":  # type: ignore[override]
        return self.owner.math("ne", (self, other))

    def __and__(self, other: "TensorHandle") -> "TensorHandle":
        return self.owner.math("and", (self, other))

    def __or__(self, other: "TensorHandle") -> "TensorHandle":
        return self.owner.math("or", (self, other))

    def __invert__(self) -> "TensorHandle":
        return self.owner.math("not", (self,))


Operand: TypeAlias = TensorHandle | int | float
