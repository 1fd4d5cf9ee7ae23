"""The bytes of every PE, TCM and HBM, while a trace is executed.

They start as 0xFF, which is NaN in every float type, but for the HBM images that capture kept.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Int64s
from ...schemas.footprints import footprint
from ...schemas.handles import Handle
from ...schemas.trace import KeptInputs, Stream, Trace
from ...schemas.values import NUMPY_DTYPES, Array

UNWRITTEN = 0xFF
TCM = -1

Bytes: TypeAlias = npt.NDArray[np.uint8]
MemoryName: TypeAlias = tuple[int, int]
"""(index into Trace.pes, number of the HBM tensor or TCM)."""

Pick: TypeAlias = Callable[[Array], Array]


def everything(array: Array) -> Array:
    """The pick that leaves nothing out."""
    return array


@dataclass(frozen=True, slots=True)
class Region:
    """Elements of a handle in a PE's memory: those that `pick` takes from an array of its shape.

    `run` narrows them to some of their bytes, counted element by element.
    """

    pe: int
    handle: Handle
    pick: Pick = everything
    run: slice | None = None

    @property
    def memory(self) -> MemoryName:
        return self.pe, self.handle.tensor

    def places(self) -> Int64s:
        """Where each byte lies in its memory, element by element: int64 [bytes]."""
        geometry = self.handle.geometry
        starts = np.full(geometry.shape, self.handle.address, dtype=np.int64)
        for axis, (extent, stride) in enumerate(zip(geometry.shape, geometry.strides, strict=True)):
            along = [1] * len(geometry.shape)
            along[axis] = extent
            starts += (np.arange(extent) * stride).reshape(along)
        within = np.arange(geometry.dtype.size_bytes)
        places: Int64s = (self.pick(starts)[..., np.newaxis] + within).reshape(-1)
        return places if self.run is None else places[self.run]


class Memory:
    """Every memory that some handle of the trace or some kept image lies in."""

    def __init__(self, trace: Trace, inputs: KeptInputs) -> None:
        self._bytes: dict[MemoryName, Bytes] = {}
        place_of = {pe.rank: place for place, pe in enumerate(trace.pes)}
        reaches = _reaches(trace)
        for place, pe in enumerate(trace.pes):
            for tensor, size_bytes in reaches[pe.stream].items():
                self._bytes[place, tensor] = np.full(size_bytes, UNWRITTEN, dtype=np.uint8)
        for (rank, tensor), image in inputs.images.items():
            if rank in place_of:
                self._fill((place_of[rank], tensor), np.frombuffer(image, dtype=np.uint8))

    def _fill(self, name: MemoryName, image: Bytes) -> None:
        reach = self._bytes.get(name, image)
        beyond = np.full(max(0, len(reach) - len(image)), UNWRITTEN, dtype=np.uint8)
        self._bytes[name] = np.concatenate([image, beyond])

    def __contains__(self, name: MemoryName) -> bool:
        return name in self._bytes

    def image(self, name: MemoryName) -> Bytes:
        """All bytes of one memory as they are now."""
        return self._bytes[name]

    def read(self, region: Region) -> Array:
        """The region's elements: a view, which the next write may change."""
        return region.pick(self._elements(region))

    def contents(self, region: Region) -> bytes:
        """The region's bytes, element by element."""
        contents: bytes = self.read(region).tobytes()
        return contents if region.run is None else contents[region.run]

    def write(self, region: Region, values: Array) -> None:
        """Sets the region's elements; the values broadcast to them and have their dtype."""
        self.read(region)[...] = values

    def write_bytes(self, region: Region, contents: bytes) -> None:
        """Sets the region's bytes, element by element."""
        values = np.frombuffer(contents, dtype=np.uint8)
        self._bytes[region.memory][region.places()] = values

    def _elements(self, region: Region) -> Array:
        handle = region.handle
        geometry = handle.geometry
        return np.ndarray(
            geometry.shape,
            NUMPY_DTYPES[geometry.dtype],
            buffer=self._bytes[region.memory].data,
            offset=handle.address,
            strides=geometry.strides,
        )


def _reaches(trace: Trace) -> list[dict[int, int]]:
    """Per stream, how many bytes of each memory its handles reach into."""
    hulls = np.array([footprint(geometry, 0).stop for geometry in trace.geometries], np.int64)
    return [_reach(stream, hulls) for stream in trace.streams]


def _reach(stream: Stream, hulls: Int64s) -> dict[int, int]:
    ends = stream.addresses + hulls[stream.geometries]
    return {
        int(tensor): int(ends[stream.tensors == tensor].max())
        for tensor in np.unique(stream.tensors)
    }
