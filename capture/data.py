"""Values, where capture computes them: each PE's TCM and the HBM images, and the ops run on them.

TCM is bytes that start as 0xFF, NaN in every float type; a handle is a numpy view of them. Values
are computed when a command is issued, a GEMM tile by tile in the order in which replay lowers it.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..schemas.commands import GEMM, CommandForm, OpForm, Scope
from ..schemas.footprints import footprint
from ..schemas.handles import Space
from ..schemas.tiling import TileStep, gemm_steps
from ..schemas.topology import Tile
from ..schemas.values import (
    NUMPY_DTYPES,
    Array,
    evaluate,
    round_to,
    tile_operand,
    tile_product,
)
from .handles import TensorHandle

UNWRITTEN = 0xFF
PAGE_BYTES = 4096


class DataStore:
    """The HBM images of a launch: uint8 arrays by (rank that sees it, tensor number).

    Ranks that see one tensor in one place share the array object.
    """

    def __init__(self, images: Mapping[tuple[int, int], Array]) -> None:
        self._seen_by: dict[int, dict[int, Array]] = {}
        for (rank, number), image in images.items():
            self._seen_by.setdefault(rank, {})[number] = image

    def of_pe(self, rank: int, tcm_bytes: int, tile: Tile) -> "PeData":
        """The values of one PE, its TCM unwritten."""
        return PeData(tcm_bytes, tile, self._seen_by, rank)


class PeData:
    """The memory of one PE and the tensors it sees, by number. `seen_by` has those of all PEs."""

    def __init__(
        self, tcm_bytes: int, tile: Tile, seen_by: Mapping[int, Mapping[int, Array]], rank: int
    ) -> None:
        self._tcm = np.empty(tcm_bytes, dtype=np.uint8)
        self._page_is_fresh = np.ones(-(-tcm_bytes // PAGE_BYTES), dtype=np.bool_)
        self._tile = tile
        self._seen_by = seen_by
        self._images = dict(seen_by.get(rank, {}))

    def see(self, number: int, rank: int, tensor: int) -> None:
        """From now on, tensor `number` is what the PE of that rank sees as `tensor`."""
        self._images[number] = self._seen_by[rank][tensor]

    def array(self, handle: TensorHandle) -> Array:
        """The handle's elements: a numpy view in its storage dtype."""
        if handle.array is None:
            geometry = handle.geometry
            if geometry.space is Space.TCM:
                memory = self._tcm
                self._reset_fresh_pages(handle.address, footprint(geometry, handle.address).stop)
            else:
                memory = self._images[handle.tensor]
            handle.array = np.ndarray(
                geometry.shape,
                NUMPY_DTYPES[geometry.dtype],
                buffer=memory.data,
                offset=handle.address,
                strides=geometry.strides,
            )
        return handle.array

    def _reset_fresh_pages(self, start: int, stop: int) -> None:
        """Fills pages that no handle has covered before, so that untouched TCM costs no memory."""
        pages = slice(start // PAGE_BYTES, -(-stop // PAGE_BYTES))
        if self._page_is_fresh[pages].any():
            for page in np.flatnonzero(self._page_is_fresh[pages]) + pages.start:
                self._tcm[page * PAGE_BYTES : (page + 1) * PAGE_BYTES] = UNWRITTEN
            self._page_is_fresh[pages] = False

    def copy(self, source: TensorHandle, target: TensorHandle) -> None:
        """A load or a store: the same elements, the same dtype."""
        self.array(target)[...] = self.array(source)

    def packed(self, source: TensorHandle) -> Array:
        """The elements as a message carries them: a contiguous copy."""
        return self.array(source).copy()

    def deliver(self, message: Array, target: TensorHandle) -> None:
        """A message's elements, in order, into the receiver's handle."""
        self.array(target)[...] = message.reshape(target.shape)

    def math(self, op: OpForm, operands: Sequence[TensorHandle], out: TensorHandle) -> None:
        """One op over whole handles, rounded to the output's dtype."""
        result = evaluate(op, [self.array(operand) for operand in operands])
        self.array(out)[...] = round_to(result, out.dtype)

    def run(self, form: CommandForm, handles: Sequence[TensorHandle]) -> None:
        """The ops of a dot or composite in order; `handles` fill the form's slots."""
        for index, op in enumerate(form.ops):
            slots = [handles[slot] for slot in form.op_slots[index]]
            if op.kind == GEMM:
                self._gemm(slots, list(self._tile_ops(form, handles, index)))
            elif op.scope is Scope.KERNEL:
                self.math(op, slots[:-1], slots[-1])

    def _tile_ops(
        self, form: CommandForm, handles: Sequence[TensorHandle], gemm: int
    ) -> Iterator[tuple[OpForm, list[Array]]]:
        """The ops of the tile loop with their operands beyond the source."""
        for op, slots in zip(form.ops[gemm + 1 :], form.op_slots[gemm + 1 :], strict=True):
            if op.scope is not Scope.KERNEL:
                others = [self.array(handles[slot]) for slot in slots[1 : len(op.operands)]]
                yield op, others

    def _gemm(
        self, slots: Sequence[TensorHandle], tile_ops: Sequence[tuple[OpForm, list[Array]]]
    ) -> None:
        a, b, out = (self.array(handle) for handle in slots)
        (m, k), n = a.shape, b.shape[1]
        sums = np.zeros((m, 0), dtype=np.float32)
        for step in gemm_steps(m, k, n, self._tile):
            rows, columns = slice(step.m_from, step.m_to), slice(step.n_from, step.n_to)
            if step.first_k and step.m_from == 0:
                sums = np.zeros((m, step.n_to - step.n_from), dtype=np.float32)
            product = tile_product(
                a[rows, step.k_from : step.k_to], b[step.k_from : step.k_to, columns]
            )
            product = _on_tile(Scope.K_TILE, tile_ops, product, (m, n), step)
            with np.errstate(all="ignore"):
                sums[rows] += product
            if step.last_k:
                tile = _on_tile(Scope.OUTPUT_TILE, tile_ops, sums[rows], (m, n), step)
                out[rows, columns] = round_to(tile, slots[2].dtype)


def _on_tile(
    scope: Scope,
    tile_ops: Sequence[tuple[OpForm, list[Array]]],
    tile: Array,
    shape: tuple[int, int],
    step: TileStep,
) -> Array:
    """The tile after the ops of one scope, in order, unrounded."""
    for op, others in tile_ops:
        if op.scope is scope:
            tile = evaluate(op, [tile, *(tile_operand(op, each, shape, step) for each in others)])
    return tile
