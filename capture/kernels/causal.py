"""Which keys a chunk of queries sees: all of a tile, some, or none. Pure index arithmetic.

Queries and keys are positions in one sequence; the query at position i sees the keys 0 … i. Of a
chunk of queries and a tile of keys (ADR-0060 §5.4):

    PAST        the last key is not after the first query: all see all of it, nothing is masked
    FUTURE      the first key is after the last query: nobody sees any of it, so it is skipped
    BOUNDARY    everything else: a mask is added to the scores
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from ...schemas.errors import ConfigError


def query_positions(s_kv: int, t_q: int, q_start: int) -> range:
    """Where the queries stand. Raises ConfigError where their own keys are not among the s_kv."""
    count = t_q or s_kv
    if count > s_kv:
        raise ConfigError(f"t_q must be at most s_kv, which is {s_kv}, not {count}")
    last = s_kv - count
    start = last if q_start == -1 else q_start
    if start > last:
        raise ConfigError(f"q_start must be at most s_kv - t_q, which is {last}, not {start}")
    return range(start, start + count)


class Sight(Enum):
    """What a chunk of queries sees of a tile of keys."""

    PAST = auto()
    BOUNDARY = auto()
    FUTURE = auto()


def sight(queries: range, keys: range) -> Sight:
    """What the queries see of the keys; neither is empty."""
    if keys[-1] <= queries[0]:
        return Sight.PAST
    return Sight.FUTURE if keys[0] > queries[-1] else Sight.BOUNDARY


@dataclass(frozen=True, slots=True)
class KeyTile:
    """Keys that a chunk of queries folds at once, masked where they are at the boundary."""

    keys: range
    is_masked: bool


def seen_tiles(queries: range, keys: range, tile: int) -> Iterator[KeyTile]:
    """The tiles of `keys` that the queries see any of, in order; the last may be narrower."""
    for part in pieces(keys, tile):
        seen = sight(queries, part)
        if seen is not Sight.FUTURE:
            yield KeyTile(part, seen is Sight.BOUNDARY)


def pieces(whole: range, size: int) -> Iterator[range]:
    """The range cut into pieces of `size`, the last as long as what is left."""
    for start in range(whole.start, whole.stop, size):
        yield range(start, min(start + size, whole.stop))


@dataclass(frozen=True, slots=True)
class Staircase:
    """One mask that holds those of all boundary tiles of up to `queries` queries and `tile` keys.

    Which query sees which key of a tile depends only on how far the tile's first key is from the
    chunk's first query. So a tile's mask is a window of a wider one, whose column x is for the key
    that lies `first` + x places after the first query:

                      first         0
        query 0       . . . . . . . . # # # # # # # #
        query 1       . . . . . . . . . # # # # # # #       . seen, # masked
        query 2       . . . . . . . . . . # # # # # #
    """

    queries: int
    tile: int

    @property
    def first(self) -> int:
        """The leftmost first key of a boundary tile: its last key is one after the first query."""
        return 2 - self.tile

    @property
    def width(self) -> int:
        """Columns up to the rightmost last key: of a tile that begins at the last query."""
        return self.queries + 2 * self.tile - 3

    def window(self, queries: range, keys: range) -> slice:
        """The columns that are the mask of a boundary tile."""
        start = keys.start - queries.start - self.first
        return slice(start, start + len(keys))
