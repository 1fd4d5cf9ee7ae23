"""Which asynchronous commands PE_CPU has not waited for, and which of them a read must wait for.

PE_CPU waits for a load or a receive before anything that reads what it brings, and for a composite
before a math, dot, store or send that reads what it wrote; "reads" is decided by bytes of one
allocation. It never waits for one composite on behalf of another. A wait is recorded once.
"""

from collections.abc import Iterable

from ..schemas.footprints import footprint, shared_bytes
from ..schemas.handles import Geometry
from .handles import TensorHandle, UnwaitedWrite


class Unwaited:
    """The commands of one PE that run on after they were issued, until PE_CPU has waited for them."""

    def __init__(self) -> None:
        self._commands: dict[int, None] = {}

    def transfer(self, command: int, target: TensorHandle) -> None:
        """A load or an asynchronous receive was issued that writes `target`."""
        self._commands[command] = None
        target.allocation.transfers.append((command, target.geometry, target.address))

    def composite(self, command: int, targets: Iterable[TensorHandle]) -> None:
        """A composite was issued that writes `targets`."""
        self._commands[command] = None
        for target in targets:
            target.allocation.composites.append((command, target.geometry, target.address))

    def before_reading(self, handles: Iterable[TensorHandle], by_composite: bool) -> list[int]:
        """The commands to wait for before these handles are read, ascending."""
        waits: set[int] = set()
        for handle in handles:
            allocation = handle.allocation
            if allocation.transfers:
                waits.update(self._writers(allocation.transfers, handle))
            if allocation.composites and not by_composite:
                waits.update(self._writers(allocation.composites, handle))
        return sorted(waits) if waits else []

    def all(self) -> list[int]:
        """Every command not waited for, ascending."""
        return list(self._commands)

    def settle(self, commands: Iterable[int]) -> None:
        """PE_CPU has waited for these."""
        for command in commands:
            self._commands.pop(command, None)

    def _writers(self, pending: list[UnwaitedWrite], read: TensorHandle) -> list[int]:
        pending[:] = [write for write in pending if write[0] in self._commands]
        return [
            command
            for command, geometry, address in pending
            if _overlap(read.geometry, read.address, geometry, address)
        ]


def _overlap(one: Geometry, one_address: int, other: Geometry, other_address: int) -> bool:
    """Whether two handles share a byte; the same place in the same shape needs no arithmetic."""
    if one is other and one_address == other_address:
        return True
    shared = shared_bytes(footprint(one, one_address), footprint(other, other_address))
    return shared is not None
