"""The tile loop of a GEMM, as PE_SCHEDULER runs it for a composite and PE_CPU for a dot.

Per step (n, then k, then m; schemas.tiling): the operand tiles that lie in HBM are read, the step's
operands are fetched from TCM, the engine multiplies. After the last k of an output tile its
OUTPUT_TILE ops run, and the tile is written if its home is HBM.

Buffers: each operand stream owns `tile_buffers`. The read of B tile t waits for the last step that
uses B tile t − tile_buffers; a B tile stays for all m, so it is read once however many rows there
are. An A tile in HBM is read once per n. A fetch waits for the step `tile_buffers` before it.
"""

from dataclasses import dataclass, field

from ..schemas.commands import Scope
from ..schemas.errors import KerntapeError
from ..schemas.handles import Geometry, Space
from ..schemas.stages import StageKind, Why
from ..schemas.tiling import TileStep, gemm_steps, step_count
from ..schemas.timeline import DurationClass
from ..schemas.topology import PeStructure, Topology
from .command_plan import NO_TIME, CommandPlan, CommandShape
from .components.pe_cpu import CPU
from .components.pe_dma import End, add_read, add_write, request_lag
from .components.pe_gemm import GEMM
from .components.pe_math import add_op
from .components.pe_tcm import TCM

MAX_STEPS = 1 << 20
"""Of one command: a 4096 × 4096 × 4096 product in the default tile."""


@dataclass
class TileLoop:
    """Adds the loop of op `gemm` to `plan`; `after` is the stage that everything in it follows."""

    plan: CommandPlan
    shape: CommandShape
    gemm: int
    pe: PeStructure
    after: int
    ends: list[End] = field(default_factory=list)
    _multiplied: list[int] = field(default_factory=list)
    _b_arrival: int | None = None
    _b_released: list[int] = field(default_factory=list)
    _carried: dict[int, int] = field(default_factory=dict)

    def add(self) -> list[End]:
        """Adds every step; returns the ends of all output tiles.

        Raises KerntapeError where the product has more steps than one command can be planned in.
        """
        op = self.shape.form.ops[self.gemm]
        m, k, n = op.integer("m"), op.integer("k"), op.integer("n")
        steps = step_count(m, k, n, self.pe.tile)
        if steps > MAX_STEPS:
            raise KerntapeError(
                f"a product of [{m}, {k}] × [{k}, {n}] is {steps:,} tile steps; one command must have"
                f" at most {MAX_STEPS:,}: cut it into several, or choose a larger tile"
            )
        for step in gemm_steps(m, k, n, self.pe.tile):
            self._add_step(step)
        return self.ends

    def _add_step(self, step: TileStep) -> None:
        fetched = self._fetch(step, self._operand_arrivals(step))
        multiplied = self.plan.add(
            StageKind.GEMM,
            GEMM,
            DurationClass("pe_gemm.step", step.macs),
            after=(fetched,),
            op=self.gemm,
            tile=step.step,
        )
        if not step.first_k:
            self.plan.release(multiplied, self._carried[step.m_from], Why.DATA)
        self._multiplied.append(multiplied)
        if step.last_m:
            self._b_released.append(multiplied)
        carried = self._tile_ops(step, multiplied, Scope.K_TILE)
        self._carried[step.m_from] = carried
        if step.last_k:
            self._end_output_tile(step, self._tile_ops(step, carried, Scope.OUTPUT_TILE))

    def _operand_arrivals(self, step: TileStep) -> list[int]:
        """The reads whose data this step needs."""
        arrivals = []
        if self._in_hbm("b"):
            if step.first_m:
                b_tiles_before = self._b_released[-self.pe.tile_buffers :]
                full = len(b_tiles_before) == self.pe.tile_buffers
                self._b_arrival = self._read("b", step, b_tiles_before[0] if full else None)
            if self._b_arrival is not None:
                arrivals.append(self._b_arrival)
        if self._in_hbm("a"):
            arrivals.append(self._read("a", step, self._buffer_holder()))
        return arrivals

    def _read(self, operand: str, step: TileStep, holder: int | None) -> int:
        size_bytes = _tile_bytes(self._geometry(operand), operand, step)
        way = self.shape.way_to_operand(self.gemm, operand)
        channel, arrival = add_read(self.plan, size_bytes, way, op=self.gemm, tile=step.step)
        self._release_first(channel, holder, request_lag(way))
        return arrival

    def _fetch(self, step: TileStep, arrivals: list[int]) -> int:
        size_bytes = _tile_bytes(self._geometry("a"), "a", step)
        if step.first_m:
            size_bytes += _tile_bytes(self._geometry("b"), "b", step)
        fetch = self.plan.add(
            StageKind.FETCH,
            TCM,
            DurationClass("pe_tcm.fetch", size_bytes),
            after=arrivals,
            op=self.gemm,
            tile=step.step,
        )
        holder = self._buffer_holder()
        if holder is not None or not arrivals:
            self._release_first(fetch, holder)
        return fetch

    def _release_first(self, stage: int, holder: int | None, lag: DurationClass = NO_TIME) -> None:
        """By the step that holds the buffer; before any does, by what the loop follows."""
        if holder is not None:
            self.plan.release(stage, holder, Why.BUFFER, lag=lag)
        else:
            self.plan.release(stage, self.after, self.plan.after_dispatch(self.after), lag=lag)

    def _buffer_holder(self) -> int | None:
        """The step that used the buffer before, `tile_buffers` steps ago."""
        buffers = self.pe.tile_buffers
        return self._multiplied[-buffers] if len(self._multiplied) >= buffers else None

    def _tile_ops(self, step: TileStep, after: int, scope: Scope) -> int:
        elements = (step.m_to - step.m_from) * (step.n_to - step.n_from)
        for op_index, op in enumerate(self.shape.form.ops[self.gemm + 1 :], start=self.gemm + 1):
            if op.scope is scope:
                after = add_op(self.plan, elements, (after,), Why.DATA, op=op_index, tile=step.step)
        return after

    def _end_output_tile(self, step: TileStep, computed: int) -> None:
        op_index = self.plan.stages[computed].op
        out = self.shape.out(op_index)
        if out is None or out.space is Space.TCM:
            self.ends.append((computed, NO_TIME))
            return
        size_bytes = (step.m_to - step.m_from) * (step.n_to - step.n_from) * out.dtype.size_bytes
        way = self.shape.way_to_out(op_index)
        self.ends.append(
            add_write(
                self.plan, size_bytes, way, (computed,), Why.DATA, op=op_index, tile=step.step
            )
        )

    def _geometry(self, operand: str) -> Geometry:
        return self.shape.operand(self.gemm, operand)

    def _in_hbm(self, operand: str) -> bool:
        return self._geometry(operand).space is Space.HBM


def _tile_bytes(geometry: Geometry, operand: str, step: TileStep) -> int:
    """Bytes of the step's tile of operand a ([m, k]) or b ([k, n])."""
    k = step.k_to - step.k_from
    across = step.m_to - step.m_from if operand == "a" else step.n_to - step.n_from
    return k * across * geometry.dtype.size_bytes


def plan_dot(plan: CommandPlan, shape: CommandShape, dispatch: int, machine: Topology) -> None:
    """A dot: the tile loop over TCM operands, PE_CPU waiting until the last tile is done."""
    ends = TileLoop(plan, shape, 0, machine.pe, dispatch).add()
    finish = plan.add(StageKind.FINISH, CPU, after=(stage for stage, _ in ends))
    plan.finish = plan.resume = finish
