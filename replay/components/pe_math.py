"""PE_MATH: one vector unit for every op that is not a GEMM.

    op:  ceil(elements / vector_width) cycles, whatever the op does (DDD-0065 §5.3)

`elements` is the largest of the op's operands and output: a reduction reads all of its input.
"""

from fractions import Fraction
from math import ceil

from ...schemas.calibration import Calibration
from ...schemas.stages import Block, StageKind, Why
from ...schemas.timeline import DurationClass
from ..command_plan import NONE, CommandPlan, CommandShape, EngineSlot

MATH = EngineSlot(Block.PE_MATH, "", arbitrates=True)


def op_ns(calibration: Calibration, elements: int) -> Fraction:
    """Source: DDD-0065 §5.3 (op kinds are opaque to the engine)."""
    cycles = ceil(Fraction(elements) / Fraction(calibration.pe_math.vector_width))
    return cycles / Fraction(calibration.clock_ghz)


EQUATIONS = {"pe_math.op": op_ns}


def add_op(
    plan: CommandPlan, elements: int, after: tuple[int, ...], why: Why, *, op: int, tile: int = NONE
) -> int:
    """Adds one op over `elements` elements."""
    cost = DurationClass("pe_math.op", elements)
    return plan.add(StageKind.MATH, MATH, cost, after=after, why=why, op=op, tile=tile)


def whole_op_elements(shape: CommandShape, op_index: int) -> int:
    """The elements of an op that runs once over its whole operands."""
    return max(geometry.elements for geometry in shape.of_op(op_index))


def plan_math(plan: CommandPlan, shape: CommandShape, dispatch: int) -> None:
    """A math command: PE_CPU goes on when the op is done."""
    done = add_op(plan, whole_op_elements(shape, 0), (dispatch,), Why.DISPATCH, op=0)
    plan.finish = plan.resume = done
