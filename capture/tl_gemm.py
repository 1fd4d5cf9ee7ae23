"""tl's GEMMs: dot, which PE_CPU waits for, and composite, which PE_SCHEDULER runs on its own."""

from collections.abc import Sequence
from functools import cache

from ..schemas.commands import GEMM, CommandForm, CommandKind, Scope
from ..schemas.handles import Geometry
from .arguments import DTypeLike, as_dtype
from .composite import CompositePlan, plan_composite, structure_key
from .composite_items import Head, Item, ItemDict, flat_items, keyword_items
from .gemm_rules import check_gemm_out, gemm_form, gemm_shape
from .handles import TensorHandle
from .verbs import Verbs
from .views import View
from .workspace import Allocated, Bindings


class GemmVerbs(Verbs):
    """The GEMM part of tl."""

    def dot(
        self,
        a: TensorHandle,
        b: TensorHandle,
        *,
        out: TensorHandle | None = None,
        dtype: DTypeLike | None = None,
        name: str = "",
    ) -> TensorHandle:
        """a × b, [m, k] × [k, n], both in TCM; waits until it is done.

        The result's dtype is a's unless `out` or `dtype` says another.
        """
        form = _dot_form(self._in_tcm(a, "tl.dot").geometry, self._in_tcm(b, "tl.dot").geometry)
        (op,) = form.ops
        site = self._pe.site()
        if out is None:
            wanted = a.dtype if dtype is None else as_dtype(dtype, "tl.dot")
            label = name or site.assigned or "dot"
            out = self._pe.allocate(gemm_shape(op), wanted, label, scratch=True)
        check_gemm_out(op, self._in_tcm(out, "tl.dot").geometry)
        self._pe.issue(form, (a, b, out), (a, b), site)
        if self._pe.data is not None:
            self._pe.data.run(form, (a, b, out))
        return out

    def composite(
        self,
        op: str = GEMM,
        *,
        a: TensorHandle | None = None,
        b: TensorHandle | None = None,
        out: TensorHandle | None = None,
        prologue: Sequence[ItemDict] = (),
        epilogue: Sequence[ItemDict] = (),
        ops: Sequence[ItemDict] | None = None,
        out_dtype: DTypeLike | None = None,
        math_op: str = "",
        name: str = "",
        **named: object,
    ) -> TensorHandle:
        """Hands PE_SCHEDULER a descriptor and returns at once with the handle of its output.

        capture/composite_items.py has the forms, DDD-0065 §4–6 their meaning. The output is
        allocated unless `out` names it; its dtype is then a's, or `out_dtype`. A descriptor over
        the topology's cap is cut into several composites. Raises KernelError.
        """
        if ops is None:
            head = Head(op, a, b, out, math_op, out_dtype, named)
            return self._composite(keyword_items(head, prologue, epilogue), name)
        return self._composite(flat_items(ops, Scope.KERNEL), name)

    def _composite(self, items: Sequence[Item], name: str) -> TensorHandle:
        bindings = Bindings()
        plan = self._plan(items, bindings)
        site = self._pe.site()
        handles = [self._own(handle, "tl.composite") for handle in bindings.handles]
        for allocated in plan.allocated:
            label = allocated.label or name or site.assigned or "composite"
            handles.append(self._make(allocated, handles, label))
        for segment in plan.segments:
            filled = [handles[slot] for slot in segment.slots]
            reads = [handles[binding] for binding in segment.reads]
            command = self._pe.issue(segment.form, filled, reads, site)
            self._pe.composite_runs_on(command, [handles[binding] for binding in segment.writes])
            if self._pe.data is not None:
                self._pe.data.run(segment.form, filled)
        return handles[plan.result]

    def _plan(self, items: Sequence[Item], bindings: Bindings) -> CompositePlan:
        key = structure_key(items, bindings)
        plans = self._pe.tables.composite_plans
        plan = plans.get(key)
        if plan is None:
            cap_bytes = self._pe.tables.topology.pe.composite_cap_bytes
            plan = plans[key] = plan_composite(items, bindings, cap_bytes)
        return plan

    def _make(
        self, allocated: Allocated, handles: Sequence[TensorHandle], label: str
    ) -> TensorHandle:
        geometry = allocated.geometry
        if allocated.view_of is not None:
            viewed = handles[allocated.view_of]
            return self._pe.view_of(viewed, View(geometry.shape, geometry.strides))
        return self._pe.allocate(geometry.shape, geometry.dtype, label, scratch=True)


@cache
def _dot_form(a: Geometry, b: Geometry) -> CommandForm:
    return CommandForm(CommandKind.DOT, (gemm_form(a, b),))
