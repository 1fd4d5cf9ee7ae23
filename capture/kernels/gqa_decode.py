"""Decode of grouped-query attention without sequence parallelism: one PE owns a KV head's cache.

One query token attends to all valid keys. The G query heads that share the KV head are the M rows of
both GEMMs, so that a tile of K and V is read once for all of them (ADR-0060 §5.2). m, l and O are
f32 and persist, the scores are f32, P has the storage dtype, and O is divided by l once, at the end.

Three variants of a tile (ADR-0060 TL;DR and §5.6, DDD-0065 §6). Both GEMMs are composites in each:

    opt1   13 commands   operators; the next tile's Q·Kᵀ is issued when this tile is done
    opt2    2 commands   the softmax is a recipe in the second composite; PE_CPU waits for nothing
    opt3   10 commands   the next tile's Q·Kᵀ is issued before this tile's softmax

K is stored transposed, [d, capacity], V is [capacity, d]. The last tile may be ragged: it ends where
the cache ends, and where the cache goes on after the last valid key, −∞ is added to the scores from
there on. What lies there must be finite numbers: −∞ does not hide a NaN.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt

from ...schemas.dtypes import DType
from ...schemas.errors import ConfigError, KernelError, did_you_mean
from ..handles import TensorHandle
from ..runtime import Runtime
from ..tensors import HbmTensor
from ..tl import Tl
from .references import attention
from .softmax import (
    RunningSoftmax,
    fold_in_one_composite,
    fold_with_fused_ops,
    fold_with_operators,
    nothing_seen,
    store_result,
)

F32 = DType.F32
STORAGE = ("f16", "bf16", "f32")


def launch(
    rt: Runtime,
    variant: str = "opt2",
    g: int = 8,
    d: int = 128,
    s_kv: int = 4096,
    tile: int = 64,
    dtype: str = "bf16",
    slots: int = 2,
    scale: float = 0.0,
) -> None:
    """Attention of one query token over one KV head, on random inputs.

    variant  opt1, opt2 or opt3
    g        query heads that share the KV head
    d        head dimension
    s_kv     keys to attend to; the cache is whole tiles, its rest is masked
    tile     keys a tile; 0 for all at once
    dtype    storage dtype: f16, bf16 or f32
    slots    scratch regions that tiles take in rotation
    scale    factor of the scores; 0 for 1/√d
    """
    _check(variant=variant, g=g, d=d, s_kv=s_kv, tile=tile, dtype=dtype, slots=slots)
    capacity = -(-s_kv // tile) * tile if tile else s_kv
    factor = scale or 1 / sqrt(d)
    q = rt.random((g, d), dtype)
    k = rt.random((d, capacity), dtype)
    v = rt.random((capacity, d), dtype)
    o = rt.output(
        rt.empty((g, d), dtype),
        reference=lambda: attention(q.values, k.values[:, :s_kv], v.values[:s_kv], factor),
    )
    rt.launch(gqa_decode, (1, 1, 1), q, k, v, o, s_kv, variant, tile, slots, factor)


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
    """o [g, d] = softmax(scale · q·k)·v over the first `valid` keys. q [g, d], k [d, capacity]."""
    g, d = q.shape
    tiles = kv_tiles(valid, k.shape[1], tile)
    sweep = Sweep(tl.load(q), k, v, tiles, boundary_mask(tiles[-1], valid, tl), scale, slots)
    state = nothing_seen(g, d, tl, double_buffered=variant != "opt2")
    VARIANTS[variant](sweep, state, tl)
    store_result(state, o, tl)


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


def _check(**arguments: int | str) -> None:
    """Raises ConfigError for the first argument that is not what it must be."""
    for name, known in (("variant", tuple(VARIANTS)), ("dtype", STORAGE)):
        word = str(arguments[name])
        if word not in known:
            raise ConfigError(f"gqa_decode: no {name} '{word}'{did_you_mean(word, known)}")
    for name, least in (("g", 1), ("d", 1), ("s_kv", 1), ("tile", 0), ("slots", 1)):
        number = int(arguments[name])
        if number < least:
            raise ConfigError(f"gqa_decode: {name} must be at least {least}, not {number}")
