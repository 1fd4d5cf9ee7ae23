"""The KV cache of every head, sharded over the ranks of its CUBE group: which token lies where.

Each of R = C·P ranks has room for B = ⌈max_context / R⌉ tokens (ADR-0060 §2.1). Contiguous: rank r
has tokens [r·B, (r+1)·B). Round robin: rank r has r, r + R, r + 2·R …. Either way a rank's slots
fill up in token order, and the ranks are counted from a start that rotates from request to request.

K is stored transposed. Heads lie side by side in every tensor, so that a rank sees its own head's:

    q, o   [heads·g, d]      rank: [g, d]
    k      [heads·d, R·B]    rank: [d, B]
    v      [R·B, heads·d]    rank: [B, d]
"""

from dataclasses import dataclass

from ..placement import (
    REPLICATED,
    OverPlaces,
    Placement,
    contiguous_block,
    count_below,
    round_robin_share,
)
from .groups import HeadGroups, Seat

PLACEMENTS = ("contiguous", "round_robin")


@dataclass(frozen=True)
class KvCache:
    """A request's cache: room for `block` tokens a rank, rank 0 at (`start_cube`, `start_pe`)."""

    groups: HeadGroups
    block: int
    round_robin: bool
    start_cube: int
    start_pe: int

    @property
    def capacity(self) -> int:
        """Tokens that all ranks of a group have room for, R·B."""
        return self.groups.ranks * self.block

    def tokens(self, seat: Seat) -> range:
        """The tokens that a PE has room for: token `tokens[i]` is in its slot i."""
        rank = self.groups.rank(seat, self.start_cube, self.start_pe)
        share = round_robin_share if self.round_robin else contiguous_block
        return share(self.capacity, self.groups.ranks, rank)

    def valid(self, seat: Seat, counter: int) -> int:
        """How many of the PE's slots hold one of the first `counter` tokens."""
        return count_below(self.tokens(seat), counter)

    @property
    def k_placement(self) -> Placement:
        """Of k [heads·d, R·B]."""
        by_head = REPLICATED.split(0, self.groups.by_head())
        return by_head.split(1, self._by_rank, round_robin=self.round_robin)

    @property
    def v_placement(self) -> Placement:
        """Of v [R·B, heads·d]."""
        by_rank = REPLICATED.split(0, self._by_rank, round_robin=self.round_robin)
        return by_rank.split(1, self.groups.by_head())

    @property
    def _by_rank(self) -> OverPlaces:
        return self.groups.by_rank(self.start_cube, self.start_pe)
