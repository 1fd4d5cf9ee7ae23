"""Prefill of grouped-query attention: T_q query tokens, each of which sees all keys up to its own.

The queries stand at the positions q_start … q_start + t_q − 1 of a sequence of s_kv keys: q_start is
0 for a whole prompt, more for a part of one whose past is in the cache. They run in chunks whose
state m, l, O stays in TCM (kernels/prefill_tiles.py). Tiles of keys in a chunk's future are skipped,
those at its boundary are masked, those in its past cost nothing extra (kernels/causal.py).

Without sequence parallelism (c = 1) the G query heads of a KV head are rows of the same GEMMs, and
K and V are streamed from HBM. With it (c = g, ADR-0060 §5.5) each CUBE has one query head and one
slice of the keys; the slices rotate around the group's ring (kernels/ring_blocks.py), and each CUBE
stores its own head. Nothing is reduced, except over the PEs of a CUBE where t_q < p; then all
queries are one chunk, as a state that is being sent must stay.

    q, o   [t_q, heads·g·d]      PE: [its queries, g·d], or [its queries, d] with c = g
    k      [heads·d, s_kv]       PE: [d, s_kv], or [d, its CUBE's slice]
    v      [s_kv, heads·d]       PE: as k, transposed

The variants of a tile are those of gqa_decode, both GEMMs composites in each: opt1 13 commands, opt2
2 commands, opt3 10 commands.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Annotated

from ...schemas.dtypes import DType
from ...schemas.errors import ConfigError
from ...schemas.topology import Place
from ..runtime import Runtime
from ..tensors import HbmTensor
from ..tl import Tl
from .argument_checks import arguments_of, check_least, check_words
from .causal import Staircase
from .prefill_launch import Problem, prefill_groups
from .prefill_room import Cut, Room
from .prefill_shares import PrefillShares
from .prefill_steps import Step, steps_of
from .prefill_tiles import (
    VARIANTS,
    Block,
    Buffers,
    Folding,
    Mask,
    PassingBlock,
    Sweep,
    begin_chunk,
    chunk_buffers,
    staircase_mask,
)
from .reduce import reduce_to_root
from .ring import RingSeat, ring_seats
from .ring_blocks import RingPort
from .softmax import RunningSoftmax, store_result

STORAGE = ("f16", "bf16", "f32")


def launch(
    rt: Runtime,
    variant: str = "opt2",
    g: int = 8,
    d: int = 128,
    s_kv: int = 4096,
    t_q: int = 0,
    q_start: int = -1,
    tile: int = 64,
    dtype: str = "bf16",
    slots: int = 2,
    scale: Annotated[float | None, "1/√d"] = None,
    c: int = 1,
    p: int = 1,
    heads: int = 1,
    chunk: int = 0,
    block: int = 0,
    overlap: bool = True,
) -> None:
    """Causal attention of t_q query tokens over each KV head, on random inputs.

    variant  opt1, opt2 or opt3
    g        query heads that share a KV head
    d        head dimension
    s_kv     keys of the sequence
    t_q      query tokens; 0 for s_kv
    q_start  position of the first; -1 for s_kv - t_q
    tile     keys a tile
    dtype    storage dtype: f16, bf16 or f32
    slots    scratch regions, and score tiles, that tiles take in rotation
    scale    factor of the scores; 1/√d unless given
    c        CUBEs a KV head: 1, or g for a ring with one query head a CUBE
    p        PEs of each CUBE that take part
    heads    KV heads, one group of c CUBEs each
    chunk    query tokens that see keys together; 0 for a tile of them, in a ring for what fits
    block    keys of a slice that rotate together; 0 for what fits
    overlap  false: the next block is fetched when all work on this one is done
    """
    with arguments_of("gqa_prefill"):
        check_words(variant=(variant, VARIANTS), dtype=(dtype, STORAGE))
        check_least(1, g=g, d=d, s_kv=s_kv, tile=tile, slots=slots)
        check_least(0, t_q=t_q, chunk=chunk, block=block)
        check_least(-1, q_start=q_start)
        queries = query_positions(s_kv, t_q, q_start)
        shares = PrefillShares(prefill_groups(rt.topology, heads, c, p, g), g, queries, s_kv)
        ring = ring_seats(rt.topology, shares.groups.shape) if c > 1 else ()
    room = Room(rt.topology.pe, variant, g // c, d, tile, DType(dtype), slots, c > 1)
    at_once = len(queries) if shares.keys_are_split else chunk
    cut = room.cut(len(shares.queries_of(0)), len(shares.keys_of(0, 0)), at_once, block)
    factor = 1 / sqrt(d) if scale is None else scale
    rt.resolve(scale=factor, t_q=len(queries), q_start=queries.start)
    folding = Folding(VARIANTS[variant], slots, room.score_tiles, factor)
    problem = Problem(shares, d, dtype, folding.scale)
    work = Work(shares, ring, cut, folding, overlap)
    rt.launch(gqa_prefill, shares.groups.grid, work, *problem.tensors(rt))


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


@dataclass(frozen=True, slots=True)
class Work:
    """What the PEs are told. `ring` has the members' seats, none where a group is one CUBE."""

    shares: PrefillShares
    ring: tuple[RingSeat, ...]
    cut: Cut
    folding: Folding
    overlap: bool


