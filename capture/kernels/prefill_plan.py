"""What every PE does in a prefill: which queries and heads it owns, and which keys pass by when.

A KV head's queries are split over the P PEs of its CUBEs in contiguous blocks, the same in each
CUBE. Its keys are split over the C CUBEs likewise. With C = 1 a PE has all of the group's query
heads and all keys in its HBM. With C = G the CUBE of member i has query head i and slice i of the
keys, and the slices rotate (ADR-0060 §5.5). A slice that does not fit the TCM rotates in blocks,
each of which turns fully before the next; and all of them turn for each chunk of queries.

Where there are fewer queries than PEs, every PE has all queries of its head and the keys are split
over the PEs as well: contiguous over C·P ranks. Then the PEs of a CUBE reduce (ADR-0060 §B).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ...schemas.topology import Level, Place
from ..placement import REPLICATED, OverPlaces, Placement, contiguous_block
from .causal import KeyTile, Sight, pieces, seen_tiles, sight
from .groups import HeadGroups, Seat
from .prefill_room import Cut
from .reduction_plan import LevelTree
from .reduction_plan import Step as ReductionStep
from .ring import RingSeat, ring_seats
from .trees import PE_TREES


@dataclass(frozen=True, slots=True)
class Step:
    """A chunk of queries meets a block of keys. Both are positions in the sequence; no keys is a rest.

    The block was `received` from the ring or is the PE's own; it is `passed_on` unless the next
    CUBE is its owner. `is_first` and `is_last` are within the chunk of queries.
    """

    queries: range
    keys: range
    received: bool
    passed_on: bool
    is_first: bool
    is_last: bool


@dataclass(frozen=True)
class PrefillPlan:
    """A prefill of `t_q` queries, the first at position `q_start`, against `s_kv` keys a KV head.

    `group` query heads share a KV head; `cut` says how many queries and keys meet at once.
    """

    groups: HeadGroups
    group: int
    t_q: int
    q_start: int
    s_kv: int
    cut: Cut

    @property
    def cubes(self) -> int:
        """CUBEs of a group: 1, or as many as there are query heads."""
        return self.groups.shape.size

    @property
    def heads_per_pe(self) -> int:
        """Query heads whose rows a PE folds together."""
        return self.group // self.cubes

    @property
    def keys_are_split(self) -> bool:
        """Whether the PEs of a CUBE share its keys, not its queries."""
        return self.t_q < self.groups.pes

    @cached_property
    def seats(self) -> dict[Place, Seat]:
        """Who sits where."""
        return self.groups.seats()

    @cached_property
    def ring(self) -> tuple[RingSeat, ...]:
        """The ring's seats by member; none where a group is one CUBE."""
        return ring_seats(self.groups.topology, self.groups.shape) if self.cubes > 1 else ()

    def queries(self, pe: int) -> range:
        """The positions of a PE's queries."""
        pes = 1 if self.keys_are_split else self.groups.pes
        share = contiguous_block(self.t_q, pes, min(pe, pes - 1))
        return range(self.q_start + share.start, self.q_start + share.stop)

    def keys(self, member: int, pe: int) -> range:
        """Those positions in a PE's part of k and v that any query sees."""
        rank = member * self.groups.pes + pe if self.keys_are_split else member
        held = contiguous_block(self.s_kv, self._key_parts, rank)
        return range(held.start, max(held.start, min(held.stop, self.q_start + self.t_q)))

    @property
    def _key_parts(self) -> int:
        return self.groups.ranks if self.keys_are_split else self.cubes

    def steps(self, seat: Seat) -> tuple[Step, ...]:
        """All that passes by a PE, in order: per chunk of queries, per block, once around the ring."""
        member, pe = seat.member
        sources = self.ring[member].sources if self.ring else (member,)
        turns = -(-len(self.keys(0, pe)) // self.cut.block)
        visits = [(turn, hops) for turn in range(turns) for hops in range(len(sources))]
        return tuple(
            Step(
                queries=queries,
                keys=self._block(sources[hops], pe, turn),
                received=hops > 0,
                passed_on=hops + 1 < len(sources),
                is_first=number == 0,
                is_last=number + 1 == len(visits),
            )
            for queries in pieces(self.queries(pe), self.cut.chunk)
            for number, (turn, hops) in enumerate(visits)
        )

    def _block(self, member: int, pe: int, turn: int) -> range:
        keys = self.keys(member, pe)
        start = min(keys.start + turn * self.cut.block, keys.stop)
        return range(start, min(start + self.cut.block, keys.stop))

    def tiles(self, step: Step) -> tuple[KeyTile, ...]:
        """The tiles of a step that its queries see; none where the whole step is skipped."""
        return tuple(seen_tiles(step.queries, step.keys, self.cut.tile))

    def is_masked(self, step: Step) -> bool:
        """Whether some tile of a step may need a mask."""
        return bool(step.keys) and sight(step.queries, step.keys) is Sight.BOUNDARY

    @cached_property
    def _pe_tree(self) -> LevelTree:
        spots = self.groups.pe_spots
        return LevelTree(self.groups.topology, Level.PE, spots, PE_TREES["tree"](spots))

    def reduction(self, seat: Seat) -> tuple[ReductionStep, ...]:
        """A PE's part of its CUBE's reduction; none where queries are split, not keys."""
        if not self.keys_are_split:
            return ()
        member, pe = seat.member
        occupied = [bool(self.keys(0, each)) for each in range(self.groups.pes)]
        return (self._pe_tree.steps(occupied)[pe],)

    # -- where the tensors lie

    @property
    def q_placement(self) -> Placement:
        """Of q [t_q, heads·g·d]: a PE has its queries' rows, its heads' columns."""
        by_head = REPLICATED.split(1, self._by_query_head(self.seats))
        return by_head if self.keys_are_split else by_head.split(0, "pe")

    @property
    def o_placement(self) -> Placement:
        """Of o: as q; of a CUBE that reduces, only the root PE has any of it."""
        if not self.keys_are_split:
            return self.q_placement
        roots = {
            place: seat for place, seat in self.seats.items() if seat.member[1] == self._pe_tree.root
        }
        return REPLICATED.split(1, self._by_query_head(roots))

    def _by_query_head(self, seats: dict[Place, Seat]) -> OverPlaces:
        numbers = {
            place: seat.head * self.cubes + seat.member[0] for place, seat in seats.items()
        }
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
            return self.groups.by_rank(0, 0)
        numbers = {place: seat.member[0] for place, seat in self.seats.items()}
        return OverPlaces("CUBEs of a group", self.cubes, numbers)
