"""Evaluates chunks in processes of this machine, spawned, one pipe each.

A worker ends with the sweep: when it is told to, when the other end of its pipe is gone (the sweep was
killed), or when the sweep stops early. Ctrl-C is the sweep's to handle, not the workers'.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import cast

from ...schemas.errors import KerntapeError
from ..compiled_runner import check_engine
from .chunks import Chunk, ChunkEvaluator
from .plan import Case, SweepPlan
from .points import PointResult


def cores_here() -> int:
    """The cores that this process may use; all of the machine where the system does not say which."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class LocalWorkers:
    """`count` processes of this machine; this one alone where that is 1."""

    count: int

    def evaluate(self, plan: SweepPlan, chunks: Sequence[Chunk]) -> Iterator[list[PointResult]]:
        """As chunks.Workers has it; a worker that dies ends the sweep."""
        processes = min(self.count, len(chunks))
        if processes <= 1:
            evaluator = ChunkEvaluator(plan)
            for chunk in chunks:
                yield from evaluator.evaluate(chunk)
            return
        check_engine()
        with _Workers(plan, processes) as workers:
            yield from workers.evaluate(_Waiting(chunks))


class _Waiting:
    """The chunks that no worker has yet, by case."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._by_case: dict[Case, deque[Chunk]] = {}
        for chunk in chunks:
            self._by_case.setdefault(chunk.case, deque()).append(chunk)

    def __bool__(self) -> bool:
        return bool(self._by_case)

    def take(self, own: Case | None, others: Collection[Case | None]) -> Chunk:
        """A chunk of the worker's own case, else of one that none of the others has, else any."""
        case = own
        if case is None or case not in self._by_case:
            case = next((each for each in self._by_case if each not in others), None)
        if case is None:
            case = next(iter(self._by_case))
        chunk = self._by_case[case].popleft()
        if not self._by_case[case]:
            del self._by_case[case]
        return chunk


@dataclass(slots=True)
class _Worker:
    """A process, our end of its pipe, and the case that it has in memory."""

    process: SpawnProcess
    pipe: Connection
    case: Case | None = None


@dataclass(frozen=True, slots=True)
class _Done:
    """A worker's message that its chunk is done; `failure` says why not."""

    failure: str = ""


class _Workers:
    """The processes of one sweep, from entering the block to leaving it."""

    def __init__(self, plan: SweepPlan, jobs: int) -> None:
        self._workers: list[_Worker] = []
        try:
            with _deaf_to_ctrl_c():
                for _ in range(jobs):
                    self._workers.append(_started(plan))
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> "_Workers":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _end(self) -> None:
        for worker in self._workers:
            worker.pipe.close()
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join()

    def evaluate(self, waiting: _Waiting) -> Iterator[list[PointResult]]:
        """Gives chunks out until none is left, and passes on what comes back."""
        busy = {worker.pipe: worker for worker in self._workers}
        for worker in self._workers:
            self._give(worker, waiting)
        while busy:
            for pipe in wait(list(busy)):
                worker = busy[cast(Connection, pipe)]
                message = _received(worker)
                if not isinstance(message, _Done):
                    yield message
                elif waiting:
                    self._give(worker, waiting)
                else:
                    del busy[worker.pipe]

    def _give(self, worker: _Worker, waiting: _Waiting) -> None:
        others = {other.case for other in self._workers if other is not worker}
        chunk = waiting.take(worker.case, others)
        worker.case = chunk.case
        with contextlib.suppress(ConnectionError):  # it died; what it sends next says so
            worker.pipe.send(chunk)


def _started(plan: SweepPlan) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, plan), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that are started inside the block never hear Ctrl-C, not even before their first line;
    this one hears it when the block ends, so that none is left half started."""
    with _hearing_it_later():
        resource_tracker.ensure_running()  # which else starts with the first, and unblocks it
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # processes inherit it
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _hearing_it_later() -> Iterator[None]:
    """Blocking the signal is not enough: one that another thread takes interrupts the main one."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Ctrl-C does not interrupt this one
        return
    heard: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if heard:
        signal.raise_signal(signal.SIGINT)


def _received(worker: _Worker) -> list[PointResult] | _Done:
    try:
        message: list[PointResult] | _Done = worker.pipe.recv()
    except (EOFError, OSError):  # before a message, or in the middle of one
        worker.process.join()
        raise KerntapeError(
            f"a worker process {_death(worker.process.exitcode)}; if it ran out of memory, give"
            " fewer --jobs"
        ) from None
    if isinstance(message, _Done) and message.failure:
        raise KerntapeError(message.failure)
    return message


def _death(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return f"was killed by signal {-exit_code}"
    return f"ended with exit code {exit_code}"


def _serve(pipe: Connection, plan: SweepPlan) -> None:
    """A worker's life: chunks in, results out."""
    evaluator = ChunkEvaluator(plan)
    with contextlib.suppress(EOFError, ConnectionError):  # the sweep is gone
        while True:
            chunk = pipe.recv()
            try:
                for results in evaluator.evaluate(chunk):
                    pipe.send(results)
                pipe.send(_Done())
            except KerntapeError as error:
                pipe.send(_Done(str(error)))
            except MemoryError:
                pipe.send(_Done("out of memory; give fewer --jobs"))
