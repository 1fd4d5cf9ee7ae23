"""The online softmax's running state and the ways to fold one tile of scores into it.

Folding scores S [rows, columns] and values V [columns, d] (FlashAttention's recurrence, in f32):

    m' = max(m, max S)      P = exp(S − m')      c = exp(m − m')
    l  = l·c + ΣP           O = O·c + P·V        the result is O / l

P is rounded to V's dtype before it is summed and multiplied.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from ...schemas.dtypes import DType
from ..handles import TensorHandle
from ..tensors import HbmTensor
from ..tl import Tl

F32 = DType.F32

Product: TypeAlias = Callable[[TensorHandle, TensorHandle, Tl], TensorHandle]
"""P·V of a tile, in f32, of P [rows, columns] and V [columns, d]."""


@dataclass(slots=True)
class RunningSoftmax:
    """The state over all tiles so far, persistent in TCM: m and l [rows], O [rows, d], all f32.

    Where commands read the old m after the new one is known, two buffers take turns: the new m goes
    into `spare_max`, and `turn` exchanges them. The recipe keeps one in place.
    """

    row_max: TensorHandle
    row_sum: TensorHandle
    weighted: TensorHandle
    spare_max: TensorHandle | None = None

    def turn(self, new_max: TensorHandle) -> None:
        """The new maxima are the state's; their buffer was the spare one."""
        self.row_max, self.spare_max = new_max, self.row_max


def nothing_seen(rows: int, d: int, tl: Tl, *, double_buffered: bool) -> RunningSoftmax:
    """The state before the first tile: m = −∞, l = 0, O = 0."""
    return RunningSoftmax(
        row_max=tl.full((rows,), -inf, F32, name="m"),
        row_sum=tl.zeros((rows,), F32, name="l"),
        weighted=tl.zeros((rows, d), F32, name="O"),
        spare_max=tl.empty((rows,), F32, name="m") if double_buffered else None,
    )


def weighted_values(p: TensorHandle, v: TensorHandle, tl: Tl) -> TensorHandle:
    """P·V of one tile, in f32, as a composite."""
    return tl.composite(op="gemm", a=p, b=v, out_dtype=F32, name="PV")


def dotted_values(p: TensorHandle, v: TensorHandle, tl: Tl) -> TensorHandle:
    """The same as a dot, which PE_CPU waits for; V must be in TCM."""
    return tl.dot(p, v, dtype=F32, name="PV")


def fold_with_operators(
    state: RunningSoftmax,
    s: TensorHandle,
    v: TensorHandle,
    tl: Tl,
    product: Product = weighted_values,
) -> None:
    """Folds a tile in 12 commands, written as a formula would be; the last waits for P·V."""
    new_max = tl.maximum(state.row_max, tl.max(s), out=state.spare_max)
    p = tl.exp(s - new_max[:, None], dtype=v.dtype, name="P")
    corr = tl.exp(state.row_max - new_max)
    tl.add(state.row_sum * corr, tl.sum(p), out=state.row_sum)
    tl.add(state.weighted * corr[:, None], product(p, v, tl), out=state.weighted)
    state.turn(new_max)


def fold_with_fused_ops(state: RunningSoftmax, s: TensorHandle, v: TensorHandle, tl: Tl) -> None:
    """Folds a tile in 9 commands: exp_diff, fma and mul_bcast do two operators' work each."""
    new_max = tl.maximum(state.row_max, tl.max(s), out=state.spare_max)
    corr = tl.exp_diff(state.row_max, new_max)
    p = tl.exp_diff(s, new_max, bcast_axis=0, dtype=v.dtype, name="P")
    tl.fma(state.row_sum, corr, tl.sum(p), out=state.row_sum)
    tl.mul_bcast(state.weighted, corr, out=state.weighted)
    tl.add(state.weighted, weighted_values(p, v, tl), out=state.weighted)
    state.turn(new_max)


def fold_in_one_composite(state: RunningSoftmax, s: TensorHandle, v: TensorHandle, tl: Tl) -> None:
    """Folds a tile in one composite that PE_CPU does not wait for (DDD-0065 §5–6)."""
    tl.composite(
        op="gemm",
        b=v,
        out=state.weighted,
        prologue=[
            {
                "op": "softmax_merge",
                "s": s,
                "m": state.row_max,
                "l": state.row_sum,
                "O": state.weighted,
            }
        ],
        epilogue=[{"op": "add", "other": state.weighted}],
    )


def store_result(state: RunningSoftmax, target: HbmTensor, tl: Tl) -> None:
    """O / l, rounded once to the target's dtype."""
    result = tl.div(state.weighted, state.row_sum, bcast_axis=1, dtype=target.dtype, name="o")
    tl.store(target, result)
