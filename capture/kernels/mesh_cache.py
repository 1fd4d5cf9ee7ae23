"""The KV cache of the two baselines: a copy of each KV head's keys and values for each query head.

They know no query heads that share a KV head (ADR-0060 §A). So K and V are written, read, kept and
sent once for each, side by side: what a GQA kernel saves is the factor g.

    k    [heads·g·d, s_kv]    rank: [g·d, its tokens]      stored transposed
    v    [s_kv, heads·g·d]    rank: [its tokens, g·d]

Rank r of R has tokens [r·B, (r+1)·B), B = ⌈s_kv / R⌉.
"""

from dataclasses import dataclass

import numpy as np

from ..placement import REPLICATED, contiguous_block
from ..runtime import Float64s, Runtime, Tensor
from .groups import HeadGroups, Member


@dataclass(frozen=True, slots=True)
class MeshCache:
    """Its sizes: `g` query heads a KV head, dimension d, `s_kv` tokens."""

    groups: HeadGroups
    g: int
    d: int
    s_kv: int
    dtype: str

    def tokens_of(self, member: Member) -> range:
        """The positions of a rank's tokens."""
        cube, pe = member
        return contiguous_block(self.s_kv, self.groups.ranks, cube * self.groups.pes + pe)

    def tensors(self, rt: Runtime) -> tuple[Tensor, Tensor]:
        """k and v, random, alike for the query heads of a KV head."""
        by_head, by_rank = self.groups.by_head(), self.groups.by_rank(0, 0)
        heads, g, d, tokens = self.groups.heads, self.g, self.d, self.s_kv

        def keys(generator: np.random.Generator) -> Float64s:
            of_kv_heads = generator.standard_normal((heads, 1, d, tokens))
            return np.repeat(of_kv_heads, g, axis=1).reshape(heads * g * d, tokens)

        def values(generator: np.random.Generator) -> Float64s:
            of_kv_heads = generator.standard_normal((tokens, heads, 1, d))
            return np.repeat(of_kv_heads, g, axis=2).reshape(tokens, heads * g * d)

        width = heads * g * d
        split_k = REPLICATED.split(0, by_head).split(1, by_rank)
        split_v = REPLICATED.split(0, by_rank).split(1, by_head)
        k = rt.tensor(keys, (width, tokens), self.dtype, name="k", placement=split_k)
        v = rt.tensor(values, (tokens, width), self.dtype, name="v", placement=split_v)
        return k, v

    def of_kv_head(self, head: int, k: Float64s, v: Float64s) -> tuple[Float64s, Float64s]:
        """A KV head's K [d, s_kv] and V [s_kv, d]."""
        first = head * self.g * self.d
        columns = slice(first, first + self.d)
        return k[columns], v[:, columns]
