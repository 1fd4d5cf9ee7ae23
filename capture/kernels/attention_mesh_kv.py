"""The prefill baseline: the keys and values of every rank visit all others, whole.

Every rank of a CUBE group has a part of the queries and the keys of a part of the sequence. Each
rank's K and V pass along a line through all ranks, both ways, C·P − 1 steps (kernels/fan_out.py);
a rank folds what comes by into the running state of its queries. What gqa_prefill does better, this
kernel does without (ADR-0060 §A, §5.5):

    each query head has a copy of its KV head's cache of its own (kernels/mesh_cache.py), and all copies
    travel                      gqa_prefill: a ring of CUBEs, one query head each, and one copy travels
    keys in the queries' future are masked, and computed all the same    gqa_prefill: skipped
    a rank's keys are folded at once; tl.dot and operators, each of which PE_CPU waits for
                                gqa_prefill: tiles of composites

    q, o   [t_q, heads·g·d]    rank: [its queries, g·d]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...schemas.dtypes import DType
from ...schemas.topology import Place
from ..handles import TensorHandle
from ..placement import REPLICATED, contiguous_block
from ..runtime import Float64s, Runtime
from ..tensors import HbmTensor
from ..tl import Tl
from .argument_checks import arguments_of, check_attention, check_least, score_scale
from .causal import Sight, query_positions, sight
from .fan_out import FanOut, Parcel, Piece
from .groups import HeadGroups, Member, Seat, head_groups
from .line import LineSeat, line_of, line_seats
from .mesh_cache import MeshCache
from .prefill_tiles import MASKED
from .references import attention, causal_attention
from .softmax import (
    RunningSoftmax,
    dotted_values,
    fold_with_operators,
    nothing_seen,
    store_result,
)

F32 = DType.F32


def launch(
    rt: Runtime,
    g: int = 8,
    d: int = 128,
    s_kv: int = 128,
    t_q: int = 0,
    q_start: int = -1,
    dtype: str = "bf16",
    scale: Annotated[float | None, "1/√d"] = None,
    c: int = 1,
    p: int = 1,
    heads: int = 1,
    causal: bool = True,
) -> None:
    """Attention of t_q query tokens over each KV head, on random inputs: what gqa_prefill replaces.

    g        query heads that share a KV head; each has a copy of its cache
    d        head dimension
    s_kv     keys of the sequence
    t_q      query tokens; 0 for s_kv
    q_start  position of the first; -1 for s_kv - t_q
    dtype    storage dtype: f16, bf16 or f32
    scale    factor of the scores; 1/√d unless given
    c        CUBEs a KV head: a rectangle that tiles the SIP
    p        PEs of each CUBE that take part
    heads    KV heads, one group of c CUBEs each
    causal   false: every query sees all keys
    """
    with arguments_of("attention_mesh_kv"):
        check_attention(dtype, g, d, s_kv)
        check_least(0, t_q=t_q)
        check_least(-1, q_start=q_start)
        queries = query_positions(s_kv, t_q, q_start)
        groups = head_groups(rt.topology, heads, c, p, rt.sips)
        line = line_seats(groups)
    factor = score_scale(scale, d)
    rt.resolve(scale=factor, t_q=len(queries), q_start=queries.start)
    cache = MeshCache(groups, g, d, s_kv, dtype)
    by_rank_and_head = REPLICATED.split(0, groups.by_rank(0, 0)).split(1, groups.by_head())
    shape = (len(queries), heads * g * d)
    q = rt.random(shape, dtype, name="q", placement=by_rank_and_head)
    k, v = cache.tensors(rt)
    o = rt.empty(shape, dtype, name="o", placement=by_rank_and_head)

    def reference() -> Float64s:
        results = []
        for head, rows in enumerate(np.split(q.values, heads * g, axis=1)):
            keys_values = cache.of_kv_head(head // g, k.values, v.values)
            if causal:
                results.append(causal_attention(rows, *keys_values, factor, queries.start))
            else:
                results.append(attention(rows, *keys_values, factor))
        return np.concatenate(results, axis=1)

    rt.output(o, reference)
    keys = [cache.tokens_of(member) for member in line_of(groups)]
    work = MeshWork(groups, groups.seats(), line, queries, keys, g, causal, factor)
    rt.launch(attention_mesh_kv, groups.grid, work, q, k, v, o)


@dataclass(frozen=True, slots=True)
class MeshWork:
    """What the PEs are told. `keys` are the positions of each rank's tokens, along the line."""

    groups: HeadGroups
    seats: Mapping[Place, Seat]
    line: Mapping[Member, LineSeat]
    queries: range
    keys: Sequence[range]
    g: int
    causal: bool
    scale: float

    def queries_of(self, member: Member) -> range:
        """The positions of a rank's queries."""
        cube, pe = member
        rank = cube * self.groups.pes + pe
        share = contiguous_block(len(self.queries), self.groups.ranks, rank)
        return self.queries[share.start : share.stop]


