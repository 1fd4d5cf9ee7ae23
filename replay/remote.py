"""Which streams touch other PEs' HBM, from how far, and which servers stand behind their far slots.

PEs that share a stream share its lowered graph too, unless what they reach for lies differently far
away: a `Variant` is a stream with the ways from its PEs to the tensors of others. What still differs
between the PEs of a variant is which links and whose HBM channel: `Reaches.servers`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ..schemas.columns import Int32s
from ..schemas.errors import KerntapeError
from ..schemas.topology import Level, Topology
from ..schemas.trace import PeEntry, Stream, Trace
from .components.noc import Link
from .routes import Routes
from .ways import Way, Ways

Server = Link | int
"""A directed link, or the HBM channel of the PE of a rank."""

Servers = tuple[Server, ...]


@dataclass(frozen=True)
class Variant:
    """A stream as PEs run it from which the same tensors lie equally far away.

    `ways` has (number of the tensor, the way to it) of those that lie in other PEs' HBM.
    """

    stream: int
    ways: tuple[tuple[int, Way], ...] = ()

    def plan_keys(self, stream: Stream, geometries: int) -> Int32s:
        """Per handle of the stream, what a plan depends on, for `ways_of`: the number of its geometry,
        one of `geometries`, and that many times the place in `ways`, from 1 on, of what lies far away.
        """
        if not self.ways:
            return stream.geometries
        far = np.zeros(int(stream.tensors.max(initial=0)) + 2, dtype=np.int32)
        for place, (tensor, _) in enumerate(self.ways, start=1):
            far[tensor + 1] = place
        keys: Int32s = stream.geometries + geometries * far[stream.tensors + 1]
        return keys

    def ways_of(self, keys: Sequence[int], geometries: int) -> Ways:
        """The ways to the handles in a command's slots; none at all where none lies far away."""
        places = [key // geometries for key in keys]
        if not any(places):
            return ()
        return tuple(self.ways[place - 1][1] if place else None for place in places)


@dataclass(frozen=True)
class Reaches:
    """`variants` in the order of their streams; per PE of the launch, the number of its variant and
    the servers behind its far slots.
    """

    variants: tuple[Variant, ...]
    of_pes: tuple[int, ...]
    servers: tuple[Servers, ...]


def reaches(trace: Trace, topology: Topology) -> Reaches:
    """The variants of the trace's streams.

    Raises KerntapeError for the first command that touches what no links lead to.
    """
    finder = _Finder(trace, topology)
    found = [finder.reach(pe) for pe in trace.pes]
    variants = sorted(dict.fromkeys(variant for variant, _ in found), key=lambda one: one.stream)
    number = {variant: place for place, variant in enumerate(variants)}
    return Reaches(
        tuple(variants),
        tuple(number[variant] for variant, _ in found),
        tuple(servers for _, servers in found),
    )


def plan_variants(trace: Trace, topology: Topology) -> list[Variant]:
    """The variants, in the order of their streams, as far as a plan can fail in one and not in another:
    which links and whose channel does not count, so all ways begin at far slot 0.

    Raises KerntapeError as `reaches` does.
    """
    finder = _Finder(trace, topology)
    found = dict.fromkeys(finder.distances(pe) for pe in trace.pes)
    return sorted(found, key=lambda one: one.stream)


class _Finder:
    """Finds what each PE reaches for."""

    def __init__(self, trace: Trace, topology: Topology) -> None:
        self._trace = trace
        self._routes = Routes(topology)
        self._touched: dict[int, frozenset[int]] = {}

    def reach(self, pe: PeEntry) -> tuple[Variant, Servers]:
        """The PE's variant, and its servers."""
        ways: list[tuple[int, Way]] = []
        servers: list[Server] = []
        for tensor in self._away(pe):
            inbound, outbound = self._both_ways(pe, tensor)
            ways.append((tensor, Way(tuple(link[0] for link in inbound), len(servers))))
            servers += [pe.owners[tensor], *inbound, *outbound]
        return Variant(pe.stream, tuple(ways)), tuple(servers)

    def distances(self, pe: PeEntry) -> Variant:
        """The PE's variant as `plan_variants` has it."""
        ways = ((tensor, Way(self._levels(pe, tensor), 0)) for tensor in self._away(pe))
        return Variant(pe.stream, tuple(ways))

    def _away(self, pe: PeEntry) -> list[int]:
        """The tensors in other PEs' HBM that the PE's commands touch."""
        away = [tensor for tensor, owner in enumerate(pe.owners) if owner != pe.rank]
        return [tensor for tensor in away if tensor in self._touched_by(pe.stream)]

    def _touched_by(self, number: int) -> frozenset[int]:
        if number not in self._touched:
            stream = self._trace.streams[number]
            self._touched[number] = frozenset(np.unique(stream.tensors[stream.slots]).tolist())
        return self._touched[number]

    def _both_ways(self, pe: PeEntry, tensor: int) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
        owner = pe.owners[tensor]
        with self._named(pe, tensor):
            return self._routes.route(owner, pe.rank), self._routes.route(pe.rank, owner)

    def _levels(self, pe: PeEntry, tensor: int) -> tuple[Level, ...]:
        """Of the links from the owner; those to it are of the same, and all there if these are."""
        with self._named(pe, tensor):
            return self._routes.levels(pe.owners[tensor], pe.rank)

    @contextmanager
    def _named(self, pe: PeEntry, tensor: int) -> Iterator[None]:
        """Has an error begin with the first command of the PE that touches the tensor."""
        try:
            yield
        except KerntapeError as error:
            raise KerntapeError(f"{self._first_use(pe, tensor)}: {error}") from None

    def _first_use(self, pe: PeEntry, tensor: int) -> str:
        """The first command of the PE that touches the tensor, as an error names it."""
        stream = self._trace.streams[pe.stream]
        slot = int(np.argmax(stream.tensors[stream.slots] == tensor))
        offsets = self._trace.slot_offsets(stream)
        command = int(np.searchsorted(offsets, slot, side="right")) - 1
        return f"PE {pe.rank}, command {command} ({self._trace.lines[int(stream.lines[command])]})"