def gqa_prefill(
    work: Work, q: HbmTensor, k: HbmTensor, v: HbmTensor, o: HbmTensor, *, tl: Tl
) -> None:
    """One PE's part; nothing on a PE outside the groups. The module says what it sees of each."""
    seat = work.shares.seats.get(Place(tl.program_id(2), tl.program_id(1), tl.program_id(0)))
    if seat is None:
        return
    member, pe = seat.member
    own = Block(k, v, work.shares.keys_of(member, pe))
    queries = QueryRows(work, pe, q, o, tl)
    if work.ring:
        ring_seat = work.ring[member]
        steps = steps_of(work.shares, seat.member, ring_seat.sources, work.cut)
        queries.attend(steps, RingPort(ring_seat, own, work.overlap, tl).blocks(steps))
    else:
        steps = steps_of(work.shares, seat.member, (member,), work.cut)
        queries.attend(steps, ((step, own) for step in steps))


@dataclass(frozen=True, slots=True)
class QueryRows:
    """A PE's queries: its parts of q and o [queries, heads·d], of which each (query, head) is a row."""

    work: Work
    pe: int
    q: HbmTensor
    o: HbmTensor
    tl: Tl

    @property
    def queries(self) -> range:
        """Their positions."""
        return self.work.shares.queries_of(self.pe)

    def attend(
        self, steps: Sequence[Step], blocks: Iterable[tuple[Step, PassingBlock | None]]
    ) -> None:
        """Folds the blocks that pass by; stores a chunk of queries when it has seen all of them."""
        if not steps:
            self._conclude(None, self.queries)
            return
        mask = self._mask(steps)
        buffers = self._buffers()
        for step, block in blocks:
            if step.is_first:
                chunk = begin_chunk(
                    buffers, step.queries, self._rows(self.q, step.queries), self.tl
                )
            tiles = step.tiles(self.work.cut.tile)
            if block is not None and tiles:
                Sweep(chunk, block, mask, self.work.folding).fold(tiles, self.tl)
            if step.is_last:
                self._conclude(chunk.state, step.queries)

    def _mask(self, steps: Sequence[Step]) -> Mask | None:
        tile = self.work.cut.tile
        if not any(each.is_masked for step in steps for each in step.tiles(tile)):
            return None
        return staircase_mask(Staircase(self._most_queries, tile), self._heads, self.tl)

    def _buffers(self) -> Buffers:
        rows, d = self._most_queries * self._heads, self._d
        return chunk_buffers(
            rows, d, self.q.dtype, self.work.folding.score_tiles, self.work.cut.tile, self.tl
        )

    def _conclude(self, state: RunningSoftmax | None, queries: range) -> None:
        """Stores a chunk's result, after the CUBE's reduction where its keys are split over the PEs."""
        if state is not None:
            self.tl.wait()
        with self.tl.scratch_scope():
            reduction = self.work.shares.reduction(self.pe)
            rows = len(queries) * self._heads
            total = reduce_to_root(state, reduction, rows, self._d, self.tl)
            if total is not None:
                store_result(total, self._rows(self.o, queries), self.tl)

    def _rows(self, tensor: HbmTensor, queries: range) -> HbmTensor:
        """The rows of some of the queries, in q or o: [queries · heads, d]."""
        first = (queries.start - self.queries.start) * self._heads * self._d
        return tensor.part(first, (len(queries) * self._heads, self._d))

    @property
    def _heads(self) -> int:
        return self.work.shares.heads_per_pe

    @property
    def _d(self) -> int:
        return self.q.shape[1] // self._heads

    @property
    def _most_queries(self) -> int:
        """Queries of the longest chunk."""
        return min(self.work.cut.chunk, len(self.queries))
