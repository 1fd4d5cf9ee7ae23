"""The host's side of gqa_decode: a request's tensors, and what each PE has to do for it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...schemas.topology import Place
from ..placement import REPLICATED
from ..runtime import Float64s, Runtime, Tensor
from .groups import Member
from .kv_cache import KvCache
from .reduction_plan import Reduction, Step
from .references import attention


@dataclass(frozen=True, slots=True)
class Share:
    """One PE's part of a request: its valid keys, and its steps of the reduction."""

    valid: int
    steps: tuple[Step, ...]


def shares(cache: KvCache, reduction: Reduction, counter: int) -> dict[Place, Share]:
    """The share of every PE that takes part, where the cache holds `counter` tokens."""
    seats = cache.groups.seats()
    lengths = {seat.member: cache.valid(seat, counter) for seat in seats.values()}
    steps = reduction.steps({member: length > 0 for member, length in lengths.items()})
    return {place: Share(lengths[seat.member], steps[seat.member]) for place, seat in seats.items()}


def elements(cache: KvCache, g: int, d: int) -> Iterator[int]:
    """How many elements of a request's q, k, v and o each rank of a group holds; o is at one alone."""
    for _ in range(cache.groups.ranks):
        yield from (g * d, d * cache.block, d * cache.block)
    yield g * d


@dataclass(frozen=True, slots=True)
class Request:
    """A request's sizes: `g` query heads a KV head, dimension d, `counter` tokens in its cache."""

    cache: KvCache
    g: int
    d: int
    counter: int
    dtype: str
    scale: float

    def tensors(self, rt: Runtime, root: Member, suffix: str) -> tuple[Tensor, ...]:
        """q, k, v and o, random and empty, on the PEs that need them; o at each group's root only."""
        groups, capacity = self.cache.groups, self.cache.capacity
        rows, width = groups.heads * self.g, groups.heads * self.d
        by_head = REPLICATED.split(0, groups.by_head())
        at_root = REPLICATED.split(0, groups.by_head_at(root))
        k_placement, v_placement = self.cache.k_placement, self.cache.v_placement
        q = rt.random((rows, self.d), self.dtype, name=f"q{suffix}", placement=by_head)
        k = rt.random((width, capacity), self.dtype, name=f"k{suffix}", placement=k_placement)
        v = rt.random((capacity, width), self.dtype, name=f"v{suffix}", placement=v_placement)
        o = rt.empty((rows, self.d), self.dtype, name=f"o{suffix}", placement=at_root)
        rt.output(o, reference=lambda: self._attention(q.values, k.values, v.values))
        return q, k, v, o

    def _attention(self, q: Float64s, k: Float64s, v: Float64s) -> Float64s:
        """What o should be: each head's attention over the first tokens."""
        heads = [
            attention(
                q[head * self.g : (head + 1) * self.g],
                k[head * self.d : (head + 1) * self.d, : self.counter],
                v[: self.counter, head * self.d : (head + 1) * self.d],
                self.scale,
            )
            for head in range(self.cache.groups.heads)
        ]
        return np.concatenate(heads)
