"""A user's own decode in one page, with and without what makes it short in memory and in time."""

from contextlib import nullcontext
from math import inf

from kerntape.capture.kernels.references import attention

G, D, TILE, SCALE = 8, 128, 64, 0.0625


def launch(rt, s_kv=4096, scoped=True, ahead=True):
    """Eight heads over s_kv keys, a whole number of tiles.

    scoped  with tl.scratch_scope around a tile
    ahead   wait for the composites at the end, and not after each tile
    """
    q, k = rt.random((G, D), "bf16"), rt.random((D, s_kv), "bf16")
    v, o = rt.random((s_kv, D), "bf16"), rt.empty((G, D), "bf16")
    rt.output(o, reference=lambda: attention(q.values, k.values, v.values, SCALE))
    rt.launch(decode, (1, 1, 1), q, k, v, o, scoped, ahead)


def decode(q, k, v, o, scoped, ahead, *, tl):
    """Two composites a tile (DDD-0065 §6)."""
    queries = tl.load(q)
    m, l = tl.full((G,), -inf, name="m"), tl.zeros((G,), name="l")  # noqa: E741 - the state's names
    acc = tl.zeros((G, D), name="O")
    for first in range(0, v.shape[0], TILE):
        past = first + TILE
        with tl.scratch_scope(slots=2) if scoped else nullcontext():
            s = tl.composite(  # scores
                op="gemm",
                a=queries,
                b=tl.ref(k[:, first:past]),
                out_dtype="f32",
                epilogue=[{"op": "scale", "factor": SCALE}],
                name="S",
            )
            tl.composite(
                op="gemm",
                b=tl.ref(v[first:past]),
                out=acc,
                prologue=[{"op": "softmax_merge", "s": s, "m": m, "l": l, "O": acc}],
                epilogue=[{"op": "add", "other": acc}],
            )
        if not ahead:
            tl.wait()
    tl.wait()
    tl.store(o, tl.div(acc, l, bcast_axis=1, dtype=o.dtype, name="o"))
