"""One PE's TCM as capture hands it out: a persistent part, and scratch that scopes recycle.

Addresses ascend and are 64-byte aligned. Persistent memory is never given back. A scratch scope
cuts what is left of the scratch (or of the scope around it) into `slots` equal regions; each visit
takes the next in rotation and gives it back when it ends, so what one visit made survives
slots − 1 further visits.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..schemas.topology import PeStructure

ALIGNMENT = 64


@dataclass(slots=True, eq=False)
class Region:
    """Bytes [start, end), of which [top, end) are free. `recycled`: its bytes were handed out anew."""

    start: int
    end: int
    top: int
    recycled: bool = False

    def take(self, size_bytes: int) -> int | None:
        """The address of that many bytes, or None where they do not fit."""
        address = -(-self.top // ALIGNMENT) * ALIGNMENT
        if address + size_bytes > self.end:
            return None
        self.top = address + size_bytes
        return address

    def slot(self, count: int, number: int) -> "Region":
        """One of `count` equal parts of what is free."""
        base = align_up(self.top)
        size_bytes = max(0, self.end - base) // count // ALIGNMENT * ALIGNMENT
        start = base + number * size_bytes
        return Region(start, start + size_bytes, start)

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
        self._left: list[Region] = []

    @property
    def in_scope(self) -> bool:
        return len(self._scopes) > 1

    def region(self, scratch: bool) -> Region:
        """Where the next allocation comes from: inside a scope always its slot."""
        return self._scopes[-1] if scratch or len(self._scopes) > 1 else self._persistent

    def take(self, size_bytes: int, region: Region) -> int | None:
        """An address in the region for that many bytes, or None.

        What a scope that was left had there is recycled.
        """
        address = region.take(size_bytes)
        if self._left and address is not None and not self.in_scope:
            self._recycle(address, address + size_bytes)
        return address

    def full(self, size_bytes: int, region: Region, what: str) -> str:
        """Why `what` did not fit, and what to do."""
        part, remedy = "scratch", "; put the loop's body in tl.scratch_scope(), which recycles it"
        if region is self._persistent:
            part, remedy = "persistent part", ""
        elif self.in_scope:
            part, remedy = "scratch slot", "; make tiles smaller, or slots fewer"
        return (
            f"the TCM's {part} is full: {what} needs {size_bytes} bytes, and {region.free_bytes}"
            f" of {region.end - region.start} are free{remedy}"
        )

    @contextmanager
    def scope(self, slots: int) -> Iterator[None]:
        """Scratch taken inside is given back at the end; visits rotate through the slots."""
        level = len(self._scopes) - 1
        if level == len(self._visits):
            self._visits.append(0)
        slot = self._scopes[-1].slot(slots, self._visits[level] % slots)
        self._visits[level] += 1
        self._recycle(slot.start, slot.end)
        self._scopes.append(slot)
        try:
            yield
        finally:
            left = self._scopes.pop()
            if left.top > left.start:
                self._left.append(left)

    def _recycle(self, start: int, end: int) -> None:
        """Marks every left region that had bytes there."""
        for region in self._left:
            region.recycled = region.recycled or (region.start < end and start < region.top)
        self._left = [region for region in self._left if not region.recycled]


def align_up(address: int) -> int:
    """The next multiple of 64 bytes, or the address itself if it is one."""
    return -(-address // ALIGNMENT) * ALIGNMENT
