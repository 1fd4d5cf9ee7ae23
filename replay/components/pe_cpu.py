"""PE_CPU issues commands in program order, one dispatch after the other.

    dispatch:  (fixed_cycles + cycles_per_byte · logical_bytes) / clock
    overhead:  the command's own cycles / clock, and nothing else

Dispatches are ordered by their releases (each waits for the one before), so PE_CPU is a lane and
not a queue. A blocking command's finish, not its dispatch, releases the next dispatch.
"""

from fractions import Fraction

from ...schemas.calibration import Calibration
from ...schemas.commands import CommandKind
from ...schemas.stages import Block, StageKind
from ...schemas.timeline import DurationClass
from ..command_plan import CommandPlan, CommandShape, EngineSlot

CPU = EngineSlot(Block.PE_CPU, "", arbitrates=False)


def dispatch_ns(calibration: Calibration, logical_bytes: int) -> Fraction:
    """Source: ADR-0064 revision 2 as DDD-0065 §11 gives it. Not rounded to whole cycles."""
    cost = calibration.pe_cpu
    cycles = Fraction(cost.fixed_cycles) + Fraction(cost.cycles_per_byte) * logical_bytes
    return cycles / Fraction(calibration.clock_ghz)


def overhead_ns(calibration: Calibration, cycles: int) -> Fraction:
    """An overhead command names its cycles itself (DDD-0065 §3.2: it bypasses the byte formula)."""
    return cycles / Fraction(calibration.clock_ghz)


EQUATIONS = {"pe_cpu.dispatch": dispatch_ns, "pe_cpu.overhead": overhead_ns}


def add_dispatch(plan: CommandPlan, shape: CommandShape) -> int:
    """The first stage of every command."""
    if shape.form.kind is CommandKind.OVERHEAD:
        cost = DurationClass("pe_cpu.overhead", shape.form.ops[0].integer("cycles"))
    else:
        cost = DurationClass("pe_cpu.dispatch", shape.form.logical_bytes)
    return plan.add(StageKind.DISPATCH, CPU, cost)


def plan_nothing_more(plan: CommandPlan, dispatch: int) -> None:
    """Wait and overhead: done when dispatched (a wait's dispatch is released by what it waits for)."""
    plan.begin = plan.finish = plan.resume = dispatch
