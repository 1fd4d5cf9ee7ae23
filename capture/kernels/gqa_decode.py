"""Decode of grouped-query attention: one query token, each KV head's cache split over a CUBE group.

One query token attends to all valid keys. The G query heads that share the KV head are the M rows of
both GEMMs, so that a tile of K and V is read once for all of them (ADR-0060 §5.2). m, l and O are
f32 and persist, the scores are f32, P has the storage dtype, and O is divided by l once, at the end.

Every rank has a copy of q and sweeps its own tokens (kernels/kv_cache.py). Then only (m, l, O) moves,
in a two-level reduce-to-root (kernels/reduce.py), and the group's root stores o.

Three variants of a tile (ADR-0060 TL;DR and §5.6, DDD-0065 §6). Both GEMMs are composites in each:

    opt1   13 commands   operators; the next tile's Q·Kᵀ is issued when this tile is done
    opt2    2 commands   the softmax is a recipe in the second composite; PE_CPU waits for nothing
    opt3   10 commands   the next tile's Q·Kᵀ is issued before this tile's softmax

K is stored transposed, [d, capacity], V is [capacity, d]. The last tile may be ragged: it ends where
the cache ends, and where the cache goes on after the last valid key, −∞ is added to the scores from
there on. What lies there must be finite numbers: −∞ does not hide a NaN.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Annotated

from ...schemas.dtypes import DType
from ...schemas.errors import ConfigError, KernelError
from ...schemas.topology import Place
from ..handles import TensorHandle
from ..runtime import Runtime, Tensor
from ..tensors import HbmTensor
from ..tl import Tl
from .argument_checks import (
    arguments_of,
    check_attention,
    check_least,
    check_requests,
    check_starts,
    score_scale,
)
from .decode_launch import Request, Share, elements, shares
from .groups import head_groups
from .kv_cache import PLACEMENTS, KvCache
from .reduce import reduce_to_root
from .reduction_plan import reduction
from .softmax import (
    RunningSoftmax,
    fold_in_one_composite,
    fold_with_fused_ops,
    fold_with_operators,
    nothing_seen,
    store_result,
)
from .trees import CUBE_TREES, PE_TREES

F32 = DType.F32


def launch(
    rt: Runtime,
    variant: str = "opt2",
    g: int = 8,
    d: int = 128,
    s_kv: int = 4096,
    tile: int = 64,
    dtype: str = "bf16",
    slots: int = 2,
    scale: Annotated[float | None, "1/√d"] = None,
    c: int = 1,
    p: int = 1,
    heads: int = 1,
    placement: str = "contiguous",
    max_context: int = 0,
    counter: int = 0,
    start_cube: int = 0,
    start_pe: int = 0,
    requests: int = 1,
    reduce_pe: str = "tree",
    reduce_cube: str = "centre",
) -> None:
    """Attention of one query token over each KV head, on random inputs.

    variant      opt1, opt2 or opt3
    g            query heads that share a KV head
    d            head dimension
    s_kv         keys to attend to
    tile         keys a tile; 0 for all of a rank's at once
    dtype        storage dtype: f16, bf16 or f32
    slots        scratch regions that tiles take in rotation
    scale        factor of the scores; 1/√d unless given
    c            CUBEs a KV head: a rectangle that tiles the SIP
    p            PEs of each CUBE that take part
    heads        KV heads, one group of c CUBEs each
    placement    contiguous or round_robin: how a head's tokens go to its c·p ranks
    max_context  tokens that a cache has room for; 0 for s_kv in whole tiles
    counter      tokens that it holds; 0 for s_kv
    start_cube   which CUBE of a group has the first tokens
    start_pe     which PE of a CUBE has the first of its tokens
    requests     how many at once; request r starts r CUBEs and ⌊r / c⌋ PEs further on
    reduce_pe    way to the root within a CUBE: tree, chain or ring
    reduce_cube  way to the root between CUBEs: centre, chain or ring
    """
    with arguments_of("gqa_decode"):
        check_attention(
            dtype,
            g,
            d,
            s_kv,
            variant=(variant, VARIANTS),
            placement=(placement, PLACEMENTS),
            reduce_pe=(reduce_pe, PE_TREES),
            reduce_cube=(reduce_cube, CUBE_TREES),
        )
        check_least(1, slots=slots, requests=requests)
        check_least(0, tile=tile, max_context=max_context, counter=counter)
        room = max_context or (-(-s_kv // tile) * tile if tile else s_kv)
        held = tokens_held(s_kv, max_context, counter)
        groups = head_groups(rt.topology, heads, c, p, rt.sips)
        check_starts(start_cube, start_pe, c, p)
        is_round_robin, block = placement == "round_robin", -(-room // groups.ranks)
        first = KvCache(groups, block, is_round_robin, start_cube, start_pe)
        check_requests(requests, groups, elements(first, g, d), DType(dtype))
        to_root = reduction(groups, reduce_pe, reduce_cube)
    factor = score_scale(scale, d)
    rt.resolve(scale=factor, max_context=room, counter=held)
    tensors: list[Tensor] = []
    work = []
    for number in range(requests):
        start = groups.start_of_request(number, start_cube, start_pe)
        cache = KvCache(groups, block, is_round_robin, *start)
        request = Request(cache, g, d, held, dtype, factor)
        tensors += request.tensors(rt, to_root.root, str(number) if requests > 1 else "")
        work.append(shares(cache, to_root, held))
    loop = TileLoop(variant, tile, slots, factor)
    rt.launch(gqa_decode_sp, groups.grid, work, loop, *tensors)


def tokens_held(s_kv: int, max_context: int, counter: int) -> int:
    """The valid tokens of a cache. Raises ConfigError where it has no room for them."""
    held, room = counter or s_kv, max_context or s_kv
    if held > room:
        name, limit = ("counter" if counter else "s_kv"), ("max_context" if max_context else "s_kv")
        raise ConfigError(f"{name} must be at most {limit}, which is {room}, not {held}")
    return held


@dataclass(frozen=True, slots=True)
class TileLoop:
    """How a rank goes through its tokens: see `launch`. `scale` is the factor itself."""

    variant: str
    tile: int
    slots: int
    scale: float


def gqa_decode_sp(
    work: Sequence[Mapping[Place, Share]], loop: TileLoop, *tensors: HbmTensor, tl: Tl
) -> None:
    """Decode of several requests: this PE's share of each. `tensors` are q, k, v and o of each.

    All are swept before the first is reduced, so that no rank stands idle for another's sweep
    while it has tokens of its own. A PE that has no share does nothing.
    """
    place = Place(tl.program_id(2), tl.program_id(1), tl.program_id(0))
    by_request = zip(work, *(tensors[kind::4] for kind in range(4)), strict=True)
    mine = [(request[place], *seen) for request, *seen in by_request if place in request]
    states = [
        swept(q, k, v, share.valid, loop, tl) if share.valid else None for share, q, k, v, _ in mine
    ]
    for state, (share, q, _, _, o) in zip(states, mine, strict=True):
        rows, d = q.shape
        total = reduce_to_root(state, share.steps, rows, d, tl)
        if total is not None:
            store_result(total, o, tl)


def gqa_decode(
    q: HbmTensor,
    k: HbmTensor,
    v: HbmTensor,
    o: HbmTensor,
    valid: int,
    variant: str,
    tile: int,
    slots: int,
    scale: float,
    *,
    tl: Tl,
) -> None:
    """o [g, d] = softmax(scale · q·k)·v over the first `valid` keys, on one rank alone."""
    store_result(swept(q, k, v, valid, TileLoop(variant, tile, slots, scale), tl), o, tl)


def swept(
    q: HbmTensor, k: HbmTensor, v: HbmTensor, valid: int, loop: TileLoop, tl: Tl
) -> RunningSoftmax:
    """The state over the rank's first `valid` keys. q [g, d], k [d, capacity], v [capacity, d]."""
    g, d = q.shape
    tiles = kv_tiles(valid, k.shape[1], loop.tile)
    queries = tl.load(q, name=q.name)
    mask = boundary_mask(tiles[-1], valid, tl)
    sweep = Sweep(queries, k, v, tiles, mask, loop.scale, loop.slots)
    state = nothing_seen(g, d, tl, double_buffered=loop.variant != "opt2")
    VARIANTS[loop.variant](sweep, state, tl)
    return state


