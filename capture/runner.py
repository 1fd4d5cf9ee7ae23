"""Runs a kernel once per PE of a launch, and returns what was recorded.

    recording = run_kernel(Launch(kernel, grid, topology, programs), data)

One greenlet a PE, in rank order; a PE runs until it must wait for a message, then the least rank
that can go on runs. `data` is a DataStore with the tensors' HBM images (they hold the outputs when
run_kernel returns), or None to record without computing values: the recording is the same.
"""

import heapq
import inspect
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterator,
    Mapping,
)
from contextlib import contextmanager
from dataclasses import dataclass, field

from greenlet import GreenletExit, greenlet  # type: ignore[import-untyped]  # it ships no types

from ..schemas.commands import CommandForm
from ..schemas.errors import (
    CaptureDeadlockError,
    ConfigError,
    KernelError,
    KernelRaisedError,
    KerntapeError,
)
from ..schemas.handles import Geometry
from ..schemas.topology import Topology
from ..schemas.trace import SourceLine, Stream
from ..schemas.wires import Wires
from .data import DataStore
from .deadlock import Waiting, explain
from .failures import kernel_line, kernel_traceback
from .far_parts import FarPart, FarParts, ProgramId
from .handles import TensorHandle
from .hbm_layout import PeTensors
from .interning import InternPool
from .messages import Awaited, Exchange, Port, QueueName
from .names import CallSites
from .pe import LaunchTables, Pe
from .plans import Plans
from .streams import SharedStreams
from .tl import Tl
from .wrong_calls import wrong_call

