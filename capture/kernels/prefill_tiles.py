"""A chunk of queries folds tiles of K and V: the chunk's buffers, its mask, the two composites a tile.

The buffers are persistent, and chunks take turns in them. A tile's scores are f32 and go into one
of a few persistent buffers in rotation; what folding makes goes into scratch slots.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import inf
from typing import Generic, TypeAlias, TypeVar

from ...schemas.dtypes import DType
from ..handles import TensorHandle
from ..tensors import HbmTensor
from ..tl import Tl
from .causal import KeyTile, Staircase
from .softmax import (
    RunningSoftmax,
    fold_in_one_composite,
    fold_with_fused_ops,
    fold_with_operators,
)

F32 = DType.F32
MASKED = -1e30
"""Added to the score of a key that a query does not see.

Finite, as a query may see nothing of the first tiles that pass by: its m is then this, not −∞, so
that no −∞ − −∞ comes up, and what it has summed is multiplied by e^(MASKED − m) = 0 when it sees
its first key. Too large for a score to change it.
"""

Held = TypeVar("Held", TensorHandle, HbmTensor)
Fold: TypeAlias = Callable[[RunningSoftmax, TensorHandle, TensorHandle, Tl], None]


@dataclass(frozen=True, slots=True)
class Variant:
    """How a tile is folded, and whether the next tile's scores are issued before that."""

    fold: Fold
    scores_ahead: bool


VARIANTS = {
    "opt1": Variant(fold_with_operators, scores_ahead=False),
    "opt2": Variant(fold_in_one_composite, scores_ahead=False),
    "opt3": Variant(fold_with_fused_ops, scores_ahead=True),
}


@dataclass(frozen=True, slots=True)
class Folding:
    """What stays the same in a prefill. `scale` is the factor of the scores.

    What folding a tile makes goes into one of `slots` scratch regions, its scores into one of
    `score_tiles` buffers.
    """

    variant: Variant
    slots: int
    score_tiles: int
    scale: float


@dataclass(frozen=True)
class Block(Generic[Held]):
    """K [d, keys] and V [keys, d] for the keys at these positions, in HBM or in TCM."""

    k: Held
    v: Held
    keys: range

    def k_of(self, keys: range) -> Held:
        """The columns of K for some of the keys."""
        return self.k[:, self._places(keys)]

    def v_of(self, keys: range) -> Held:
        """The rows of V for some of the keys."""
        return self.v[self._places(keys)]

    def _places(self, keys: range) -> slice:
        return slice(keys.start - self.keys.start, keys.stop - self.keys.start)


PassingBlock: TypeAlias = Block[TensorHandle] | Block[HbmTensor]
"""Resident in TCM, or streamed from HBM by the composites that use it."""


@dataclass(frozen=True, slots=True)
class Mask:
    """The masks of all boundary tiles, as windows of one (kernels/causal.py)."""

    staircase: Staircase
    handle: TensorHandle

    def of(self, queries: range, keys: range, rows: int) -> TensorHandle:
        """What to add to the scores of a boundary tile."""
        return self.handle[:rows, self.staircase.window(queries, keys)]


def staircase_mask(staircase: Staircase, heads: int, tl: Tl) -> Mask:
    """Makes the mask, of `heads` rows a query: 0 where a key is not after it, else MASKED."""
    queries, width = staircase.queries, staircase.width
    handle = tl.empty((queries * heads, width), F32, name="mask")
    with tl.scratch_scope():
        keys = tl.arange(staircase.first, staircase.first + width, name="key")
        positions = tl.arange(0, queries, name="query")
        seen = tl.le(keys, tl.broadcast(positions[:, None, None], (queries, heads, 1)), name="seen")
        tl.where(seen.view(queries * heads, width), 0.0, MASKED, out=handle)
    return Mask(staircase, handle)


@dataclass(frozen=True, slots=True)
class Buffers:
    """Room for a chunk of query rows: q, the state, score tiles; and what the state's values start as."""

    q: TensorHandle
    state: RunningSoftmax
    scores: tuple[TensorHandle, ...]
    zero: TensorHandle
    minus_infinity: TensorHandle