@dataclass(frozen=True, slots=True)
class Sweep:
    """What every tile of a pass over the cache needs. `tiles` are ranges of keys."""

    q: TensorHandle
    k: HbmTensor
    v: HbmTensor
    tiles: tuple[range, ...]
    mask: TensorHandle | None
    scale: float
    slots: int

    def scores(self, number: int, tl: Tl, out: TensorHandle | None = None) -> TensorHandle:
        """Issues scale · Q·Kᵀ of a tile, in f32: the first of its two composites."""
        keys = self.tiles[number]
        epilogue: list[dict[str, object]] = [{"op": "scale", "factor": self.scale}]
        if self.mask is not None and number == len(self.tiles) - 1:
            epilogue.append({"op": "add", "other": self.mask})
        k_tile = tl.ref(self.k[:, keys.start : keys.stop])
        return tl.composite(
            op="gemm", a=self.q, b=k_tile, out=out, out_dtype=F32, epilogue=epilogue, name="S"
        )

    def values(self, number: int, tl: Tl) -> TensorHandle:
        """A tile of V, for a composite to stream."""
        keys = self.tiles[number]
        return tl.ref(self.v[keys.start : keys.stop])


def opt1(sweep: Sweep, state: RunningSoftmax, tl: Tl) -> None:
    """One thing after the other: the GEMM engine idles during the softmax."""
    for number in range(len(sweep.tiles)):
        with tl.scratch_scope(slots=sweep.slots):
            s = sweep.scores(number, tl)
            fold_with_operators(state, s, sweep.values(number, tl), tl)


