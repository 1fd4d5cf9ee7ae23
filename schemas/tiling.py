"""The order in which a GEMM is cut into tiles: n, then k, then m. Capture computes values in this
order and replay lowers stages in it, so that both round alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from .topology import Tile


@dataclass(frozen=True, slots=True)
class TileStep:
    """One GEMM step. `step` counts from 0; the ranges are [from, to) in elements of the operands."""

    step: int
    n_from: int
    n_to: int
    k_from: int
    k_to: int
    m_from: int
    m_to: int
    first_k: bool
    last_k: bool
    first_m: bool
    last_m: bool

    @property
    def macs(self) -> int:
        """Multiply-accumulates: m · k · n of this tile."""
        m, k, n = self.m_to - self.m_from, self.k_to - self.k_from, self.n_to - self.n_from
        return m * k * n


def step_count(m: int, k: int, n: int, tile: Tile) -> int:
    """How many steps `gemm_steps` gives."""
    return -(-m // tile.m) * -(-k // tile.k) * -(-n // tile.n)


def gemm_steps(m: int, k: int, n: int, tile: Tile) -> Iterator[TileStep]:
    """The steps of an [m, k] × [k, n] product. The last tile of an axis may be ragged."""
    step = 0
    for n_from in range(0, n, tile.n):
        for k_from in range(0, k, tile.k):
            for m_from in range(0, m, tile.m):
                yield TileStep(
                    step,
                    n_from,
                    min(n_from + tile.n, n),
                    k_from,
                    min(k_from + tile.k, k),
                    m_from,
                    min(m_from + tile.m, m),
                    first_k=k_from == 0,
                    last_k=k_from + tile.k >= k,
                    first_m=m_from == 0,
                    last_m=m_from + tile.m >= m,
                )
                step += 1
