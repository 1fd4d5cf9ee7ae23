"""What passes by each PE of a prefill, in order: which queries meet which keys when.

    for each chunk of a PE's queries
        for each block of a slice                 a slice that does not fit the TCM turns in blocks
            for each CUBE of the ring             C steps, C − 1 of them to pass the block on

All PEs of a ring have the same queries, and so the same chunks. A block turns for all of them even
where no query sees it: then its tiles are none, and the step is skipped but for the passing on.
"""

from dataclasses import dataclass

from .causal import KeyTile, pieces, seen_tiles
from .groups import Member
from .prefill_room import Cut
from .prefill_shares import PrefillShares


@dataclass(frozen=True, slots=True)
class Step:
    """A chunk of queries meets a block of keys, both as positions; the last blocks may be empty.

    The block was `received` from the ring or is the PE's own; it is `passed_on` unless the next
    CUBE is its owner. `is_first` and `is_last` are within the chunk.
    """

    queries: range
    keys: range
    received: bool
    passed_on: bool
    is_first: bool
    is_last: bool

    def tiles(self, tile: int) -> tuple[KeyTile, ...]:
        """The tiles that the queries see any of; none where the whole block is in their future."""
        return tuple(seen_tiles(self.queries, self.keys, tile))


def steps_of(
    shares: PrefillShares, member: Member, sources: tuple[int, ...], cut: Cut
) -> tuple[Step, ...]:
    """The steps of a PE. `sources[s]` is the CUBE whose block it has s steps after it had its own.

    None where the PE has no queries, or its ring no keys.
    """
    _, pe = member
    turns = -(-shares.most_keys(pe) // cut.block)
    visits = [(turn, hops) for turn in range(turns) for hops in range(len(sources))]
    return tuple(
        Step(
            queries=queries,
            keys=_block(shares.keys_of(sources[hops], pe), cut.block, turn),
            received=hops > 0,
            passed_on=hops + 1 < len(sources),
            is_first=number == 0,
            is_last=number + 1 == len(visits),
        )
        for queries in pieces(shares.queries_of(pe), cut.chunk)
        for number, (turn, hops) in enumerate(visits)
    )


def _block(keys: range, size: int, number: int) -> range:
    start = min(keys.start + number * size, keys.stop)
    return range(start, min(start + size, keys.stop))
