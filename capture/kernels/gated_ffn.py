"""A gated feed-forward block, the other half of a Llama layer: y = (silu(x·gate) ⊙ (x·up))·down.

The hidden dimension is swept in tiles, so nothing as wide as it is ever kept. A tile is three
composites, and PE_CPU waits for none of them but at the end:

    gate = x·gate[:, tile]    46 bytes    up = x·up[:, tile]    46 bytes    both in f32
    y += (silu(gate) ⊙ up)·down[tile]     158 bytes: the recipe gated_silu, GEMM and add

The activated tile has the storage dtype; y is summed up in f32 and rounded once.

    x, y   [rows, d], their rows split over the PEs    gate, up   [d, hidden]    down   [hidden, d]
"""

from math import sqrt

import numpy as np

from ...schemas.dtypes import DType
from ..runtime import Float64s, Runtime, Tensor
from ..tensors import HbmTensor
from ..tl import Tl
from .argument_checks import STORAGE, arguments_of, check_least, check_words
from .references import gated_feed_forward

F32 = DType.F32


def launch(
    rt: Runtime,
    rows: int = 8,
    d: int = 512,
    hidden: int = 1024,
    tile: int = 64,
    dtype: str = "bf16",
    slots: int = 2,
    p: int = 1,
) -> None:
    """A gated feed-forward block of `rows` tokens, on random inputs.

    rows    tokens
    d       model dimension
    hidden  hidden dimension
    tile    hidden columns a tile
    dtype   storage dtype: f16, bf16 or f32
    slots   scratch regions that tiles take in rotation
    p       PEs of a CUBE that share the rows; each reads all weights
    """
    with arguments_of("gated_ffn"):
        check_words(dtype=(dtype, STORAGE))
        check_least(1, rows=rows, d=d, hidden=hidden, tile=tile, slots=slots, p=p)
    by_rows = rt.split(axis=0, over="pe")
    x = rt.random((rows, d), dtype, placement=by_rows)
    gate, up = weights(rt, d, hidden, dtype), weights(rt, d, hidden, dtype)
    down = weights(rt, hidden, d, dtype)
    y = rt.empty((rows, d), dtype, placement=by_rows)
    rt.output(
        y, reference=lambda: gated_feed_forward(x.values, gate.values, up.values, down.values)
    )
    rt.launch(gated_ffn, (p, 1, 1), x, gate, up, down, y, tile, slots)


def weights(rt: Runtime, inputs: int, outputs: int, dtype: str) -> Tensor:
    """Random weights that leave a normal input's variance as it is."""

    def scaled(generator: np.random.Generator) -> Float64s:
        return generator.standard_normal((inputs, outputs)) / sqrt(inputs)

    return rt.tensor(scaled, (inputs, outputs), dtype)


def gated_ffn(
    x: HbmTensor,
    gate: HbmTensor,
    up: HbmTensor,
    down: HbmTensor,
    y: HbmTensor,
    tile: int,
    slots: int,
    *,
    tl: Tl,
) -> None:
    """One PE's rows, of which there may be none."""
    rows, d = x.shape
    if rows == 0:
        return
    tokens, total = tl.load(x), tl.zeros((rows, d), F32, name="y")
    hidden = gate.shape[1]
    for first in range(0, hidden, tile):
        columns = slice(first, min(first + tile, hidden))
        with tl.scratch_scope(slots=slots):
            gated = tl.composite(a=tokens, b=tl.ref(gate[:, columns]), out_dtype=F32, name="gate")
            upward = tl.composite(a=tokens, b=tl.ref(up[:, columns]), out_dtype=F32, name="up")
            tl.composite(
                prologue=[{"op": "gated_silu", "gate": gated, "up": upward}],
                b=tl.ref(down[columns]),
                out=total,
                epilogue=[{"op": "add", "other": total}],
            )
    tl.store(y, tl.cast(total, y.dtype))