def chunk_buffers(rows: int, d: int, dtype: DType, score_tiles: int, tile: int, tl: Tl) -> Buffers:
    """Buffers for chunks of up to so many rows, and tiles of up to so many keys."""
    return Buffers(
        q=tl.empty((rows, d), dtype, name="q"),
        state=RunningSoftmax(
            row_max=tl.empty((rows,), F32, name="m"),
            row_sum=tl.empty((rows,), F32, name="l"),
            weighted=tl.empty((rows, d), F32, name="O"),
            spare_max=tl.empty((rows,), F32, name="m"),
        ),
        scores=tuple(tl.empty((rows, tile), F32, name="S") for _ in range(score_tiles)),
        zero=tl.zeros((1,), F32, name="zero"),
        minus_infinity=tl.full((1,), -inf, F32, name="-inf"),
    )


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some queries with their state. A row is (query, head), the query slowest, so that causality
    is the same for all heads of a query."""

    queries: range
    q: TensorHandle
    state: RunningSoftmax
    scores: Iterator[TensorHandle]

    @property
    def rows(self) -> int:
        """Rows of q: queries times heads."""
        return self.q.shape[0]


def begin_chunk(buffers: Buffers, queries: range, q: HbmTensor, tl: Tl) -> Chunk:
    """Loads the queries' rows q [rows, d] into the buffers and resets the state to nothing seen."""
    rows, _ = q.shape
    with tl.scratch_scope():
        loaded = tl.load(q)
        state = _nothing_seen(buffers, rows, tl)
        resident = tl.copy(loaded, out=_leading(buffers.q, rows))
    return Chunk(queries, resident, state, cycle(_leading(each, rows) for each in buffers.scores))


def _nothing_seen(buffers: Buffers, rows: int, tl: Tl) -> RunningSoftmax:
    """The state before the first tile in the buffers' first rows: m = −∞, l = 0, O = 0."""

    def filled(buffer: TensorHandle, value: TensorHandle) -> TensorHandle:
        target = _leading(buffer, rows)
        return tl.copy(tl.broadcast(value, target.shape), out=target)

    state, spare_max = buffers.state, buffers.state.spare_max
    return RunningSoftmax(
        row_max=filled(state.row_max, buffers.minus_infinity),
        row_sum=filled(state.row_sum, buffers.zero),
        weighted=filled(state.weighted, buffers.zero),
        spare_max=None if spare_max is None else _leading(spare_max, rows),
    )


def _leading(buffer: TensorHandle, rows: int) -> TensorHandle:
    """The buffer, or its first rows where a chunk is shorter."""
    return buffer if buffer.shape[0] == rows else buffer[:rows]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A chunk of queries over a block of keys. `mask` is there if any tile of it is masked."""

    chunk: Chunk
    block: PassingBlock
    mask: Mask | None
    folding: Folding

    def fold(self, tiles: Sequence[KeyTile], tl: Tl) -> None:
        """Folds the tiles into the chunk's state, two composites a tile."""
        variant = self.folding.variant
        ahead: TensorHandle | None = None
        for tile, following in zip(tiles, (*tiles[1:], None), strict=True):
            s = self._scores(tile, tl) if ahead is None else ahead
            if variant.scores_ahead:
                ahead = None if following is None else self._scores(following, tl)
            with tl.scratch_scope(slots=self.folding.slots):
                variant.fold(self.chunk.state, s, _operand(self.block.v_of(tile.keys), tl), tl)

    def _scores(self, tile: KeyTile, tl: Tl) -> TensorHandle:
        """Issues scale · Q·Kᵀ of a tile, masked at the boundary."""
        chunk = self.chunk
        epilogue: list[dict[str, object]] = [{"op": "scale", "factor": self.folding.scale}]
        if tile.is_masked:
            assert self.mask is not None, "a mask is made where any tile needs one"
            mask = self.mask.of(chunk.queries, tile.keys, chunk.rows)
            epilogue.append({"op": "add", "other": mask})
        buffer = next(chunk.scores)
        out = buffer if buffer.shape[1] == len(tile.keys) else buffer[:, : len(tile.keys)]
        k = _operand(self.block.k_of(tile.keys), tl)
        return tl.composite(op="gemm", a=chunk.q, b=k, out=out, epilogue=epilogue, name="S")


def _operand(part: TensorHandle | HbmTensor, tl: Tl) -> TensorHandle:
    return tl.ref(part) if isinstance(part, HbmTensor) else part
