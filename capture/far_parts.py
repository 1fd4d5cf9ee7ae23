"""The parts of tensors that one PE reaches in other PEs' HBM, beside what it is given itself.

Each is one more tensor of the PE's entry in the trace, numbered behind the launch's own in the order
in which the kernel first asks for them. So PEs that ask alike, each for its neighbour's part, have
equal streams. Two of a PE's tensors never lie on the same bytes: what it is given itself is not
numbered again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..schemas.errors import KernelError
from ..schemas.wires import Wires
from .hbm_layout import PeTensors
from .tensors import HbmTensor

ProgramId: TypeAlias = tuple[int, int, int]
"""(PE, CUBE, SIP), as tl.program_id counts them."""


@dataclass(frozen=True, slots=True)
class FarPart:
    """A part: the `tensor` of the launch by its number, as the PE of rank `seen_by` sees it."""

    seen_by: int
    tensor: int
    owner: int
    base: int


class FarParts:
    """What the PE `own` has asked for. `seen_at` is what every launched PE sees of the tensors."""

    def __init__(self, seen_at: Mapping[ProgramId, PeTensors], own: PeTensors) -> None:
        self._seen_at = seen_at
        self._own = own
        self._numbers: dict[FarPart, int] = {}
        self._owners = dict(enumerate(own.owners))

    @property
    def parts(self) -> tuple[FarPart, ...]:
        """Those asked for, in the order of their numbers."""
        return tuple(self._numbers)

    def check_reached(self, tensor: HbmTensor, wires: Wires) -> None:
        """Raises KernelError where no way of the machine leads to the tensor's owner and back."""
        own = self._own.rank
        owner = self._owners.get(tensor.number, own)
        if owner == own:
            return
        complaint = wires.complaint(wires.way(owner, own), owner, own)
        if complaint is not None:
            raise KernelError(f"'{tensor.name}' lies with PE {owner}, and {complaint}")

    def part(self, tensor: HbmTensor, place: ProgramId) -> tuple[HbmTensor, FarPart | None]:
        """What the PE at `place` sees of a tensor, to be used by this one; and what that is, unless it
        is what this PE was given itself.

        Raises KernelError for a slice, for a part that was asked for itself, and for a PE that is not
        launched.
        """
        there, number = self._seen(place), tensor.number
        if number >= len(self._own.owners) or not self._is_whole(tensor):
            raise KernelError(
                f"tl.part_of: '{tensor.name}' must be a tensor as the kernel was given it, not a part"
                " or a slice; take the part first, then slice it"
            )
        if there.owners[number] == self._own.owners[number]:
            return tensor, None
        far = FarPart(there.rank, number, there.owners[number], there.bases[number])
        known = self._numbers.setdefault(far, len(self._own.owners) + len(self._numbers))
        self._owners[known] = far.owner
        shape = tuple(len(indexes) for indexes in there.parts[number])
        return HbmTensor.whole(self._own.rank, known, tensor.name, shape, tensor.dtype), far

    def _seen(self, place: ProgramId) -> PeTensors:
        if place not in self._seen_at:
            pe, cube, sip = place
            raise KernelError(
                f"tl.part_of: pe {pe} of cube {cube} of sip {sip} must be in the launch, and is not"
            )
        return self._seen_at[place]

    def _is_whole(self, tensor: HbmTensor) -> bool:
        own = tuple(len(indexes) for indexes in self._own.parts[tensor.number])
        return tensor.shape == own and tensor.offset == 0 and tensor.is_contiguous