def opt2(sweep: Sweep, state: RunningSoftmax, tl: Tl) -> None:
    """Two composites a tile, and one wait for all of them at the end."""
    for number in range(len(sweep.tiles)):
        with tl.scratch_scope(slots=sweep.slots):
            s = sweep.scores(number, tl)
            fold_in_one_composite(state, s, sweep.values(number, tl), tl)
    tl.wait()


def opt3(sweep: Sweep, state: RunningSoftmax, tl: Tl) -> None:
    """Software pipelining: two persistent score buffers, one filled while the other is folded."""
    widths = [len(keys) for keys in sweep.tiles]
    rows = sweep.q.shape[0]
    buffers = [tl.empty((rows, width), F32, name="S") for width in widths[:2]]
    s = sweep.scores(0, tl, buffers[0])
    for number in range(len(widths)):
        s_next = s
        if number + 1 < len(widths):
            buffer = leading_columns(buffers[(number + 1) % 2], widths[number + 1])
            s_next = sweep.scores(number + 1, tl, buffer)
        with tl.scratch_scope(slots=sweep.slots):
            fold_with_fused_ops(state, s, sweep.values(number, tl), tl)
        s = s_next


VARIANTS: dict[str, Callable[[Sweep, RunningSoftmax, Tl], None]] = {
    "opt1": opt1,
    "opt2": opt2,
    "opt3": opt3,
}


def kv_tiles(valid: int, capacity: int, tile: int) -> tuple[range, ...]:
    """The keys of each tile, up to the one that holds the last valid key; tile 0 is one of `valid`."""
    if not 1 <= valid <= capacity:
        raise KernelError(f"the valid keys must be from 1 to the cache's {capacity}, not {valid}")
    width = tile or valid
    return tuple(range(start, min(start + width, capacity)) for start in range(0, valid, width))


def boundary_mask(last: range, valid: int, tl: Tl) -> TensorHandle | None:
    """What to add to the last tile's scores: 0 for valid keys, −∞ for the rest. None if all are."""
    if last.stop <= valid:
        return None
    return tl.where(tl.arange(last.start, last.stop) < valid, 0.0, -inf, name="mask")


def leading_columns(buffer: TensorHandle, width: int) -> TensorHandle:
    """The buffer, or its first columns where the last tile is narrower."""
    return buffer if buffer.shape[1] == width else buffer[:, :width]