def attention_mesh_kv(
    work: MeshWork, q: HbmTensor, k: HbmTensor, v: HbmTensor, o: HbmTensor, *, tl: Tl
) -> None:
    """One rank's part; nothing on a PE outside the groups. A rank without queries passes on."""
    seat = work.seats.get(Place(tl.program_id(2), tl.program_id(1), tl.program_id(0)))
    if seat is None:
        return
    own: Parcel = (tl.load(k, name="K"), tl.load(v, name="V")) if len(v) else ()
    rows = MeshRows.loaded(work, work.queries_of(seat.member), q, tl) if len(q) else None
    contents = [block_pieces(len(keys), len(k), k.dtype) if keys else () for keys in work.keys]
    for position, (k_block, v_block) in FanOut(work.line[seat.member], contents, tl).parcels(own):
        if rows is not None:
            rows.fold(k_block, v_block, work.keys[position])
        else:  # its place is not to be taken again before it has come
            tl.wait(k_block, v_block)
    if rows is not None:
        rows.store(o)


def block_pieces(keys: int, width: int, dtype: DType) -> tuple[Piece, Piece]:
    """The two messages that a rank's K and V are."""
    return Piece((width, keys), dtype, "K"), Piece((keys, width), dtype, "V")


@dataclass(frozen=True, slots=True)
class MeshRows:
    """A rank's queries q [queries, g·d] in TCM, and a running state for each head."""

    work: MeshWork
    queries: range
    q: TensorHandle
    states: tuple[RunningSoftmax, ...]
    tl: Tl

    @classmethod
    def loaded(cls, work: MeshWork, queries: range, q: HbmTensor, tl: Tl) -> "MeshRows":
        """Loads the queries; nothing is seen yet."""
        rows, width = q.shape
        d = width // work.g
        states = [nothing_seen(rows, d, tl, double_buffered=True) for _ in range(work.g)]
        return cls(work, queries, tl.load(q, name="q"), tuple(states), tl)

    def fold(self, k: TensorHandle, v: TensorHandle, keys: range) -> None:
        """Folds a rank's K [g·d, keys] and V [keys, g·d] head by head, masked where some are unseen."""
        tl = self.tl
        mask = self._mask(keys)
        for head, state in enumerate(self.states):
            columns = self._columns(head)
            with tl.scratch_scope():
                s = tl.dot(self.q[:, columns], k[columns], dtype=F32, name="S") * self.work.scale
                s = s if mask is None else s + mask
                fold_with_operators(state, s, v[:, columns], tl, dotted_values)

    def store(self, o: HbmTensor) -> None:
        """Stores O / l of each head into its columns of o."""
        for head, state in enumerate(self.states):
            with self.tl.scratch_scope():
                store_result(state, o[:, self._columns(head)], self.tl)

    def _columns(self, head: int) -> slice:
        d = self.q.shape[1] // self.work.g
        return slice(head * d, (head + 1) * d)

    def _mask(self, keys: range) -> TensorHandle | None:
        """[queries, keys]: 0 where a key is not after the query, else MASKED. None if all are seen."""
        if not self.work.causal or sight(self.queries, keys) is Sight.PAST:
            return None
        tl = self.tl
        positions = tl.arange(self.queries.start, self.queries.stop, name="query")
        seen = tl.le(tl.arange(keys.start, keys.stop, name="key"), positions[:, None])
        return tl.where(seen, 0.0, MASKED, name="mask")
