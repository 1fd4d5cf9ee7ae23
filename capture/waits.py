"""Which asynchronous commands PE_CPU has not waited for, and which of them a read must wait for.

PE_CPU waits for a load or a receive before anything that reads what it brings, and for a composite
before a math, dot, store or send that reads what it wrote; "reads" is decided by bytes of one
allocation. It never waits for one composite on behalf of another. A wait is recorded once.

A message that is received asynchronously is there, in program order, before any later command that
touches its bytes, even one that only writes them and so waits for nothing.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from ..schemas.footprints import footprint, shared_bytes
from ..schemas.handles import Geometry
from ..schemas.trace import SourceLine
from .handles import TensorHandle, UnwaitedWrite

Arrival: TypeAlias = Callable[[SourceLine | None], None]
"""Brings an awaited message; given the line at which the PE waits, or None at the kernel's end."""


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


class Untaken:
    """The asynchronous receives of one PE whose messages are not in their handles yet."""

    def __init__(self) -> None:
        self._receives: dict[int, tuple[TensorHandle, Arrival]] = {}

    def add(self, command: int, target: TensorHandle, arrival: Arrival) -> None:
        """A receive was issued."""
        self._receives[command] = target, arrival

    def take(self, commands: Iterable[int], line: SourceLine | None) -> None:
        """Has the messages of those of the commands that are such receives."""
        for command in commands:
            if command in self._receives:
                _, arrive = self._receives.pop(command)
                arrive(line)

    def take_touched(self, handles: Iterable[TensorHandle], line: SourceLine | None) -> None:
        """Has every message whose bytes the handles touch."""
        if self._receives:
            touched = [
                command
                for command, (target, _) in self._receives.items()
                if any(_share_bytes(handle, target) for handle in handles)
            ]
            self.take(touched, line)

    def take_all(self) -> None:
        """Has every message: the kernel has ended."""
        self.take(list(self._receives), None)


def _share_bytes(handle: TensorHandle, received: TensorHandle) -> bool:
    """Whether a handle in use covers bytes of a receive's: on another allocation only recycled ones."""
    allocation = received.allocation
    if handle.allocation is not allocation:
        region = allocation.region
        if region is None or not region.recycled or handle.tensor != received.tensor:
            return False
    return _overlap(handle.geometry, handle.address, received.geometry, received.address)


def _overlap(one: Geometry, one_address: int, other: Geometry, other_address: int) -> bool:
    """Whether two handles share a byte; the same place in the same shape needs no arithmetic."""
    if one is other and one_address == other_address:
        return True
    shared = shared_bytes(footprint(one, one_address), footprint(other, other_address))
    return shared is not None
