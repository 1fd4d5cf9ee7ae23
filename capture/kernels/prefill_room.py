"""How many queries and keys of a prefill meet at once in a PE's TCM. Pure arithmetic, in bytes.

What a chunk of queries keeps is persistent: q and O, m and l, the scores, and the mask. The scratch
holds what folding a tile makes, `slots` times; at other times, what a chunk needs at its begin and
end. Where blocks of K and V rotate, the scratch is halved: one half holds the block that is folded,
the other the next one and what folding makes.
"""

from bisect import bisect_left
from dataclasses import dataclass
from math import prod

from ...schemas.dtypes import DType
from ...schemas.errors import ConfigError
from ...schemas.topology import PeStructure
from ..memory import ALIGNMENT, align_up
from .causal import Staircase

BLOCKS = 2
"""Blocks of K and V in the TCM at a time, and parts of the scratch."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Query tokens a chunk, keys a tile, keys a block."""

    chunk: int
    tile: int
    block: int


@dataclass(frozen=True, slots=True)
class Room:
    """A PE's TCM and what the sizes of a prefill depend on. `heads` query heads are folded together."""

    pe: PeStructure
    variant: str
    heads: int
    d: int
    tile: int
    dtype: DType
    slots: int
    rotates: bool

    def cut(self, queries: int, keys: int, chunk: int = 0, block: int = 0) -> Cut:
        """How to cut so many queries and keys of a PE. A chunk or a block that is given stands, unless
        that is more than there are.

        Streamed keys are read anew for each chunk, which costs little, and skipped by the tile: a
        chunk is a tile of queries, or what fits of one. Blocks rotate anew for each chunk: both are
        as large as fits, and all alike: 2048 of which 640 fit are four of 512.
        """
        chunk, block = min(chunk, queries), min(block, keys)
        if not self.rotates:
            return Cut(chunk or self._most_queries(min(queries, self.tile)), self.tile, keys)
        tokens = chunk or self._alike(queries, self._most_queries(queries))
        free = self._half - self._tiles_need(tokens) - 2 * ALIGNMENT
        most = max(1, free // (2 * self.d * self.dtype.size_bytes))
        return Cut(tokens, self.tile, block or self._alike(keys, most))

    def check_given(self, chunk: int, block: int, keys: int, cut: Cut) -> None:
        """Raises ConfigError where a chunk that is given leaves no room for a tile of the keys.

        They would go around by the handful, at a message each.
        """
        if self.rotates and chunk and not block and cut.block < min(self.tile, keys):
            raise ConfigError(
                f"a chunk of {cut.chunk} queries leaves less room than a tile of keys needs; give a"
                " smaller chunk, or the block too"
            )

    def _most_queries(self, limit: int) -> int:
        """The most query tokens, up to the limit, of a chunk that fits; at least one."""
        return max(1, bisect_left(range(1, limit + 1), True, key=lambda n: not self._fits(n)))

    def _alike(self, whole: int, most: int) -> int:
        """The size of the fewest equal pieces of at most `most`, in whole tiles where they fit."""
        if whole <= most:
            return whole
        most = most // self.tile * self.tile or most
        size = -(-whole // -(-whole // most))
        return min(most, -(-size // self.tile) * self.tile)

    def _fits(self, tokens: int) -> bool:
        persistent = self.pe.tcm_bytes - self.pe.scratch_bytes
        return (
            self._kept(tokens) <= persistent
            and self._mask_need(tokens) <= self._scratch
            and self._tiles_need(tokens) <= (self._half // 2 if self.rotates else self._scratch)
        )

    @property
    def _scratch(self) -> int:
        """From the scratch's first aligned address on."""
        return self.pe.tcm_bytes - align_up(self.pe.tcm_bytes - self.pe.scratch_bytes)

    @property
    def _half(self) -> int:
        return self._scratch // BLOCKS // ALIGNMENT * ALIGNMENT

    def _kept(self, tokens: int) -> int:
        """q, O, m twice, l, the buffers of the scores, the mask, and the state's first values."""
        rows = tokens * self.heads
        return (
            self._bytes((rows, self.d), self.dtype)
            + self._bytes((rows, self.d))
            + 3 * self._bytes((rows,))
            + self.score_tiles * self._bytes((rows, self.tile))
            + self._bytes((rows, max(0, Staircase(tokens, self.tile).width)))
            + 2 * self._bytes((1,))
        )

    @property
    def score_tiles(self) -> int:
        """Score tiles at a time: opt3 fills one while it folds another."""
        return max(self.slots, 2) if self.variant == "opt3" else self.slots

    def _mask_need(self, tokens: int) -> int:
        """While the mask is made: which of its elements are seen, and the positions."""
        width = max(0, Staircase(tokens, self.tile).width)
        return (
            self._bytes((tokens * self.heads, width), DType.BOOL)
            + self._bytes((tokens,))
            + self._bytes((width,))
        )

    def _tiles_need(self, tokens: int) -> int:
        """In the scratch (or its half): the tiles' slots; at another time a chunk's q, then its o."""
        rows = tokens * self.heads
        return max(self.slots * self._tile_need(rows), self._bytes((rows, self.d), self.dtype))

    def _tile_need(self, rows: int) -> int:
        """What kernels/softmax.py and its recipe make in scratch while they fold a tile."""
        row, scores, wide = (rows,), (rows, self.tile), (rows, self.d)
        p = self._bytes(scores, self.dtype)
        match self.variant:
            case "opt1":  # S − m, and O·corr beside P·V
                return 5 * self._bytes(row) + self._bytes(scores) + p + 2 * self._bytes(wide)
            case "opt2":
                return 4 * self._bytes(row) + p
            case _:
                return 3 * self._bytes(row) + p + self._bytes(wide)

    def _bytes(self, shape: tuple[int, ...], dtype: DType = DType.F32) -> int:
        return align_up(prod(shape) * dtype.size_bytes)
