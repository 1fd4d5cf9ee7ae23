"""The values of one command's tile loop that lie in no memory: tile buffers and partial sums."""

from dataclasses import dataclass, field

import numpy as np

from ...schemas.tiling import TileStep
from ...schemas.values import Array, tile_product


@dataclass
class LoopValues:
    """`tiles` holds, by step, the f32 tile [m, n] between two stages of that step."""

    tiles: dict[int, Array] = field(default_factory=dict)
    _a: dict[int, Array] = field(default_factory=dict)
    _b: dict[tuple[int, int], Array] = field(default_factory=dict)
    _sums: dict[tuple[int, int], Array] = field(default_factory=dict)

    def keep(self, operand: str, step: TileStep, tile: Array) -> None:
        """Puts an operand's tile into its buffer: a's for this step, b's for all m."""
        if operand == "a":
            self._a[step.step] = tile
        else:
            self._b[step.n_from, step.k_from] = tile

    def multiply(self, step: TileStep) -> Array:
        """The step's product in f32; frees the buffers that it used last."""
        b_place = step.n_from, step.k_from
        product = tile_product(self._a.pop(step.step), self._b[b_place])
        if step.last_m:
            del self._b[b_place]
        return product

    def add(self, step: TileStep, tile: Array) -> Array:
        """The sum over k up to this step, f32; forgotten with the last."""
        place = step.n_from, step.m_from
        with np.errstate(all="ignore"):
            total: Array = self._sums.pop(place, np.float32(0)) + tile
        if not step.last_k:
            self._sums[place] = total
        return total
