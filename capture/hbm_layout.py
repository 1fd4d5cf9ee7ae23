"""Where the launch's tensors lie: per PE, one after the other from HBM address 0, 64-byte aligned.

What a PE sees of a tensor is its part by the placement. It lies in the PE's own HBM, or in that of
the tensor's single owner, whose place then counts for all, whether or not the owner is launched.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np

from ..schemas.errors import ConfigError
from ..schemas.topology import Place
from ..schemas.values import Array
from .device import Device
from .memory import align_up
from .placement import LaunchGrid, Part
from .runtime import Tensor
from .tensors import HbmTensor

Images: TypeAlias = dict[tuple[int, int], Array]
"""uint8 arrays by (rank that sees them, tensor number)."""


@dataclass(frozen=True, slots=True)
class PeTensors:
    """What one PE sees, per tensor number: its part, whose HBM holds it (a rank), and the address there."""

    rank: int
    parts: tuple[Part, ...]
    owners: tuple[int, ...]
    bases: tuple[int, ...]

    def kernel_argument(self, tensor: Tensor) -> HbmTensor:
        """The tensor as this PE's kernel is given it: the part that it sees."""
        shape = _shape(self.parts[tensor.number])
        name = str(tensor.name)
        return HbmTensor.whole(self.rank, tensor.number, name, shape, tensor.dtype)


def lay_out(tensors: Sequence[Tensor], grid: LaunchGrid, device: Device) -> tuple[PeTensors, ...]:
    """Every launched PE's tensors, in rank order.

    Raises ConfigError naming the tensor that does not fit into `topology.pe.hbm_bytes`.
    """
    owners = (tensor.placement.owner for tensor in tensors)
    homes_of_any = dict.fromkeys([*grid.places(), *(owner for owner in owners if owner)])
    addresses = {place: tuple(_bases(tensors, grid, place, device)) for place in homes_of_any}
    seen = []
    for place in grid.places():
        homes = [tensor.placement.home(place) for tensor in tensors]
        seen.append(
            PeTensors(
                device.rank(place),
                tuple(tensor.placement.part(tensor.shape, grid, place) for tensor in tensors),
                tuple(device.rank(home) for home in homes),
                tuple(addresses[home][number] for number, home in enumerate(homes)),
            )
        )
    return tuple(seen)


def _bases(
    tensors: Sequence[Tensor], grid: LaunchGrid, place: Place, device: Device
) -> Iterator[int]:
    """Each tensor's address in the PE's HBM; of one that does not lie there, where it would begin."""
    top = 0
    for tensor in tensors:
        base = align_up(top)
        yield base
        if not tensor.placement.lies_at(place, grid):
            continue
        shape = _shape(tensor.placement.part(tensor.shape, grid, place))
        size_bytes = prod(shape) * tensor.dtype.size_bytes
        capacity = device.topology.pe.hbm_bytes
        if base + size_bytes > capacity:
            raise ConfigError(
                f"{tensor} does not fit into the HBM of PE {device.rank(place)}: it needs"
                f" {size_bytes} bytes and {max(0, capacity - base)} of {capacity} are free"
                " (topology pe.hbm_bytes); split it over more PEs or make it smaller"
            )
        top = base + size_bytes


def images(tensors: Sequence[Tensor], pes: Sequence[PeTensors]) -> Images:
    """The HBM bytes that the kernel starts with, those of one home shared by all that see them."""
    at_home: Images = {}
    seen: Images = {}
    for pe in pes:
        for tensor in tensors:
            home = (pe.owners[tensor.number], tensor.number)
            if home not in at_home:
                part = tensor.stored()[slices(pe.parts[tensor.number])]
                at_home[home] = np.array(part, order="C").reshape(-1).view(np.uint8)
            seen[pe.rank, tensor.number] = at_home[home]
    return seen


def slices(part: Part) -> tuple[slice, ...]:
    """The index that picks a part out of a whole array."""
    return tuple(slice(indexes.start, indexes.stop, indexes.step) for indexes in part)


def _shape(part: Part) -> tuple[int, ...]:
    return tuple(len(indexes) for indexes in part)
