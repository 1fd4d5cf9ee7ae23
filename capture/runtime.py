"""What a launch function is given: `rt` allocates tensors, names their references, asks for one launch.

Nothing runs while the launch function runs: the kernel starts when it has returned. Values are made
when they are first needed, so that without data (`capture --no-data`) none are made at all and the
launch function need not know.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..schemas.dtypes import DType
from ..schemas.errors import ConfigError
from ..schemas.topology import Place, Topology
from ..schemas.values import Array, round_to
from .arguments import INT32, DTypeLike, ShapeLike, as_dtype, as_shape
from .device import Device
from .launch_arguments import LaunchArgument
from .placement import REPLICATED, LaunchGrid, Placement, launch_grid
from .wrong_calls import Offering

Float64s: TypeAlias = npt.NDArray[np.float64]
Maker: TypeAlias = Callable[[np.random.Generator], npt.ArrayLike]
Reference: TypeAlias = npt.ArrayLike | Callable[[], npt.ArrayLike]
DEFAULT_DTYPE = DType.BF16


class Tensor:
    """A tensor in HBM. `name` is its own or, from rt.launch on, that of the kernel's parameter."""

    def __init__(
        self,
        number: int,
        name: str | None,
        shape: tuple[int, ...],
        dtype: DType,
        placement: Placement,
        make: Callable[[], Array] | None,
    ) -> None:
        self.number = number
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self.placement = placement
        self._make = make
        self._stored: Array | None = None

    @property
    def values(self) -> Float64s:
        """The values that the kernel starts with, rounded to the dtype, as float64.

        Raises ConfigError without data: a reference that needs them is a function, which is then
        not called.
        """
        return self.stored().astype(np.float64)

    def stored(self) -> Array:
        """The values that the kernel starts with, in the storage dtype."""
        if self._stored is None:
            if self._make is None:
                raise ConfigError(
                    f"{self} has no values under --no-data; use them in a function only:"
                    " rt.output(…, reference=lambda: …)"
                )
            self._stored = round_to(self._checked(np.asarray(self._make())), self.dtype)
        return self._stored

    def _checked(self, made: Array) -> Array:
        if made.shape != self.shape:
            raise ConfigError(
                f"the values of {self} must have shape {list(self.shape)}, not {list(made.shape)}"
            )
        if self.dtype is DType.I32:
            fits = (made >= INT32.start) & (made < INT32.stop)
            if not fits.all():
                raise ConfigError(f"the values of {self} must fit i32, not {made[~fits][0]}")
        return made

    def __str__(self) -> str:
        return f"tensor '{self.name}'" if self.name else f"tensor {self.number}"


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor whose values the capture reports, and what they should be within which tolerance."""

    tensor: Tensor
    reference: Reference | None
    tolerance: float | None


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """The one launch of a trace: the kernel, where it runs, and what it is called with."""

    kernel: Callable[..., object]
    grid: LaunchGrid
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


class Runtime(Offering):
    """The host's side of a launch. `tensors`, `outputs`, `launched` and `resolved` are what it was told."""

    _called = "rt"

    def __init__(self, device: Device, *, with_data: bool, seed: int) -> None:
        self.device = device
        self.tensors: list[Tensor] = []
        self.outputs: list[Output] = []
        self.launched: LaunchRequest | None = None
        self.resolved: dict[str, LaunchArgument] = {}
        self._with_data = with_data
        self._seed = seed

    @property
    def topology(self) -> Topology:
        """The machine, whole."""
        return self.device.topology

    @property
    def sips(self) -> int:
        """How many of its SIPs this launch may use: all, or those that `--device` names."""
        return len(self.device.sips)

    def zeros(
        self,
        shape: ShapeLike,
        dtype: DTypeLike = DEFAULT_DTYPE,
        *,
        name: str | None = None,
        placement: Placement = REPLICATED,
    ) -> Tensor:
        """A tensor of zeros."""
        return self._tensor("rt.zeros", shape, dtype, name, placement, np.zeros)

    def empty(
        self,
        shape: ShapeLike,
        dtype: DTypeLike = DEFAULT_DTYPE,
        *,
        name: str | None = None,
        placement: Placement = REPLICATED,
    ) -> Tensor:
        """A tensor that nobody has written: NaN, or 0 where the dtype has none."""
        return self._tensor("rt.empty", shape, dtype, name, placement, _unwritten(dtype))

    def random(
        self,
        shape: ShapeLike,
        dtype: DTypeLike = DEFAULT_DTYPE,
        *,
        name: str | None = None,
        placement: Placement = REPLICATED,
    ) -> Tensor:
        """A tensor of standard normal values, from `--seed` and the tensor's number."""
        generator = self._generator()
        return self._tensor("rt.random", shape, dtype, name, placement, generator.standard_normal)

    def tensor(
        self,
        values: npt.ArrayLike | Maker,
        shape: ShapeLike | None = None,
        dtype: DTypeLike = DEFAULT_DTYPE,
        *,
        name: str | None = None,
        placement: Placement = REPLICATED,
    ) -> Tensor:
        """A tensor with values of one's own: an array, or a function of a seeded random generator.

        An array is copied. A function needs `shape`; it is called when the values are needed, and
        never without data.
        """
        if not callable(values):
            array = np.array(values)
            extents = array.shape if shape is None else shape
            return self._tensor("rt.tensor", extents, dtype, name, placement, lambda _: array)
        if shape is None:
            raise ConfigError("rt.tensor of a function needs a shape: rt.tensor(make, (8, 128))")
        make, generator = values, self._generator()
        return self._tensor(
            "rt.tensor", shape, dtype, name, placement, lambda _: np.asarray(make(generator))
        )

    def output(
        self, tensor: Tensor, reference: Reference | None = None, tolerance: float | None = None
    ) -> Tensor:
        """Marks a tensor as a result. The capture compares it with the reference, where there is one.

        `reference` is an array of the tensor's shape, or a function that computes it in float64
        (from other tensors' `values`, say), which is not called without data. `tolerance` bounds
        |result − reference|; by default it follows from the dtype (capture.outputs). Returns the
        tensor.
        """
        if any(output.tensor is tensor for output in self.outputs):
            raise ConfigError(f"{tensor} must be marked as an output once, not twice")
        self.outputs.append(Output(tensor, reference, tolerance))
        return tensor

    def resolve(self, **arguments: LaunchArgument) -> None:
        """Says what arguments of the launch function stand for whose given value leaves it open.

        The trace's header shows these values instead: `scale` None as the 1/√d that was used.
        """
        self.resolved |= arguments

    @property
    def replicated(self) -> Placement:
        """Placement: every PE holds a copy."""
        return REPLICATED

    def split(self, axis: int, over: str | Sequence[str]) -> Placement:
        """Placement: an axis in contiguous blocks over 'pe', 'cube', 'sip' or several of them."""
        return REPLICATED.split(axis, over)

    def owned_by(self, pe: int = 0, cube: int = 0, sip: int = 0) -> Placement:
        """Placement: whole, in one PE's HBM; the others reach it there, over the links.

        The owner need not be launched. `sip` is as program_id(2).
        """
        return Placement(owner=Place(sip, cube, pe))

    def launch(
        self,
        kernel: Callable[..., object],
        grid: Sequence[int],
        /,
        *arguments: Any,
        **keywords: Any,
    ) -> None:
        """Asks for the kernel to run on `grid` = (PEs, CUBEs, SIPs). Exactly once per trace.

        Each PE's kernel is called with the arguments, a tensor among them (or in their lists, tuples
        and dicts) as the part that this PE holds, and with `tl`. A tensor without a name gets its
        parameter's.
        """
        if self.launched is not None:
            raise ConfigError("rt.launch must be called once, not twice: a trace holds one launch")
        self.launched = LaunchRequest(kernel, launch_grid(grid, self.device), arguments, keywords)
        self._name_tensors(kernel, arguments, keywords)
        for tensor in self.tensors:
            try:
                tensor.placement.check(tensor.shape, self.device)
            except ConfigError as error:
                raise ConfigError(f"{tensor}: {error}") from None

    def _tensor(
        self,
        what: str,
        shape: ShapeLike,
        dtype: DTypeLike,
        name: str | None,
        placement: Placement,
        make: Callable[[tuple[int, ...]], Array],
    ) -> Tensor:
        extents = as_shape(shape, what)
        if not isinstance(placement, Placement):
            raise ConfigError(
                f"{what}: placement must be rt.split(axis, over), rt.replicated or rt.owned_by(pe),"
                f" not {placement!r}"
            )
        tensor = Tensor(
            len(self.tensors),
            name,
            extents,
            as_dtype(dtype, what),
            placement,
            (lambda: make(extents)) if self._with_data else None,
        )
        self.tensors.append(tensor)
        return tensor

    def _generator(self) -> np.random.Generator:
        """The next tensor's own random numbers, whatever is drawn for the others, and when."""
        return np.random.default_rng([self._seed, len(self.tensors)])

    def _name_tensors(
        self, kernel: Callable[..., object], arguments: Sequence[Any], keywords: dict[str, Any]
    ) -> None:
        names = [*inspect.signature(kernel).parameters][: len(arguments)]
        given = [*zip(names, arguments, strict=False), *keywords.items()]
        for parameter, value in given:
            if isinstance(value, Tensor) and value.name is None:
                value.name = parameter
        taken: set[str] = set()
        for tensor in self.tensors:
            tensor.name = tensor.name or f"tensor{tensor.number}"
            if tensor.name in taken:
                raise ConfigError(f"two tensors are named '{tensor.name}'; give one another name=…")
            taken.add(tensor.name)


def _unwritten(dtype: DTypeLike) -> Callable[[tuple[int, ...]], Array]:
    filler = np.nan if dtype in (DType.F16, DType.BF16, DType.F32) else 0
    return lambda shape: np.full(shape, filler)
