"""Structures that were checked once: what all PEs of a launch share, so that a loop costs its rows only.

A plan is found by what decides it: the op or composite, its scalars as they print, and the
geometries of its handles. Which bytes the handles lie on never matters.
"""

from collections.abc import Hashable
from dataclasses import dataclass

from ..schemas.commands import CommandForm, CommandKind, OpForm
from ..schemas.dtypes import DType
from ..schemas.errors import KernelError
from ..schemas.handles import Space
from ..schemas.op_table import find_op
from .arguments import as_number
from .composite import CompositePlan, plan_composite
from .composite_call import CompositeCall, structure_key
from .handles import Operand, TensorHandle
from .interning import InternedGeometry, InternPool
from .math_plan import ScalarItems, math_result
from .scratch_layout import ScratchLayout, lay_out
from .verb_names import as_written
from .workspace import Bindings


@dataclass(frozen=True, slots=True)
class MathPlan:
    """A math command's form, its one op, and the geometry of an output to allocate."""

    form: CommandForm
    op: OpForm
    out: InternedGeometry


@dataclass(frozen=True, slots=True)
class ReadyPlan:
    """A composite's plan, and what it allocates, laid out."""

    plan: CompositePlan
    scratch: ScratchLayout


class Plans:
    """The plans of a launch. `cap_bytes` is the most that a composite's descriptor may have."""

    def __init__(self, pool: InternPool, cap_bytes: int) -> None:
        self._pool = pool
        self._cap_bytes = cap_bytes
        self._math: dict[Hashable, MathPlan] = {}
        self._composites: dict[Hashable, ReadyPlan] = {}

    def math(
        self,
        kind: str,
        operands: tuple[Operand, ...],
        scalars: ScalarItems,
        out: TensorHandle | None,
        dtype: DType | None,
    ) -> MathPlan:
        """The plan of a math command; see math_plan.math_result. Raises KernelError naming the verb."""
        decisive = [
            operand.geometry_number if isinstance(operand, TensorHandle) else repr(operand)
            for operand in operands
        ]
        into = None if out is None else out.geometry_number
        key = (kind, *decisive, repr(scalars) if scalars else "", into, dtype)
        plan = self._math.get(key)
        if plan is None:
            try:
                plan = self._math[key] = self._plan_math(kind, operands, scalars, out, dtype)
            except KernelError as error:
                raise as_written(error, kind) from None
        return plan

    def _plan_math(
        self,
        kind: str,
        operands: tuple[Operand, ...],
        scalars: ScalarItems,
        out: TensorHandle | None,
        dtype: DType | None,
    ) -> MathPlan:
        given = [
            operand.geometry
            if isinstance(operand, TensorHandle)
            else as_number(operand, f"{kind}: {name}", or_handle=True)
            for name, operand in zip(find_op(kind).operands, operands, strict=True)
        ]
        result = math_result(kind, given, scalars, None if out is None else out.geometry, dtype)
        form = CommandForm(CommandKind.MATH, (result.op,))
        return MathPlan(form, result.op, self._pool.dense(result.shape, result.dtype, Space.TCM))

    def composite(self, call: CompositeCall, bindings: Bindings) -> ReadyPlan:
        """The plan of a composite; binds the call's handles. Raises KernelError."""
        key = structure_key(call, bindings)
        ready = self._composites.get(key)
        if ready is None:
            ready = self._composites[key] = self._plan_composite(call, bindings)
        return ready

    def _plan_composite(self, call: CompositeCall, bindings: Bindings) -> ReadyPlan:
        plan = plan_composite(call, bindings, self._cap_bytes)
        return ReadyPlan(plan, lay_out(plan.allocated, len(bindings.handles), self._pool))
