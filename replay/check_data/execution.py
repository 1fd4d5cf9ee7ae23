"""What every kind of stage does to values: what it reads at its start, what appears at its end.

    load        HBM_READ reads the source          DMA_READ   writes the target
    store       DMA_WRITE reads the source         HBM_WRITE  writes the target
    math op     MATH      reads its operands       MATH       writes the output
    tile loop   HBM_READ  reads a tile in HBM
                FETCH     reads the tiles in TCM   GEMM       multiplies and adds in f32
                MATH      reads its other operands MATH       gives the tile on
                the last stage of an output tile writes it: GEMM or MATH to TCM, HBM_WRITE to HBM
    message     SEND      reads its fragment       RECV       writes it

Other stages touch no value. When a stage starts and when its result appears is the caller's choice.
"""

from collections import defaultdict
from collections.abc import Callable

from ...schemas.stages import StageKind
from ...schemas.tiling import TileStep
from ...schemas.values import Array, evaluate, round_to, tile_operand
from .loop_values import LoopValues
from .memory import Memory, Pick, Region, everything
from .program import CommandAt, FragmentName, Program
from .witnesses import Witness


class Execution:
    """A program being executed on a memory. Each stage is started once, then ended once."""

    def __init__(self, program: Program, memory: Memory, witness: Witness) -> None:
        self.memory = memory
        self._program = program
        self._witness = witness
        self._transfers: dict[CommandAt, Array] = {}
        self._results: dict[int, Array] = {}
        self._loops: defaultdict[CommandAt, LoopValues] = defaultdict(LoopValues)
        self._fragments: dict[FragmentName, bytes] = {}
        self._at_start: dict[int, Callable[[int], None]] = {
            StageKind.HBM_READ: self._start_hbm_read,
            StageKind.FETCH: self._start_fetch,
            StageKind.MATH: self._start_math,
            StageKind.DMA_WRITE: self._start_dma_write,
            StageKind.SEND: self._start_send,
        }
        self._at_end: dict[int, Callable[[int], None]] = {
            StageKind.DMA_READ: self._end_dma_read,
            StageKind.GEMM: self._end_gemm,
            StageKind.MATH: self._end_math,
            StageKind.HBM_WRITE: self._end_hbm_write,
            StageKind.FINISH: self._end_finish,
            StageKind.RECV: self._end_recv,
        }

    def start(self, stage: int) -> None:
        """The stage reads."""
        action = self._at_start.get(self._program.kinds[stage])
        if action is not None:
            action(stage)

    def end(self, stage: int) -> None:
        """The stage's result appears."""
        action = self._at_end.get(self._program.kinds[stage])
        if action is not None:
            action(stage)

    def is_sent(self, fragment: FragmentName) -> bool:
        """Whether a fragment is on its way."""
        return fragment in self._fragments

    # -- loads and stores

    def _start_hbm_read(self, stage: int) -> None:
        if self._program.runs_once(stage):
            self._transfers[self._program.at(stage)] = self._read(stage, 0).copy()
        else:
            self._take_tile(stage, self._program.streamed_operand(stage))

    def _end_dma_read(self, stage: int) -> None:
        if self._program.runs_once(stage):
            self._write(stage, 1, self._transfers.pop(self._program.at(stage)))

    def _start_dma_write(self, stage: int) -> None:
        if self._program.runs_once(stage):
            self._transfers[self._program.at(stage)] = self._read(stage, 0).copy()

    def _end_finish(self, stage: int) -> None:
        self._loops.pop(self._program.at(stage), None)

    # -- math ops

    def _start_math(self, stage: int) -> None:
        form, index = self._program.form_of(stage), self._program.ops[stage]
        op, slots = form.ops[index], form.op_slots[index]
        if self._program.runs_once(stage):
            operands = [self._read(stage, slot) for slot in slots[: len(op.operands)]]
        else:
            step, shape = self._program.step(stage), self._program.loop(stage).shape

            def met(operand: Array) -> Array:
                return tile_operand(op, operand, shape, step)

            others = [self._read(stage, slot, met) for slot in slots[1 : len(op.operands)]]
            operands = [self._loop(stage).tiles.pop(step.step), *others]
        self._results[stage] = evaluate(op, operands)

    def _end_math(self, stage: int) -> None:
        result = self._results.pop(stage)
        if self._program.runs_once(stage):
            self._write(stage, self._out_slot(stage), result)
        else:
            self._hand_on(stage, result)

    # -- tile loops

    def _start_fetch(self, stage: int) -> None:
        for operand in self._program.fetched_operands(stage):
            self._take_tile(stage, operand)

    def _take_tile(self, stage: int, operand: str) -> None:
        step = self._program.step(stage)
        slot = self._program.loop(stage).slots[operand]
        tile = self._read(stage, slot, _part_of(operand, step)).copy()
        self._loop(stage).keep(operand, step, tile)

    def _end_gemm(self, stage: int) -> None:
        self._hand_on(stage, self._loop(stage).multiply(self._program.step(stage)))

    def _hand_on(self, stage: int, tile: Array) -> None:
        """Where the tile goes that an op of the loop has made."""
        op, form = self._program.ops[stage], self._program.loop(stage)
        step, loop = self._program.step(stage), self._loop(stage)
        if op == form.adds:
            tile = loop.add(step, tile)
            if not step.last_k:
                return
        if op == form.writes and not self._program.in_hbm(stage, self._out_slot(stage)):
            self._write(stage, self._out_slot(stage), tile, _part_of("out", step))
        else:
            loop.tiles[step.step] = tile

    def _end_hbm_write(self, stage: int) -> None:
        if self._program.runs_once(stage):
            self._write(stage, 1, self._transfers.pop(self._program.at(stage)))
            return
        step = self._program.step(stage)
        tile = self._loop(stage).tiles.pop(step.step)
        self._write(stage, self._out_slot(stage), tile, _part_of("out", step))

    def _loop(self, stage: int) -> LoopValues:
        return self._loops[self._program.at(stage)]

    # -- messages

    def _start_send(self, stage: int) -> None:
        region = self._fragment(stage)
        self._witness.reads(stage, 0, region)
        self._fragments[self._program.fragment_of[stage]] = self.memory.contents(region)

    def _end_recv(self, stage: int) -> None:
        region = self._fragment(stage)
        contents = self._fragments.pop(self._program.fragment_of[stage])
        self.memory.write_bytes(region, contents)
        self._witness.wrote(stage, region)

    def _fragment(self, stage: int) -> Region:
        first = self._program.tiles[stage] * self._program.fragment_bytes
        run = slice(first, first + self._program.fragment_bytes)
        return Region(self._program.pes[stage], self._program.handle(stage, 0), run=run)

    # -- memory

    def _out_slot(self, stage: int) -> int:
        return self._program.form_of(stage).op_slots[self._program.ops[stage]][-1]

    def _read(self, stage: int, slot: int, pick: Pick = everything) -> Array:
        region = Region(self._program.pes[stage], self._program.handle(stage, slot), pick)
        self._witness.reads(stage, slot, region)
        return self.memory.read(region)

    def _write(self, stage: int, slot: int, values: Array, pick: Pick = everything) -> None:
        region = Region(self._program.pes[stage], self._program.handle(stage, slot), pick)
        self.memory.write(region, round_to(values, region.handle.geometry.dtype))
        self._witness.wrote(stage, region)


def _part_of(operand: str, step: TileStep) -> Pick:
    """What a step uses of the GEMM's a [m, k], b [k, n] or out [m, n]."""
    m, k, n = (
        slice(step.m_from, step.m_to),
        slice(step.k_from, step.k_to),
        slice(step.n_from, step.n_to),
    )
    rows, columns = {"a": (m, k), "b": (k, n), "out": (m, n)}[operand]
    return lambda whole: whole[rows, columns]
