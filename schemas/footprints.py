"""Which bytes a handle covers, and which bytes two handles share. Exact for strided views."""

from dataclasses import dataclass
from itertools import product

from .handles import Geometry


@dataclass(frozen=True, slots=True)
class Footprint:
    """Runs of `run_bytes` dense bytes, one at `start + Σ i·stride` for each i in 0 … count−1 per axis.

    `axes` holds (count, stride) from the widest stride to the narrowest; strides exceed the run.
    """

    start: int
    run_bytes: int
    axes: tuple[tuple[int, int], ...]

    @property
    def stop(self) -> int:
        """One past the last byte covered."""
        return (
            self.start + self.run_bytes + sum((count - 1) * stride for count, stride in self.axes)
        )


def footprint(geometry: Geometry, address: int) -> Footprint:
    """The bytes that a geometry placed at `address` covers. An empty shape covers none (run 0)."""
    if geometry.elements == 0:
        return Footprint(address, 0, ())
    run = geometry.dtype.size_bytes
    axes: list[tuple[int, int]] = []
    by_stride = sorted(zip(geometry.strides, geometry.shape, strict=True))
    for stride, count in by_stride:
        if count == 1 or stride == 0:
            continue
        if not axes and stride <= run:
            run = max(run, stride * (count - 1) + run)
        else:
            axes.append((count, stride))
    return Footprint(address, run, tuple(reversed(axes)))


def shared_bytes(one: Footprint, other: Footprint) -> tuple[int, int] | None:
    """The first shared run as (from, to), `to` exclusive; None when the two share no byte."""
    if not one.run_bytes or not other.run_bytes:
        return None
    if one.stop <= other.start or other.stop <= one.start:
        return None
    if not one.axes and not other.axes:
        return max(one.start, other.start), min(one.stop, other.stop)
    return _first_shared_run(_run_starts(one), one.run_bytes, _run_starts(other), other.run_bytes)


def _run_starts(covered: Footprint) -> list[int]:
    steps = [[i * stride for i in range(count)] for count, stride in covered.axes]
    return sorted(covered.start + sum(offsets) for offsets in product(*steps))


def _first_shared_run(
    ones: list[int], one_bytes: int, others: list[int], other_bytes: int
) -> tuple[int, int] | None:
    i = j = 0
    while i < len(ones) and j < len(others):
        low, high = max(ones[i], others[j]), min(ones[i] + one_bytes, others[j] + other_bytes)
        if low < high:
            return low, high
        if ones[i] + one_bytes <= others[j] + other_bytes:
            i += 1
        else:
            j += 1
    return None
