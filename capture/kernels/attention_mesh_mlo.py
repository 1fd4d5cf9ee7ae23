"""The decode baseline: one-shot partial attention on every rank, and every rank has the answer.

One query token attends to all keys, which are split over the C·P ranks of a CUBE group. What
gqa_decode does better, this kernel does without (ADR-0060 §A):

    each query head has a copy of its KV head's cache of its own (kernels/mesh_cache.py), and its GEMMs
    have one row                           gqa_decode: the g heads are the rows of one GEMM
    a rank's keys are loaded whole, then one softmax over all of them; tl.dot and operators, each of
    which PE_CPU waits for                 gqa_decode: tiles that composites stream from HBM
    (m, l, O) of every rank to all others, or reduced and sent back (kernels/mesh_exchange.py)
                                           gqa_decode: reduced to one root

    q, o   [heads·g, d]    rank: [g, d], a copy on each of the group
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...schemas.dtypes import DType
from ...schemas.topology import Place
from ..placement import REPLICATED
from ..runtime import Float64s, Runtime
from ..tensors import HbmTensor
from ..tl import Tl
from .argument_checks import arguments_of, check_attention, score_scale
from .groups import Seat, head_groups
from .mesh_cache import MeshCache
from .mesh_exchange import EXCHANGES, Exchange
from .references import attention
from .softmax import RunningSoftmax, store_result

F32 = DType.F32


def launch(
    rt: Runtime,
    g: int = 8,
    d: int = 128,
    s_kv: int = 512,
    dtype: str = "bf16",
    scale: Annotated[float | None, "1/√d"] = None,
    c: int = 1,
    p: int = 1,
    heads: int = 1,
    exchange: str = "fan_out",
) -> None:
    """Attention of one query token over each KV head, on random inputs: what gqa_decode replaces.

    g         query heads that share a KV head; each has a copy of its cache
    d         head dimension
    s_kv      keys to attend to
    dtype     storage dtype: f16, bf16 or f32
    scale     factor of the scores; 1/√d unless given
    c         CUBEs a KV head: a rectangle that tiles the SIP
    p         PEs of each CUBE that take part
    heads     KV heads, one group of c CUBEs each
    exchange  fan_out: every rank's state to all others; two_level: all-reduce over PEs, then CUBEs
    """
    with arguments_of("attention_mesh_mlo"):
        check_attention(dtype, g, d, s_kv, exchange=(exchange, EXCHANGES))
        groups = head_groups(rt.topology, heads, c, p, rt.sips)
        seats = groups.seats()
        cache = MeshCache(groups, g, d, s_kv, dtype)
        occupied = {seat.member: bool(cache.tokens_of(seat.member)) for seat in seats.values()}
        chosen = EXCHANGES[exchange](groups, occupied)
    factor = score_scale(scale, d)
    rt.resolve(scale=factor)
    by_head = REPLICATED.split(0, groups.by_head())
    q = rt.random((heads * g, d), dtype, name="q", placement=by_head)
    k, v = cache.tensors(rt)
    o = rt.empty((heads * g, d), dtype, name="o", placement=by_head)

    def reference() -> Float64s:
        of_heads = np.split(q.values, heads)
        caches = [cache.of_kv_head(head, k.values, v.values) for head in range(heads)]
        return np.concatenate(
            [attention(rows, *kv, factor) for rows, kv in zip(of_heads, caches, strict=True)]
        )

    rt.output(o, reference)
    rt.launch(attention_mesh_mlo, groups.grid, MeshWork(seats, chosen, factor), q, k, v, o)


@dataclass(frozen=True, slots=True)
class MeshWork:
    """What the PEs are told."""

    seats: Mapping[Place, Seat]
    exchange: Exchange
    scale: float


def attention_mesh_mlo(
    work: MeshWork, q: HbmTensor, k: HbmTensor, v: HbmTensor, o: HbmTensor, *, tl: Tl
) -> None:
    """One rank's part; nothing on a PE outside the groups."""
    seat = work.seats.get(Place(tl.program_id(2), tl.program_id(1), tl.program_id(0)))
    if seat is None:
        return
    g, d = q.shape
    state = partial_attention(q, k, v, work.scale, tl) if len(v) else None
    store_result(work.exchange.total(seat.member, state, g, d, tl), o, tl)


def partial_attention(
    q: HbmTensor, k: HbmTensor, v: HbmTensor, scale: float, tl: Tl
) -> RunningSoftmax:
    """The state over the rank's tokens, of which there are some, query head by query head.

    q [g, d], k [g·d, tokens], v [tokens, g·d].
    """
    g, d = q.shape
    queries, keys, values = tl.load(q, name="q"), tl.load(k, name="K"), tl.load(v, name="V")
    state = RunningSoftmax(
        row_max=tl.empty((g,), F32, name="m"),
        row_sum=tl.empty((g,), F32, name="l"),
        weighted=tl.empty((g, d), F32, name="O"),
        spare_max=tl.empty((g,), F32, name="m"),
    )
    for head in range(g):
        row, columns = slice(head, head + 1), slice(head * d, (head + 1) * d)
        with tl.scratch_scope():
            s = tl.dot(queries[row], keys[columns], dtype=F32, name="S") * scale
            row_max = tl.max(s, out=state.row_max[row])
            p = tl.exp(s - row_max[:, None], dtype=v.dtype, name="P")
            tl.sum(p, out=state.row_sum[row])
            tl.dot(p, values[:, columns], out=state.weighted[row])
    return state
