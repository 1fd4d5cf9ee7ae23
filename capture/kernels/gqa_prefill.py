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
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated

from ...schemas.dtypes import DType
from ...schemas.topology import Place
from ..runtime import Runtime, Tensor
from ..tensors import HbmTensor
from ..tl import SendTicket, Tl
from .argument_checks import (
    arguments_of,
    check_attention,
    check_least,
    check_requests,
    check_starts,
    score_scale,
)
from .causal import Staircase, query_positions
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
    start_cube: int = 0,
    start_pe: int = 0,
    requests: int = 1,
) -> None:
    """Causal attention of t_q query tokens over each KV head, on random inputs.

    variant     opt1, opt2 or opt3
    g           query heads that share a KV head
    d           head dimension
    s_kv        keys of the sequence
    t_q         query tokens; 0 for s_kv
    q_start     position of the first; -1 for s_kv - t_q
    tile        keys a tile
    dtype       storage dtype: f16, bf16 or f32
    slots       scratch regions, and score tiles, that tiles take in rotation
    scale       factor of the scores; 1/√d unless given
    c           CUBEs a KV head: 1, or g for a ring with one query head a CUBE
    p           PEs of each CUBE that take part
    heads       KV heads, one group of c CUBEs each
    chunk       query tokens that see keys together; 0 for a tile of them, in a ring for what fits
    block       keys of a slice that rotate together; 0 for what fits
    overlap     false: the next block is fetched when all work on this one is done
    start_cube  which CUBE of a group has the first keys
    start_pe    which PE of a CUBE has the first queries
    requests    how many, one after the other; request r starts r CUBEs and ⌊r / c⌋ PEs further on
    """
    with arguments_of("gqa_prefill"):
        check_attention(dtype, g, d, s_kv, variant=(variant, VARIANTS))
        check_least(1, tile=tile, slots=slots, requests=requests)
        check_least(0, t_q=t_q, chunk=chunk, block=block)
        check_least(-1, q_start=q_start)
        queries = query_positions(s_kv, t_q, q_start)
        groups = prefill_groups(rt.topology, heads, c, p, g, rt.sips)
        check_starts(start_cube, start_pe, c, p)
        first = PrefillShares(groups, g, queries, s_kv, start_cube, start_pe)
        check_requests(requests, groups, first.elements(d), DType(dtype))
        ring = ring_seats(rt.topology, groups.shape) if c > 1 else ()
    starts = [groups.start_of_request(number, start_cube, start_pe) for number in range(requests)]
    shares = tuple(PrefillShares(groups, g, queries, s_kv, *start) for start in starts)
    room = Room(rt.topology.pe, variant, g // c, d, tile, DType(dtype), slots, c > 1)
    at_once = len(queries) if first.keys_are_split else chunk
    most_keys = first.most_keys(first.start_pe)
    cut = room.cut(first.most_queries, most_keys, at_once, block)
    with arguments_of("gqa_prefill"):
        room.check_given(chunk, block, most_keys, cut)
    factor = score_scale(scale, d)
    rt.resolve(scale=factor, t_q=len(queries), q_start=queries.start)
    rt.resolve(chunk=cut.chunk, block=cut.block)
    folding = Folding(VARIANTS[variant], slots, room.score_tiles, factor)
    tensors: list[Tensor] = []
    for number, each in enumerate(shares):
        suffix = str(number) if requests > 1 else ""
        tensors += Problem(each, d, dtype, factor).tensors(rt, suffix)
    rt.launch(gqa_prefill, groups.grid, Work(shares, ring, cut, folding, overlap), *tensors)


@dataclass(frozen=True, slots=True)
class Work:
    """What the PEs are told. `ring` has the members' seats, none where a group is one CUBE."""

    requests: tuple[PrefillShares, ...]
    ring: tuple[RingSeat, ...]
    cut: Cut
    folding: Folding
    overlap: bool


@dataclass(frozen=True, slots=True)
class Bench:
    """What all chunks of a PE take turns in. The mask is there if any of their tiles is masked."""

    mask: Mask | None
    buffers: Buffers


def gqa_prefill(work: Work, *tensors: HbmTensor, tl: Tl) -> None:
    """One PE's part of each request, one after the other; nothing on a PE outside the groups.

    `tensors` are q, k, v and o of each. The module says what the PE sees of them.
    """
    place = Place(tl.program_id(2), tl.program_id(1), tl.program_id(0))
    seat = work.requests[0].seats.get(place)
    if seat is None:
        return
    member, pe = seat.member
    sources = work.ring[member].sources if work.ring else (member,)
    steps = [steps_of(shares, seat.member, sources, work.cut) for shares in work.requests]
    bench = made_bench(work, list(chain.from_iterable(steps)), tensors[0], tl)
    by_kind = [tensors[kind::4] for kind in range(4)]
    leaving: list[SendTicket] = []
    for shares, passing, q, k, v, o in zip(work.requests, steps, *by_kind, strict=True):
        if leaving:  # all requests have their state in the same place
            tl.wait(*leaving)
        rows = QueryRows(shares, pe, q, o, tl)
        own = Block(k, v, shares.keys_of(member, pe))
        if bench is None or not passing:
            rows.conclude(None, rows.queries)
        elif work.ring:
            port = RingPort(work.ring[member], own, work.overlap, tl)
            rows.attend(port.blocks(passing), bench, work)
        else:
            rows.attend(((step, own) for step in passing), bench, work)
        leaving = rows.leaving


def made_bench(work: Work, steps: Sequence[Step], q: HbmTensor, tl: Tl) -> Bench | None:
    """Makes what these steps need; None where there are none. `q` is one of the requests'."""
    if not steps:
        return None
    heads, tile = work.requests[0].heads_per_pe, work.cut.tile
    queries = max(len(step.queries) for step in steps)
    is_masked = any(each.is_masked for step in steps for each in step.tiles(tile))
    mask = staircase_mask(Staircase(queries, tile), heads, tl) if is_masked else None
    rows, d = queries * heads, q.shape[1] // heads
    return Bench(mask, chunk_buffers(rows, d, q.dtype, work.folding.score_tiles, tile, tl))


@dataclass(frozen=True, slots=True)
class QueryRows:
    """A PE's queries: its parts of q and o [queries, heads·d], of which each (query, head) is a row.

    `leaving` are the sends of a state that is not reduced here.
    """

    shares: PrefillShares
    pe: int
    q: HbmTensor
    o: HbmTensor
    tl: Tl
    leaving: list[SendTicket] = field(default_factory=list)

    @property
    def queries(self) -> range:
        """Their positions."""
        return self.shares.queries_of(self.pe)

    def attend(
        self, blocks: Iterable[tuple[Step, PassingBlock | None]], bench: Bench, work: Work
    ) -> None:
        """Folds the blocks that pass by; stores a chunk of queries when it has seen all of them."""
        for step, block in blocks:
            if step.is_first:
                q = self._rows(self.q, step.queries)
                chunk = begin_chunk(bench.buffers, step.queries, q, self.tl)
            tiles = step.tiles(work.cut.tile)
            if block is not None and tiles:
                Sweep(chunk, block, bench.mask, work.folding).fold(tiles, self.tl)
            if step.is_last:
                self.conclude(chunk.state, step.queries)

    def conclude(self, state: RunningSoftmax | None, queries: range) -> None:
        """Stores a chunk's result, after the CUBE's reduction where its keys are split over the PEs."""
        if state is not None:
            self.tl.wait()
        with self.tl.scratch_scope():
            reduction = self.shares.reduction(self.pe)
            rows = len(queries) * self._heads
            total = reduce_to_root(state, reduction, rows, self._d, self.tl, self.leaving)
            if total is not None:
                store_result(total, self._rows(self.o, queries), self.tl)

    def _rows(self, tensor: HbmTensor, queries: range) -> HbmTensor:
        """The rows of some of the queries, in q or o: [queries · heads, d]."""
        first = (queries.start - self.queries.start) * self._heads * self._d
        return tensor.part(first, (len(queries) * self._heads, self._d))

    @property
    def _heads(self) -> int:
        return self.shares.heads_per_pe

    @property
    def _d(self) -> int:
        return self.q.shape[1] // self._heads
