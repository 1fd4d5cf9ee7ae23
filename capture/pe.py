"""One PE while its kernel runs: hands out handles, records commands with their waits, computes values.

Everything that a verb of tl does goes through here, so that no verb knows about rows, waits or
whether values are computed. What all PEs of a launch share is in LaunchTables.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from greenlet import getcurrent  # type: ignore[import-untyped]  # it ships no types

from ..schemas.commands import CommandForm, CommandKind
from ..schemas.dtypes import DType
from ..schemas.errors import KernelError
from ..schemas.handles import Space
from ..schemas.op_rules import Shape
from ..schemas.topology import Topology
from ..schemas.trace import SourceLine
from ..schemas.wires import Wires
from .data import PeData
from .far_parts import FarParts, ProgramId
from .handles import Allocation, Operand, TensorHandle
from .interning import InternedGeometry, InternPool
from .math_plan import ScalarItems
from .memory import Arena, Region
from .names import CallSite, CallSites
from .plans import Plans
from .recorder import Recorder
from .scratch_layout import ScratchLayout
from .tensors import HbmTensor
from .views import View
from .waits import Arrival, Untaken, Unwaited

IN_TCM = -1


@dataclass(frozen=True, slots=True)
class LaunchTables:
    """What all PEs of a launch share while they are recorded."""

    topology: Topology
    wires: Wires
    pool: InternPool
    sites: CallSites
    plans: Plans


class Pe:
    """The recording side of one PE. `data` is None where no values are computed.

    It belongs to the greenlet that makes it, the one that runs the PE's kernel.
    """

    def __init__(self, tables: LaunchTables, rank: int, data: PeData | None, far: FarParts) -> None:
        self._rank = rank
        self._kernel = getcurrent()
        self.data = data
        self._far = far
        self.plans = tables.plans
        self.recorder = Recorder()
        self._sites = tables.sites
        self._pool = tables.pool
        self._wires = tables.wires
        self._arena = Arena(tables.topology.pe)
        self._unwaited = Unwaited()
        self._untaken = Untaken()
        self._hbm: dict[int, Allocation] = {}

    def site(self) -> CallSite:
        """Where in the kernel this is called. Raises KernelError outside of the PE's own kernel."""
        self._check_running()
        return self._sites.here()

    def _check_running(self) -> None:
        if getcurrent() is not self._kernel:
            raise KernelError(
                f"PE {self._rank}'s tl and handles must be used by its own kernel while it runs, not"
                " by another PE's, after its end or in a thread; use the tl that the kernel is given"
            )

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
            raise self._none_left(interned, label, region)
        return self._handle(interned, address, IN_TCM, label, Allocation(region))

    def place_all(self, layout: ScratchLayout, label: str) -> list[TensorHandle]:
        """Handles on new scratch bytes for what a composite makes, in order; `label` names the rest.

        They are one allocation, since only one of them ever leaves the composite.
        Raises KernelError.
        """
        parts = layout.parts
        if not parts:
            return []
        region = self._arena.region(scratch=True)
        base = self._arena.take(layout.size_bytes, region)
        if base is None:
            raise self._none_left_for_all(layout, label, region)
        number = self._pool.strings.number
        labels = [part.label or label for part in parts]
        addresses = [base + part.offset for part in parts]
        handle_id = self.recorder.handles(
            layout.geometry_numbers, addresses, IN_TCM, [number(each, each) for each in labels]
        )
        allocation = Allocation(region)
        handles = []
        for part, address, its_label in zip(parts, addresses, labels, strict=True):
            handles.append(
                TensorHandle(self, handle_id, part.interned, address, IN_TCM, its_label, allocation)
            )
            handle_id += 1
        return handles

    def _none_left_for_all(self, layout: ScratchLayout, label: str, region: Region) -> KernelError:
        """The error that names the first part that does not fit: taken one by one, it shows."""
        refused = next(
            part
            for part in layout.parts
            if not part.is_view and region.take(part.interned.size_bytes) is None
        )
        return self._none_left(refused.interned, refused.label or label, region)

    def _none_left(self, interned: InternedGeometry, label: str, region: Region) -> KernelError:
        geometry = interned.geometry
        what = f"'{label}' {list(geometry.shape)} {geometry.dtype}"
        return KernelError(self._arena.full(interned.size_bytes, region, what))

    def reference(self, tensor: HbmTensor) -> TensorHandle:
        """A handle on a tensor, or a slice of one, in HBM. Raises KernelError where none can be had."""
        self._check_seen(tensor)
        interned = self._pool.geometry(tensor.shape, tensor.strides, tensor.dtype, Space.HBM)
        allocation = self._hbm.get(tensor.number)
        if allocation is None:
            self._far.check_reached(tensor, self._wires)
            allocation = self._hbm[tensor.number] = Allocation(None)
        return self._handle(interned, tensor.offset, tensor.number, tensor.name, allocation)

    def part_of(self, tensor: HbmTensor, place: ProgramId) -> HbmTensor:
        """What the PE at `place` sees of a tensor. Raises KernelError where it cannot be had."""
        self._check_running()
        self._check_seen(tensor)
        part, far = self._far.part(tensor, place)
        if far is not None and self.data is not None:
            self.data.see(part.number, far.seen_by, far.tensor)
        return part

    def _check_seen(self, tensor: HbmTensor) -> None:
        if tensor.rank != self._rank:
            self._check_running()
            raise KernelError(
                f"tensor '{tensor.name}' is what PE {tensor.rank} sees of it, and PE {self._rank}"
                " uses it; use the kernel's own argument, or tl.part_of with it"
            )

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
        self._check_running()
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
        self._check_running()
        return self._arena.scope(slots)

    def issue(
        self,
        form: CommandForm,
        handles: Sequence[TensorHandle],
        reads: Iterable[TensorHandle],
        site: CallSite,
    ) -> int:
        """Records a command after what its reads must wait for; returns its index.

        Every message that it waits for or whose bytes it touches is there first, for which other
        PEs may run.
        """
        waits = self._unwaited.before_reading(reads, form.kind is CommandKind.COMPOSITE)
        if waits:
            self._arrive(waits, site.line)
        self._untaken.take_touched(handles, site.line)
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

    def _arrive(self, commands: list[int], line: SourceLine) -> None:
        """Has every awaited message in its handle."""
        self._untaken.take(commands, line)
        self._unwaited.settle(commands)

    def transfer_runs_on(
        self, command: int, target: TensorHandle, arrival: Arrival | None = None
    ) -> None:
        """Notes a load or an asynchronous receive: it goes on and writes `target`."""
        self._unwaited.transfer(command, target)
        if arrival is not None:
            self._untaken.add(command, target, arrival)

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
        self._untaken.take_all()

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
