"""tl's GEMMs: dot, which PE_CPU waits for, and composite, which PE_SCHEDULER runs on its own."""

from collections.abc import Sequence
from functools import cache

from ..schemas.commands import GEMM, CommandForm, CommandKind
from ..schemas.errors import KernelError
from ..schemas.handles import Geometry
from .arguments import DTypeLike, as_dtype
from .composite import PlannedCommand
from .composite_call import CompositeCall, ItemDict
from .gemm_rules import check_gemm_out, check_tile_loop, gemm_form, gemm_shape
from .handles import TensorHandle
from .names import CallSite
from .verb_names import as_written
from .verbs import Verbs
from .workspace import Bindings


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
        for handle in (a, b) if out is None else (a, b, out):
            self._in_tcm(handle, "tl.dot")
        form = _checked_dot(a, b, out)
        (op,) = form.ops
        site = self._pe.site()
        if out is None:
            wanted = a.dtype if dtype is None else as_dtype(dtype, "tl.dot")
            label = name or site.assigned or "dot"
            out = self._pe.allocate(gemm_shape(op), wanted, label, scratch=True)
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

        capture/composite_call.py has the forms, DDD-0065 §4–6 their meaning. The output is
        allocated unless `out` names it; its dtype is then a's, or `out_dtype`. A descriptor over
        the topology's cap is cut into several composites. Raises KernelError.
        """
        call = CompositeCall(op, a, b, out, prologue, epilogue, ops, out_dtype, math_op, named)
        bindings = Bindings()
        ready = self._pe.plans.composite(call, bindings)
        site = self._pe.site()
        handles = bindings.handles
        for handle in handles:
            self._pe.check_usable(handle)
        handles += self._pe.place_all(ready.scratch, name or site.assigned or "composite")
        for command in ready.plan.commands:
            self._issue(command, handles, site)
        return handles[ready.plan.result]

    def _issue(
        self, command: PlannedCommand, handles: Sequence[TensorHandle], site: CallSite
    ) -> None:
        filled = [handles[binding] for binding in command.slots]
        check_tile_loop(command.form, filled)
        reads = [handles[binding] for binding in command.reads]
        index = self._pe.issue(command.form, filled, reads, site)
        self._pe.composite_runs_on(index, [handles[binding] for binding in command.writes])
        if self._pe.data is not None:
            self._pe.data.run(command.form, filled)


def _checked_dot(a: TensorHandle, b: TensorHandle, out: TensorHandle | None) -> CommandForm:
    """The form of a × b. Raises KernelError for what does not multiply, and for a wrong output."""
    try:
        form = _dot_form(a.geometry, b.geometry)
        if out is not None:
            check_gemm_out(form.ops[0], out.geometry)
            check_tile_loop(form, (a, b, out))
    except KernelError as error:
        raise as_written(error, GEMM) from None
    return form


@cache
def _dot_form(a: Geometry, b: Geometry) -> CommandForm:
    return CommandForm(CommandKind.DOT, (gemm_form(a, b),))
