"""tl: what a kernel may do. One per PE; a verb is one command, or none where it says so.

    def kernel(x, y, *, tl):
        a = tl.load(x[0:8, :])              # starts a load, returns at once
        b = tl.exp(a)                       # waits for it: it reads what the load brings
        tl.store(y[0:8, :], b)

Nothing here depends on time: no clock, no polling. A kernel may branch on its arguments and on
program_id, never on a computed value. Everything is checked when it is issued, and an error ends
with the kernel's file and line.
"""

from dataclasses import dataclass
from functools import cache

from ..schemas.commands import CommandForm, CommandKind, OpForm
from ..schemas.errors import KernelError
from ..schemas.trace import SourceLine
from .arguments import DTypeLike, ShapeLike, as_dtype, as_shape
from .handles import TensorHandle
from .messages import Message, Port
from .pe import Pe
from .tensors import HbmTensor
from .tl_gemm import GemmVerbs
from .tl_math import MathVerbs
from .tl_memory import MemoryVerbs
from .wrong_calls import Offering

WAIT = CommandForm(CommandKind.WAIT, (OpForm("wait", (), has_out=False),))
AXES = (0, 1, 2)
MOST_CYCLES = 10**12


@dataclass(frozen=True, slots=True)
class SendTicket:
    """A send that PE_IPCQ has accepted; once waited for, its source may be written again."""

    command: int


class Tl(MathVerbs, MemoryVerbs, GemmVerbs, Offering):
    """The verbs of one PE: all of them. `program_id` and `grid` are (PE, CUBE, SIP)."""

    _called = "tl"

    def __init__(
        self, pe: Pe, port: Port, program_id: tuple[int, int, int], grid: tuple[int, int, int]
    ) -> None:
        super().__init__(pe)
        self._port = port
        self._program_id = program_id
        self._grid = grid

    def program_id(self, axis: int) -> int:
        """This PE's number along an axis: 0 the PE in its CUBE, 1 the CUBE in its SIP, 2 the SIP."""
        return self._program_id[_axis(axis)]

    def num_programs(self, axis: int) -> int:
        """How many were launched along an axis."""
        return self._grid[_axis(axis)]

    def part_of(
        self,
        tensor: HbmTensor,
        *,
        pe: int | None = None,
        cube: int | None = None,
        sip: int | None = None,
    ) -> HbmTensor:
        """The part of a tensor that another PE of the launch holds, in its HBM. No command.

        A coordinate that is left out is this PE's own. What is loaded from it, streamed by a composite
        or stored there crosses the links between the two PEs.
        """
        if not isinstance(tensor, HbmTensor):
            raise KernelError(
                f"tl.part_of: must be given a tensor in HBM, not {type(tensor).__name__}"
            )
        asked = zip((pe, cube, sip), self._program_id, ("pe", "cube", "sip"), strict=True)
        pe_there, cube_there, sip_there = (
            own if number is None else _coordinate(number, name) for number, own, name in asked
        )
        return self._pe.part_of(tensor, (pe_there, cube_there, sip_there))

    def send(self, direction: str, src: TensorHandle) -> SendTicket:
        """Sends a handle's elements to the neighbour; waits until PE_IPCQ accepts them.

        The ticket can be given to tl.wait: after it, the source may be written again.
        """
        self._in_tcm(src, "tl.send")
        site = self._pe.site()
        self._port.check(direction)
        form = _queue_form(CommandKind.SEND, direction, ("src",))
        command = self._pe.issue(form, (src,), (src,), site)
        payload = None if self._pe.data is None else self._pe.data.packed(src)
        self._port.send(direction, Message(src.shape, src.dtype, site.line, payload))
        return SendTicket(command)

    def recv(
        self, direction: str, shape: ShapeLike, dtype: DTypeLike, *, name: str = ""
    ) -> TensorHandle:
        """The next message from the neighbour, in new TCM; waits until it is there.

        Shape and dtype must be those of what was sent.
        """
        return self._receive(CommandKind.RECV, direction, shape, dtype, name)

    def recv_async(
        self, direction: str, shape: ShapeLike, dtype: DTypeLike, *, name: str = ""
    ) -> TensorHandle:
        """As recv, but returns at once. Its first reader waits; so does tl.wait, which returns it."""
        return self._receive(CommandKind.RECV_ASYNC, direction, shape, dtype, name)

    def _receive(
        self, kind: CommandKind, direction: str, shape: ShapeLike, dtype: DTypeLike, name: str
    ) -> TensorHandle:
        what = f"tl.{kind.name.lower()}"
        site = self._pe.site()
        extents, stored = as_shape(shape, what), as_dtype(dtype, what)
        awaited = self._port.ask(direction, extents, stored, site.line)
        target = self._pe.allocate(extents, stored, name or site.assigned or kind.name.lower())
        command = self._pe.issue(_queue_form(kind, direction), (target,), (), site)

        def arrive(waiting_at: SourceLine | None) -> None:
            message = self._port.take(awaited, waiting_at or awaited.line)
            if self._pe.data is not None and message.payload is not None:
                self._pe.data.deliver(message.payload, target)

        if kind is CommandKind.RECV:
            arrive(site.line)
        else:
            self._pe.transfer_runs_on(command, target, arrive)
        return target

    def wait(
        self, *awaited: TensorHandle | SendTicket
    ) -> TensorHandle | SendTicket | tuple[TensorHandle | SendTicket, ...]:
        """Waits for what brings these handles, or for these sends.

        With no argument: for every load, receive and composite not waited for. Returns what it was
        given: the one, or a tuple.
        """
        commands: set[int] = set()
        for each in awaited:
            if isinstance(each, SendTicket):
                commands.add(each.command)
            else:
                commands.update(self._pe.writing(self._own(each, "tl.wait")))
        waits = sorted(commands) if awaited else self._pe.unwaited()
        self._pe.wait_for(waits, WAIT, self._pe.site())
        return awaited[0] if len(awaited) == 1 else awaited

    def overhead(self, cycles: int) -> None:
        """PE_CPU is busy for that many cycles, at most 10¹²: scalar work that tl does not show."""
        if not isinstance(cycles, int) or not 0 <= cycles <= MOST_CYCLES:
            raise KernelError(
                f"tl.overhead: cycles must be an int from 0 to {MOST_CYCLES}, not {cycles!r}"
            )
        self._pe.issue(_overhead_form(cycles), (), (), self._pe.site())


@cache
def _overhead_form(cycles: int) -> CommandForm:
    op = OpForm("overhead", (), has_out=False, extra=(("cycles", cycles),))
    return CommandForm(CommandKind.OVERHEAD, (op,))


@cache
def _queue_form(kind: CommandKind, direction: str, operands: tuple[str, ...] = ()) -> CommandForm:
    op = OpForm(kind.name.lower(), operands, has_out=kind is not CommandKind.SEND)
    return CommandForm(kind, (op,), direction=direction)


def _coordinate(number: object, name: str) -> int:
    if not isinstance(number, int):
        raise KernelError(f"tl.part_of: {name} must be an int, not {number!r}")
    return number


def _axis(axis: int) -> int:
    if axis not in AXES:
        raise KernelError(f"axis must be 0 (PE), 1 (CUBE) or 2 (SIP), not {axis!r}")
    return axis
