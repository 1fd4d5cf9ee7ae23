"""One PE while its kernel runs: hands out handles, records commands with their waits, computes values.

Everything that a verb of tl does goes through here, so that no verb knows about rows, waits or
whether values are computed. What all PEs of a launch share is in LaunchTables.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeAlias

from ..schemas.commands import CommandForm, CommandKind
from ..schemas.dtypes import DType
from ..schemas.errors import KernelError
from ..schemas.handles import Space
from ..schemas.op_rules import Shape
from ..schemas.topology import Topology
from ..schemas.trace import SourceLine
from .data import PeData
from .handles import Allocation, Operand, TensorHandle
from .interning import InternedGeometry, InternPool
from .math_plan import ScalarItems
from .memory import Arena
from .names import CallSite, CallSites
from .plans import Plans
from .recorder import Recorder
from .tensors import HbmTensor
from .views import View
from .waits import Unwaited

IN_TCM = -1
Arrival: TypeAlias = Callable[[SourceLine | None], None]
"""Brings an awaited message; given the line at which the PE waits, or None at the kernel's end."""


@dataclass(frozen=True, slots=True)
class LaunchTables:
    """What all PEs of a launch share while they are recorded."""

    topology: Topology
    pool: InternPool
    sites: CallSites
    plans: Plans


class Pe:
    """The recording side of one PE. `data` is None where no values are computed."""

    def __init__(self, tables: LaunchTables, data: PeData | None) -> None:
        self.data = data
        self.plans = tables.plans
        self.recorder = Recorder()
        self.site = tables.sites.here
        self._pool = tables.pool
        self._arena = Arena(tables.topology.pe)
        self._unwaited = Unwaited()
        self._arrivals: dict[int, Arrival] = {}
        self._hbm = Allocation(None)

    def allocate(
        self, shape: Shape, dtype: DType, label: str, *, scratch: bool = False
    ) -> TensorHandle:
        """A contiguous handle on new TCM bytes. Raises KernelError where they do not fit."""
        return self.place(self._pool.dense(shape, dtype, Space.TCM), label, scratch=scratch)

    def place(
        self, interned: InternedGeometry, label: str, *, scratch: bool = True
    ) -> TensorHandle:
        """As allocate, of a contiguous geometry that is interned already."""
        region = self._arena.region(scratch)
        address = self._arena.take(interned.size_bytes, region)
        if address is None:
            geometry = interned.geometry
            what = f"'{label}' {list(geometry.shape)} {geometry.dtype}"
            raise KernelError(self._arena.full(interned.size_bytes, region, what))
        return self._handle(interned, address, IN_TCM, label, Allocation(region))

    def reference(self, tensor: HbmTensor) -> TensorHandle:
        """A handle on a tensor, or a slice of one, in HBM."""
        interned = self._pool.geometry(tensor.shape, tensor.strides, tensor.dtype, Space.HBM)
        return self._handle(interned, tensor.offset, tensor.number, tensor.name, self._hbm)

    def view_of(self, handle: TensorHandle, view: View) -> TensorHandle:
        """A new handle on some of another's bytes, of the same allocation."""
        self.check_usable(handle)
        interned = self._pool.geometry(view.shape, view.strides, handle.dtype, handle.space)
        address = handle.address + view.offset
        return self._handle(interned, address, handle.tensor, handle.label, handle.allocation)

    def _handle(
        self,
        interned: InternedGeometry,
        address: int,
        tensor: int,
        label: str,
        allocation: Allocation,
    ) -> TensorHandle:
        label_number = self._pool.strings.number(label, label)
        handle_id = self.recorder.handle(interned.number, address, tensor, label_number)
        return TensorHandle(self, handle_id, interned, address, tensor, label, allocation)

    def check_usable(self, handle: TensorHandle) -> None:
        """Raises KernelError for a handle of another PE, and for one whose bytes were recycled."""
        if handle.owner is not self:
            raise KernelError(
                f"{handle.described} belongs to another PE; only tl.send and tl.recv carry data"
                " between PEs"
            )
        region = handle.allocation.region
        if region is not None and region.recycled:
            raise KernelError(
                f"{handle.described} is gone: its scratch_scope's bytes were handed out again;"
                " give the scope more slots, or make the handle outside it"
            )

    def scope(self, slots: int) -> AbstractContextManager[None]:
        """Scratch made inside is recycled."""
        return self._arena.scope(slots)

    def issue(
        self,
        form: CommandForm,
        handles: Sequence[TensorHandle],
        reads: Iterable[TensorHandle],
        site: CallSite,
    ) -> int:
        """Records a command after what its reads must wait for; returns its index.

        Waiting for a message lets other PEs run first.
        """
        waits = self._unwaited.before_reading(reads, form.kind is CommandKind.COMPOSITE)
        if waits:
            self._arrive(waits, site.line)
        return self._record(form, handles, waits, site)

    def wait_for(self, commands: list[int], form: CommandForm, site: CallSite) -> None:
        """Records a wait for these commands."""
        self._arrive(commands, site.line)
        self._record(form, (), commands, site)

    def _record(
        self,
        form: CommandForm,
        handles: Sequence[TensorHandle],
        waits: list[int],
        site: CallSite,
    ) -> int:
        slots = [handle.id for handle in handles]
        return self.recorder.command(self._pool.form(form), site.line_number, slots, waits)

    def _arrive(self, commands: list[int], line: SourceLine | None) -> None:
        """Has every awaited message in its handle."""
        for command in commands:
            arrival = self._arrivals.pop(command, None)
            if arrival is not None:
                arrival(line)
        self._unwaited.settle(commands)

    def transfer_runs_on(
        self, command: int, target: TensorHandle, arrival: Arrival | None = None
    ) -> None:
        """Notes a load or an asynchronous receive: it goes on and writes `target`."""
        self._unwaited.transfer(command, target)
        if arrival is not None:
            self._arrivals[command] = arrival

    def composite_runs_on(self, command: int, targets: Iterable[TensorHandle]) -> None:
        """Notes a composite: it goes on and writes `targets`."""
        self._unwaited.composite(command, targets)

    def unwaited(self) -> list[int]:
        """Every load, receive and composite not waited for."""
        return self._unwaited.all()

    def writing(self, handle: TensorHandle) -> list[int]:
        """Those of them that write the handle's bytes."""
        return self._unwaited.before_reading((handle,), by_composite=False)

    def finish(self) -> None:
        """The kernel has returned: every message that it asked for must still arrive."""
        self._arrive(sorted(self._arrivals), None)

    def math(
        self,
        kind: str,
        operands: tuple[Operand, ...],
        scalars: ScalarItems = (),
        out: TensorHandle | None = None,
        dtype: DType | None = None,
        name: str = "",
        *,
        scratch: bool = True,
    ) -> TensorHandle:
        """Issues a math command; returns its output, newly allocated unless `out` is given.

        Operands are handles or numbers, in the order of the op's row. Raises KernelError.
        """
        handles = [operand for operand in operands if isinstance(operand, TensorHandle)]
        for handle in handles if out is None else (*handles, out):
            self.check_usable(handle)
        plan = self.plans.math(kind, operands, scalars, out, dtype)
        site = self.site()
        if out is None:
            out = self.place(plan.out, name or site.assigned or kind, scratch=scratch)
        self.issue(plan.form, (*handles, out), handles, site)
        if self.data is not None:
            self.data.math(plan.op, handles, out)
        return out
