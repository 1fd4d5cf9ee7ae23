"""PE_SCHEDULER takes composites from PE_CPU, admits them under the policy and runs their ops.

    admit:   no time; released by the dispatch, the admission before it (unless the policy lets
             composites pass), the retirement of the composite `composites_in_flight` before it,
             and the finish of whatever the policy holds it for
    plan:    plan_cycles_per_op · ops cycles (0 by default; DDD-0065 §12)
    finish:  no time; every op is done and every write has arrived
    retire:  no time; in order

A composite runs its ops before the GEMM once each in order, then the tile loop, then its KERNEL ops
after the GEMM once each in order (DDD-0065 §7). Without a GEMM it is one run of ops.
"""

from fractions import Fraction

from ...schemas.calibration import Calibration
from ...schemas.commands import Scope
from ...schemas.stages import Block, StageKind, Why
from ...schemas.timeline import DurationClass
from ...schemas.topology import PeStructure, Topology
from ..command_plan import NO_TIME, CommandPlan, CommandShape, EngineSlot
from ..tile_loop import TileLoop
from .pe_dma import End
from .pe_math import add_op, whole_op_elements

SCHEDULER = EngineSlot(Block.PE_SCHEDULER, "", arbitrates=False)


def plan_ns(calibration: Calibration, ops: int) -> Fraction:
    """Source: DDD-0065 §12, open item on plan generation; an assumption of the calibration."""
    cycles = Fraction(calibration.pe_scheduler.plan_cycles_per_op) * ops
    return cycles / Fraction(calibration.clock_ghz)


EQUATIONS = {"pe_scheduler.plan": plan_ns}


def plan_composite(
    plan: CommandPlan, shape: CommandShape, dispatch: int, machine: Topology
) -> None:
    """Adds the stages of a composite. PE_CPU goes on as soon as it is dispatched."""
    plan.begin = plan.admit = plan.add(
        StageKind.ADMIT, SCHEDULER, after=(dispatch,), why=Why.DISPATCH
    )
    planning = DurationClass("pe_scheduler.plan", len(shape.form.ops))
    plan.plan = plan.add(StageKind.PLAN, SCHEDULER, planning, after=(plan.admit,))
    ends = _add_ops(plan, shape, plan.plan, machine.pe)
    plan.finish = plan.add(StageKind.FINISH, SCHEDULER)
    for stage, lag in ends:
        plan.release(plan.finish, stage, Why.DATA, lag=lag)
    plan.retire = plan.add(StageKind.RETIRE, SCHEDULER, after=(plan.finish,))


def _add_ops(plan: CommandPlan, shape: CommandShape, planned: int, pe: PeStructure) -> list[End]:
    gemm = shape.form.gemm_index
    if gemm is None:
        return _run_once(plan, shape, range(len(shape.form.ops)), [(planned, NO_TIME)])
    ((prologue_end, _),) = _run_once(plan, shape, range(gemm), [(planned, NO_TIME)])
    ends = TileLoop(plan, shape, gemm, pe, prologue_end).add()
    ops = shape.form.ops
    epilogue = [i for i in range(gemm + 1, len(ops)) if ops[i].scope is Scope.KERNEL]
    return _run_once(plan, shape, epilogue, ends)


def _run_once(
    plan: CommandPlan, shape: CommandShape, ops: range | list[int], ends: list[End]
) -> list[End]:
    """Runs the ops one after the other, the first after all of `ends`."""
    for op in ops:
        done = add_op(plan, whole_op_elements(shape, op), (), Why.DATA, op=op)
        for stage, lag in ends:
            plan.release(done, stage, Why.DATA, lag=lag)
        ends = [(done, NO_TIME)]
    return ends
