"""Which queries, heads and keys each PE of a prefill owns, and where the tensors lie.

A KV head's queries are split over the P PEs of its CUBEs in contiguous blocks, the same in each
CUBE. Its keys are split over its C CUBEs likewise. With C = 1 a PE has all of the group's query
heads and all keys in its HBM. With C = G the CUBE of member i has query head i and slice i of the
keys, a copy on each of its PEs.

Where there are fewer queries than PEs, every PE has all queries of its heads, and the keys are
split over the PEs as well: contiguous over C·P ranks. Then the PEs of a CUBE reduce, and its root
PE stores (ADR-0060 §B).

Parts are counted from a start that rotates from request to request, as in kernels/kv_cache.py: part
0 of the queries is PE `start_pe`'s, slice 0 of the keys CUBE `start_cube`'s. Query heads do not
rotate.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from ...schemas.topology import Level, Place
from ..placement import REPLICATED, OverPlaces, Placement, contiguous_block, rotated_number
from .groups import HeadGroups, Seat
from .reduction_plan import LevelTree, Step
from .trees import PE_TREES


@dataclass(frozen=True)
class PrefillShares:
    """Queries at these positions against `s_kv` keys a KV head, which `group` query heads share."""

    groups: HeadGroups
    group: int
    queries: range
    s_kv: int
    start_cube: int = 0
    start_pe: int = 0

    @property
    def cubes(self) -> int:
        """CUBEs of a group: 1, or one a query head."""
        return self.groups.shape.size

    @property
    def heads_per_pe(self) -> int:
        """Query heads whose rows a PE folds together."""
        return self.group // self.cubes

    @property
    def keys_are_split(self) -> bool:
        """Whether the PEs of a CUBE share its keys, not its queries."""
        return len(self.queries) < self.groups.pes

    @cached_property
    def seats(self) -> dict[Place, Seat]:
        """Who sits where."""
        return self.groups.seats()

    def queries_of(self, pe: int) -> range:
        """The positions of a PE's queries."""
        if self.keys_are_split:
            return self.queries
        part = rotated_number((pe,), (self.groups.pes,), (self.start_pe,))
        share = contiguous_block(len(self.queries), self.groups.pes, part)
        return self.queries[share.start : share.stop]

    @property
    def most_queries(self) -> int:
        """Queries of a PE that has most."""
        return len(self.queries_of(self.start_pe))

    def elements(self, d: int) -> Iterator[int]:
        """How many elements of q, k, v and o each PE of a group holds, with a head dimension d."""
        for member, pe in product(range(self.cubes), range(self.groups.pes)):
            rows = len(self.queries_of(pe)) * self.heads_per_pe
            keys = len(self._held(member, pe))
            stores = not self.keys_are_split or pe == self._pe_tree.root
            yield from (rows * d, keys * d, keys * d, rows * d * stores)

    def _held(self, member: int, pe: int) -> range:
        """The positions of the keys that lie with a PE."""
        parts = (self.cubes, self.groups.pes if self.keys_are_split else 1)
        part = rotated_number((member, pe), parts, (self.start_cube, self.start_pe))
        return contiguous_block(self.s_kv, prod(parts), part)

    def keys_of(self, member: int, pe: int) -> range:
        """The positions of a PE's keys, as far as any query sees them."""
        held = self._held(member, pe)
        return range(held.start, max(held.start, min(held.stop, self.queries.stop)))

    def most_keys(self, pe: int) -> int:
        """Keys of the PE of that number that has most, among those of all CUBEs: its ring."""
        return len(self.keys_of(self.start_cube, pe))

    @cached_property
    def _pe_tree(self) -> LevelTree:
        spots = self.groups.pe_spots
        return LevelTree(self.groups.topology, Level.PE, spots, PE_TREES["tree"](spots))

    @cached_property
    def _reductions(self) -> list[Step]:
        occupied = [self.most_keys(pe) > 0 for pe in range(self.groups.pes)]
        return self._pe_tree.steps(occupied)

    def reduction(self, pe: int) -> tuple[Step, ...]:
        """A PE's part of its CUBE's reduction; none where queries are split."""
        return (self._reductions[pe],) if self.keys_are_split else ()

    @property
    def q_placement(self) -> Placement:
        """Of q [t_q, heads·g·d]: a PE has its queries' rows, its heads' columns."""
        by_head = REPLICATED.split(1, self._by_query_head(self.seats))
        return by_head if self.keys_are_split else by_head.split(0, "pe", starts=(self.start_pe,))

    @property
    def o_placement(self) -> Placement:
        """Of o: as q; where a CUBE reduces, only its root PE has any."""
        if not self.keys_are_split:
            return self.q_placement
        root = self._pe_tree.root
        at_root = {place: seat for place, seat in self.seats.items() if seat.member[1] == root}
        return REPLICATED.split(1, self._by_query_head(at_root))

    def _by_query_head(self, seats: dict[Place, Seat]) -> OverPlaces:
        """With C = 1 a PE's heads are all of its KV head's: one part."""
        numbers = {place: seat.head * self.cubes + seat.member[0] for place, seat in seats.items()}
        return OverPlaces("query heads", self.groups.heads * self.cubes, numbers)

    @property
    def k_placement(self) -> Placement:
        """Of k [heads·d, s_kv]."""
        return REPLICATED.split(0, self.groups.by_head()).split(1, self._by_slice)

    @property
    def v_placement(self) -> Placement:
        """Of v [s_kv, heads·d]."""
        return REPLICATED.split(0, self._by_slice).split(1, self.groups.by_head())

    @property
    def _by_slice(self) -> OverPlaces:
        if self.keys_are_split:
            return self.groups.by_rank(self.start_cube, self.start_pe)
        numbers = {
            place: rotated_number((seat.member[0],), (self.cubes,), (self.start_cube,))
            for place, seat in self.seats.items()
        }
        start = f" from cube {self.start_cube}" if self.start_cube else ""
        return OverPlaces(f"CUBEs{start} of a group", self.cubes, numbers)
