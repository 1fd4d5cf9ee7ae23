"""What the shipped kernels should compute, in plain numpy float64 and independent of how they do it."""

import numpy as np
import numpy.typing as npt

Float64s = npt.NDArray[np.float64]


def softmax(scores: Float64s) -> Float64s:
    """Softmax over the last axis."""
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights: Float64s = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights


def attention(
    queries: Float64s, keys_transposed: Float64s, values: Float64s, scale: float
) -> Float64s:
    """softmax(scale · Q·Kᵀ)·V of one KV head: Q [rows, d], K stored as [d, s_kv], V [s_kv, d]."""
    return softmax(scale * (queries @ keys_transposed)) @ values


def causal_attention(
    queries: Float64s, keys_transposed: Float64s, values: Float64s, scale: float, q_start: int
) -> Float64s:
    """As attention, where query i stands at position q_start + i and sees the keys up to there."""
    positions = q_start + np.arange(len(queries))
    keys = np.arange(len(values))
    scores = scale * (queries @ keys_transposed)
    return softmax(np.where(keys <= positions[:, None], scores, -np.inf)) @ values


def gated_feed_forward(x: Float64s, gate: Float64s, up: Float64s, down: Float64s) -> Float64s:
    """(silu(x·gate) ⊙ (x·up))·down: x [rows, d], gate and up [d, hidden], down [hidden, d]."""
    gates = x @ gate
    with np.errstate(over="ignore"):
        silu = gates / (1 + np.exp(-gates))
    result: Float64s = (silu * (x @ up)) @ down
    return result
