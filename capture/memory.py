"""One PE's TCM as capture hands it out: a persistent part, and scratch that scopes recycle.

Addresses ascend and are 64-byte aligned. Persistent memory is never given back. A scratch scope
cuts what is left of the scratch (or of the scope around it) into `slots` equal regions; each visit
takes the next in rotation and gives it back when it ends, so what one visit made survives
slots − 1 further visits.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from ..schemas.topology import PeStructure

ALIGNMENT = 64


@dataclass(slots=True, eq=False)
class Region:
    """Bytes [start, end), of which [top, end) are free: one of the `slots` of a scope, or the only one.

    `recycled`: its bytes were handed out anew. `left` are the regions of scopes inside it, at any
    depth, that were left and are not recycled.
    """

    start: int
    end: int
    top: int
    slots: int = 1
    recycled: bool = False
    left: "list[Region]" = field(default_factory=list)

    def take(self, size_bytes: int) -> int | None:
        """The address of that many bytes, or None where they do not fit. Recycles what lay there."""
        address = align_up(self.top)
        if address + size_bytes > self.end:
            return None
        self.top = address + size_bytes
        if self.left:
            self.recycle(address, self.top)
        return address

    def recycle(self, start: int, end: int) -> None:
        """Marks every left region that had bytes there."""
        for region in self.left:
            region.recycled = region.start < end and start < region.top
        self.left = [region for region in self.left if not region.recycled]

    def slot(self, count: int, number: int) -> "Region":
        """One of `count` equal parts of what is free."""
        base = align_up(self.top)
        size_bytes = max(0, self.end - base) // count // ALIGNMENT * ALIGNMENT
        start = base + number * size_bytes
        return Region(start, start + size_bytes, start, count)

    @property
    def free_bytes(self) -> int:
        return max(0, self.end - align_up(self.top))


class Arena:
    """The TCM of one PE: [0, tcm − scratch) persistent, the rest scratch."""

    def __init__(self, pe: PeStructure) -> None:
        boundary = pe.tcm_bytes - pe.scratch_bytes
        self._persistent = Region(0, boundary, 0)
        self._scopes = [Region(boundary, pe.tcm_bytes, boundary)]
        self._visits: list[int] = []

    @property
    def in_scope(self) -> bool:
        return len(self._scopes) > 1

    def region(self, scratch: bool) -> Region:
        """Where the next allocation comes from: inside a scope always its slot."""
        return self._scopes[-1] if scratch or len(self._scopes) > 1 else self._persistent

    def take(self, size_bytes: int, region: Region) -> int | None:
        """An address in the region for that many bytes, or None."""
        return region.take(size_bytes)

    def full(self, size_bytes: int, region: Region, what: str) -> str:
        """Why `what` did not fit, and what to do."""
        part, remedy = "scratch", "put the loop's body in tl.scratch_scope(), which recycles it"
        if region is self._persistent:
            part = "persistent part"
        elif self.in_scope:
            part = "scratch slot"
            remedy = "put the scope inside the loop, not around it, or make tiles smaller"
            remedy += ", or slots fewer" if region.slots > 1 else ""
        return (
            f"the TCM's {part} is full: {what} needs {size_bytes} bytes, and {region.free_bytes}"
            f" of {region.end - region.start} are free; {remedy}"
        )

    def scope(self, slots: int) -> "Visit":
        """Scratch taken inside is given back at the end; visits rotate through the slots."""
        return Visit(self, slots)

    def enter(self, slots: int) -> None:
        """Begins a visit: everything is taken from the next slot from now on."""
        level = len(self._scopes) - 1
        if level == len(self._visits):
            self._visits.append(0)
        outer = self._scopes[-1]
        slot = outer.slot(slots, self._visits[level] % slots)
        self._visits[level] += 1
        outer.recycle(slot.start, slot.end)
        self._scopes.append(slot)

    def leave(self) -> None:
        """Ends the innermost visit. What it made stays usable until its bytes are taken anew."""
        visited = self._scopes.pop()
        left = self._scopes[-1].left
        left += visited.left
        if visited.top > visited.start:
            left.append(visited)


class Visit(AbstractContextManager[None]):
    """One visit of a scratch scope, as a with statement makes it."""

    __slots__ = ("_arena", "_slots")

    def __init__(self, arena: Arena, slots: int) -> None:
        self._arena = arena
        self._slots = slots

    def __enter__(self) -> None:
        self._arena.enter(self._slots)

    def __exit__(self, *raised: object) -> None:
        self._arena.leave()


def align_up(address: int) -> int:
    """The next multiple of 64 bytes, or the address itself if it is one."""
    return -(-address // ALIGNMENT) * ALIGNMENT
