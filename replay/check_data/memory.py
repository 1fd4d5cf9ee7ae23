"""The bytes of every PE, TCM and HBM, while a trace is executed.

They start as 0xFF, which is NaN in every float type, but for the HBM images that capture kept. A
tensor that several PEs see at one place is one memory, whatever each of them calls it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Int64s
from ...schemas.footprints import footprint
from ...schemas.handles import Handle
from ...schemas.trace import KeptInputs, PeEntry, Stream, Trace
from ...schemas.values import NUMPY_DTYPES, Array

UNWRITTEN = 0xFF
TCM = -1

Bytes: TypeAlias = npt.NDArray[np.uint8]
MemoryName: TypeAlias = tuple[int, int]
"""(index into Trace.pes, number of the HBM tensor or TCM): a memory as that PE calls it."""

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


Home: TypeAlias = tuple[int, int]
"""(rank whose memory it is, address in its HBM or TCM): the same for all names of one memory."""


class Memory:
    """Every memory that some handle of the trace or some kept image lies in."""

    def __init__(self, trace: Trace, inputs: KeptInputs) -> None:
        self._pes = trace.pes
        images = _images(trace.pes, inputs)
        self._sizes = _sizes(trace, images)
        self._bytes: dict[Home, Bytes] = {}
        for (home, _), size_bytes in self._sizes.items():
            if size_bytes >= len(self._bytes.get(home, b"")):
                self._bytes[home] = np.full(size_bytes, UNWRITTEN, dtype=np.uint8)
        for (home, _), image in images.items():
            self._bytes[home][: len(image)] = image

    def home(self, name: MemoryName) -> Home:
        """Where a memory is, whoever names it."""
        place, tensor = name
        return _home(self._pes[place], tensor)

    def __contains__(self, name: MemoryName) -> bool:
        place, tensor = name
        seen = tensor < len(self._pes[place].owners)
        return seen and (self.home(name), tensor) in self._sizes

    def image(self, name: MemoryName) -> Bytes:
        """All bytes of one memory as they are now."""
        home = self.home(name)
        return self._bytes[home][: self._sizes[home, name[1]]]

    def size_bytes(self, home: Home) -> int:
        """The bytes of a memory by all its names."""
        return len(self._bytes[home])

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
        self.image(region.memory)[region.places()] = values

    def _elements(self, region: Region) -> Array:
        handle = region.handle
        geometry = handle.geometry
        return np.ndarray(
            geometry.shape,
            NUMPY_DTYPES[geometry.dtype],
            buffer=self.image(region.memory).data,
            offset=handle.address,
            strides=geometry.strides,
        )


def _home(pe: PeEntry, tensor: int) -> Home:
    return (pe.rank, TCM) if tensor == TCM else (pe.owners[tensor], pe.bases[tensor])


Seen: TypeAlias = tuple[Home, int]
"""A memory and a tensor's number: a tensor that is empty lies where the next one begins."""


def _images(pes: tuple[PeEntry, ...], inputs: KeptInputs) -> dict[Seen, Bytes]:
    """The kept images of the tensors that some PE sees."""
    homes = {
        (pe.owners[tensor], tensor): _home(pe, tensor)
        for pe in pes
        for tensor in range(len(pe.owners))
    }
    return {
        (homes[owner, tensor], tensor): np.frombuffer(image, dtype=np.uint8)
        for (owner, tensor), image in inputs.images.items()
        if (owner, tensor) in homes
    }


def _sizes(trace: Trace, images: dict[Seen, Bytes]) -> dict[Seen, int]:
    """How far images and handles reach."""
    sizes = {seen: len(image) for seen, image in images.items()}
    reaches = _reaches(trace)
    for pe in trace.pes:
        for tensor, size_bytes in reaches[pe.stream].items():
            seen = _home(pe, tensor), tensor
            sizes[seen] = max(sizes.get(seen, 0), size_bytes)
    return sizes


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