Kernel = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Program:
    """One PE's part of a launch. `program_id` is what tl.program_id(0), (1), (2) return.

    `arguments` and `keywords` are the kernel's, tl excepted: numbers, HbmTensors, anything. `tensors`
    is what the PE sees, for others that ask for its parts; None where nobody can.
    """

    rank: int
    program_id: ProgramId
    arguments: tuple[object, ...] = ()
    keywords: Mapping[str, object] = field(default_factory=dict)
    tensors: PeTensors | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel over a grid of (PEs, CUBEs, SIPs). `programs` is in rank order."""

    kernel: Kernel
    grid: tuple[int, int, int]
    topology: Topology
    programs: tuple[Program, ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """The tables and streams of schemas.trace.Trace; `stream_numbers[i]` is program i's stream, and
    `far_parts[i]` what it reached for in other PEs' HBM.
    """

    strings: tuple[str, ...]
    geometries: tuple[Geometry, ...]
    forms: tuple[CommandForm, ...]
    lines: tuple[SourceLine, ...]
    streams: tuple[Stream, ...]
    stream_numbers: tuple[int, ...]
    far_parts: tuple[tuple[FarPart, ...], ...]


def run_kernel(launch: Launch, data: DataStore | None = None) -> Recording:
    """Records the launch.

    Raises KernelError for what a kernel asked in vain (the message ends with its file and line),
    KernelRaisedError for an exception of its own, CaptureDeadlockError where no PE can go on, and
    UnreceivedMessageError for messages left over.
    """
    return _Run(launch, data).record()


class _Run:
    """One launch being recorded. It is the exchange's Scheduler."""

    def __init__(self, launch: Launch, data: DataStore | None) -> None:
        _check_arguments(launch)
        self._launch = launch
        self._data = data
        self._pool = InternPool()
        self._tables = LaunchTables(
            launch.topology,
            Wires(launch.topology),
            self._pool,
            CallSites(self._pool),
            Plans(self._pool, launch.topology.pe.composite_cap_bytes),
        )
        self._exchange = Exchange(
            launch.topology, tuple(program.rank for program in launch.programs)
        )
        self._hub = greenlet.getcurrent()
        self._greenlets: dict[int, greenlet] = {}
        self._waiting: dict[int, Waiting] = {}
        self._sleepers: dict[tuple[QueueName, int], int] = {}
        self._runnable: list[int] = []
        self._streams = SharedStreams()
        self._stream_numbers: dict[int, int] = {}
        seen_at = {each.program_id: each.tensors for each in launch.programs if each.tensors}
        self._far_parts = {
            each.rank: FarParts(seen_at, each.tensors or PeTensors(each.rank, (), (), ()))
            for each in launch.programs
        }
        self._is_over = False

    def record(self) -> Recording:
        """Runs every PE to its end."""
        try:
            self._run_all()
        finally:
            self._stop()
        self._exchange.check_all_received()
        return Recording(
            strings=self._pool.strings.entries(),
            geometries=self._pool.geometries.entries(),
            forms=self._pool.forms.entries(),
            lines=self._pool.lines.entries(),
            streams=self._streams.unique(),
            stream_numbers=tuple(
                self._stream_numbers[program.rank] for program in self._launch.programs
            ),
            far_parts=tuple(parts.parts for parts in self._far_parts.values()),
        )

    def _run_all(self) -> None:
        for program in self._launch.programs:
            self._greenlets[program.rank] = greenlet(self._program(program))
            heapq.heappush(self._runnable, program.rank)
        while self._runnable:
            self._greenlets[heapq.heappop(self._runnable)].switch()
        if self._waiting:
            raise CaptureDeadlockError(explain(self._waiting, len(self._launch.programs)))

    def _stop(self) -> None:
        """Ends the kernels that still wait after an error. While they clean up they cannot wait again.

        The launch has failed by then: what a kernel raises while it is being ended says nothing new.
        """
        self._is_over = True
        for rank in tuple(self._waiting):
            self._greenlets[rank].throw()

    def _program(self, program: Program) -> Callable[[], None]:
        def run() -> None:
            pe_structure = self._launch.topology.pe
            values = None
            if self._data is not None:
                values = self._data.of_pe(program.rank, pe_structure.tcm_bytes, pe_structure.tile)
            pe = Pe(self._tables, program.rank, values, self._far_parts[program.rank])
            port = Port(program.rank, self._exchange, self)
            tl = Tl(pe, port, program.program_id, self._launch.grid)
            with self._kernel_errors(program.rank):
                _check_has_run(self._launch.kernel(*program.arguments, tl=tl, **program.keywords))
                pe.finish()
            self._stream_numbers[program.rank] = self._streams.number(pe.recorder.stream())

        return run

    @contextmanager
    def _kernel_errors(self, rank: int) -> Iterator[None]:
        """Around the kernel: whatever it raises ends the launch with an error that says where.

        What it raises while it is being ended only ends it.
        """
        try:
            yield
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if self._is_over:
                raise GreenletExit from None
            raise self._told(error, rank) from error

    def _told(self, error: BaseException, rank: int) -> KerntapeError:
        """What went wrong in a kernel, and where."""
        if isinstance(error, KernelError):
            return type(error)(f"{error}{self._where(error, rank)}")
        if isinstance(error, TypeError) and (wrong := wrong_call(error, Tl, TensorHandle)):
            return KernelError(f"{wrong}{self._where(error, rank)}")
        raised = ": ".join(filter(None, (type(error).__name__, _first_line(error))))
        return KernelRaisedError(
            f"the kernel raised {raised}{self._where(error, rank)}", kernel_traceback(error)
        )

    def _where(self, error: BaseException, rank: int) -> str:
        """The end of a message: where in the kernel, and on which PE if there are several."""
        several = len(self._launch.programs) > 1
        places = [f"PE {rank}" if several else "", kernel_line(error)]
        where = ", ".join(place for place in places if place)
        return f" ({where})" if where else ""

    # -- the exchange's Scheduler

    def sleep(self, awaited: Awaited, line: SourceLine) -> None:
        if self._is_over:
            raise GreenletExit
        rank = awaited.receiver
        self._waiting[rank] = Waiting(awaited, line)
        self._sleepers[(rank, awaited.direction), awaited.position] = rank
        self._hub.switch()

    def wake(self, queue: QueueName, position: int) -> None:
        rank = self._sleepers.pop((queue, position), None)
        if rank is not None:
            del self._waiting[rank]
            heapq.heappush(self._runnable, rank)


def _check_arguments(launch: Launch) -> None:
    """Raises ConfigError where the kernel cannot be called with what it is given."""
    signature = inspect.signature(launch.kernel)
    for program in launch.programs[:1]:
        try:
            signature.bind(*program.arguments, tl=None, **program.keywords)
        except TypeError as error:
            name = getattr(launch.kernel, "__name__", "the kernel")
            raise ConfigError(f"{name} cannot be called as it is launched: {error}") from None


def _check_has_run(returned: object) -> None:
    """Raises KernelError for what a kernel returns that is its body still to be run."""
    if isinstance(returned, Coroutine):
        returned.close()  # else Python warns that nobody awaited it
    if isinstance(returned, (Awaitable, Generator, AsyncGenerator)):
        raise KernelError(
            "the kernel must be a plain function that runs when it is called, and returned a"
            f" {type(returned).__name__.replace('_', ' ')}; take its async, await and yield out"
        )


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0]
