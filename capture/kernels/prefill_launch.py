"""The host's side of gqa_prefill: its CUBE groups, its tensors, and what should come out."""

from dataclasses import dataclass, replace

import numpy as np

from ...schemas.errors import ConfigError
from ...schemas.topology import Topology
from ..runtime import Float64s, Runtime, Tensor
from .groups import HeadGroups, head_groups
from .prefill_shares import PrefillShares
from .references import causal_attention
from .ring import ring_shape


def prefill_groups(
    topology: Topology, heads: int, cubes: int, pes: int, group: int, sips: int
) -> HeadGroups:
    """One group of cubes × pes for each KV head, with a ring, on the first `sips` SIPs.

    Raises ConfigError where there is none.
    """
    if cubes not in (1, group):
        raise ConfigError(f"c must be 1 or g, which is {group}, not {cubes}")
    shape = ring_shape(topology.cubes, cubes)
    return replace(head_groups(topology, heads, cubes, pes, sips), shape=shape)


@dataclass(frozen=True, slots=True)
class Problem:
    """A prefill's sizes and the factor of its scores."""

    shares: PrefillShares
    d: int
    dtype: str
    scale: float

    def tensors(self, rt: Runtime, suffix: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """q, k, v and o, random and empty, on the PEs that need them."""
        shares, dtype = self.shares, self.dtype
        queries, heads = len(shares.queries), shares.groups.heads
        rows, width = (queries, heads * shares.group * self.d), heads * self.d
        q = rt.random(rows, dtype, name=f"q{suffix}", placement=shares.q_placement)
        k = rt.random((width, shares.s_kv), dtype, name=f"k{suffix}", placement=shares.k_placement)
        v = rt.random((shares.s_kv, width), dtype, name=f"v{suffix}", placement=shares.v_placement)
        o = rt.empty(rows, dtype, name=f"o{suffix}", placement=shares.o_placement)
        rt.output(o, reference=lambda: self._attention(q.values, k.values, v.values))
        return q, k, v, o

    def _attention(self, q: Float64s, k: Float64s, v: Float64s) -> Float64s:
        """What o should be: query head by query head, side by side."""
        results = []
        for number, queries in enumerate(np.split(q, q.shape[1] // self.d, axis=1)):
            first = number // self.shares.group * self.d
            own = slice(first, first + self.d)
            start = self.shares.queries.start
            results.append(causal_attention(queries, k[own], v[:, own], self.scale, start))
        return np.concatenate(results, axis=1)
