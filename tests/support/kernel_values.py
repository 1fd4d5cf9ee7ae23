"""What a shipped kernel began with and left behind, value by value, and what attention should be.

The oracle shares no code with the kernels: one query row at a time, in numpy's longest float, from
nothing but the tensors that the kernel was given.
"""

from dataclasses import dataclass
from unittest.mock import patch

import kerntape.capture.capture as capture_module
import numpy as np
from kerntape.capture.hbm_layout import Images, PeTensors, slices
from kerntape.capture.outputs import OutputReport, report
from kerntape.capture.runtime import Output, Runtime
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Trace
from kerntape.schemas.values import NUMPY_DTYPES, Array

TOLERANCES = {"f16": 2e-3, "bf16": 2e-2, "f32": 2e-6}
"""Of the largest result: a rounding of P and one of the result, f32 sums in between."""


@dataclass(frozen=True)
class Computed:
    """A capture with data. `inputs` are whole tensors by name, in float64.

    `copies[name]` has an output's parts, one for each PE that holds any: (rank, where, values).
    """

    trace: Trace
    inputs: dict[str, Array]
    copies: dict[str, list[tuple[int, tuple[slice, ...], Array]]]

    def check(self, name: str, expected: Array) -> None:
        """Every copy of every element is as expected, and there is one of each at least."""
        dtype = next(t.dtype for t in self.trace.header.tensors if t.name == name)
        held = np.zeros(expected.shape, int)
        for rank, where, found in self.copies[name]:
            held[where] += 1
            error = np.abs(found - expected[where]).max()
            assert error <= TOLERANCES[dtype] * np.abs(expected).max(), (name, rank, error)
        assert held.min() > 0, f"nobody has all of {name}"


def computed(
    kernel: str, topology: Topology, *, device: str | None = None, **arguments: object
) -> Computed:
    """Captures the kernel on random inputs of a fixed seed."""
    runtimes: list[Runtime] = []
    seen: dict[str, list[tuple[int, tuple[slice, ...], Array]]] = {}

    class Watched(Runtime):
        def __init__(self, *given: object, **named: object) -> None:
            super().__init__(*given, **named)
            runtimes.append(self)

    def watched(output: Output, pes: tuple[PeTensors, ...], images: Images) -> OutputReport:
        tensor = output.tensor
        found = seen.setdefault(str(tensor.name), [])
        for pe in pes:
            part = pe.parts[tensor.number]
            shape = [len(indexes) for indexes in part]
            if pe.owners[tensor.number] == pe.rank and all(shape):
                stored = images[pe.rank, tensor.number].view(NUMPY_DTYPES[tensor.dtype])
                found.append((pe.rank, slices(part), stored.reshape(shape).astype(np.float64)))
        return report(output, pes, images)

    texts = {name: str(value) for name, value in arguments.items()}
    with (
        patch.object(capture_module, "Runtime", Watched),
        patch.object(capture_module, "report", watched),
    ):
        result = capture_module.capture(kernel, topology, texts, device=device, seed=7)
    assert all(output.is_right for output in result.outputs.values())
    inputs = {
        str(tensor.name): tensor.values
        for tensor in runtimes[0].tensors
        if str(tensor.name) not in seen
    }
    return Computed(result.trace, inputs, seen)


def one_row(q: Array, keys: Array, values: Array, scale: float) -> Array:
    """Attention of one query [d] over keys [n, d] and values [n, d]."""
    scores = [scale * np.dot(q.astype(np.longdouble), key) for key in keys.astype(np.longdouble)]
    weights = np.exp(np.array(scores) - max(scores))
    return (weights / weights.sum()) @ values.astype(np.longdouble)


def decode_oracle(q: Array, k: Array, v: Array, kv_heads: int, scale: float) -> Array:
    """q [heads·g, d], k [heads·d, n] (stored transposed), v [n, heads·d]: a row for each query head."""
    rows, d = q.shape
    of_kv = [row // (rows // kv_heads) * d for row in range(rows)]
    return np.array(
        [
            one_row(q[row], k[at : at + d].T, v[:, at : at + d], scale)
            for row, at in enumerate(of_kv)
        ]
    )


def prefill_oracle(
    q: Array, k: Array, v: Array, kv_heads: int, scale: float, start: int | None
) -> Array:
    """q [t_q, heads·g·d]; the query at place i sees the keys 0 … start + i, all where start is None."""
    d = len(k) // kv_heads
    query_heads = q.shape[1] // d
    result = np.zeros(q.shape)
    for head in range(query_heads):
        at = head // (query_heads // kv_heads) * d
        own = slice(head * d, (head + 1) * d)
        for i in range(len(q)):
            seen = len(v) if start is None else start + i + 1
            keys, values = k[at : at + d, :seen].T, v[:seen, at : at + d]
            result[i, own] = one_row(q[i, own], keys, values, scale)
    return result


def of_one_copy(k: Array, v: Array, kv_heads: int, g: int) -> tuple[Array, Array]:
    """K [heads·d, n] and V [n, heads·d] of a cache that has a copy for each of g query heads.

    Asserts that the copies are alike.
    """
    d = len(k) // (kv_heads * g)
    by_head = k.reshape(kv_heads, g, d, -1)
    values = v.reshape(len(v), kv_heads, g, d)
    assert (by_head == by_head[:, :1]).all()
    assert (values == values[:, :, :1]).all()
    return by_head[:, 0].reshape(kv_heads * d, -1), values[:, :, 0].reshape(len(v), -1)
