"""Evaluates chunks on a Dask cluster: the scheduler hands them to its workers, and to another one where
one dies. Workers need no file: a chunk travels with its trace."""

import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import CancelledError, Future, wait
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from ...schemas.errors import KerntapeError
from ...schemas.sections import file_bytes
from .chunks import Chunk
from .cluster_client import asked, check_address, connected, distributed, within, wrong_version
from .cluster_task import Evaluated, OtherVersionError, Part, evaluate_part, packed, version_here
from .plan import SweepPlan
from .points import PointResult

TIMEOUT_S = 10.0
"""How long a scheduler may take to answer, and a first worker to come."""

DESERTED_S = 60.0
"""How long a cluster may be without a worker before the sweep gives it up."""

SECONDS_BETWEEN_LOOKS = 1.0

CHUNKS_PER_WORKER = 2
"""One that is worked at, and one that waits, so that no worker is idle between them."""


class ClusterWorkers:
    """The workers of the cluster whose scheduler is at `address`, from entering the block to leaving it.
    UsageError where that is no address.

    Entering raises KerntapeError: dask is not installed, no scheduler answers in time, no worker
    comes, or a worker's kerntape is missing or of another version.
    """

    def __init__(
        self, address: str, *, timeout_s: float = TIMEOUT_S, deserted_s: float = DESERTED_S
    ) -> None:
        check_address(address)
        self._address = address
        self._timeout_s = timeout_s
        self._deserted_s = deserted_s
        self._attended_at_s = 0.0

    def __enter__(self) -> "ClusterWorkers":
        self._client = connected(self._address, self._timeout_s)
        self._attended_at_s = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    @property
    def count(self) -> int:
        """The worker processes that there are now, or one that is hoped for."""
        try:
            found = len(within(self._deserted_s, self._client.nthreads))
        except (
            OSError,
            ValueError,
            RuntimeError,
            AttributeError,
        ):  # of a client without a scheduler
            raise self._gone() from None
        if found:
            self._attended_at_s = time.monotonic()
        return max(1, found)

    def evaluate(self, plan: SweepPlan, chunks: Sequence[Chunk]) -> Iterator[list[PointResult]]:
        """As chunks.Workers has it; where a worker dies, its chunks are evaluated by another."""
        waiting, running = deque(chunks), dict[Any, Chunk]()
        read = cache(lambda trace: file_bytes(Path(plan.traces[trace].path)))
        try:
            while waiting or running:
                for _ in range(CHUNKS_PER_WORKER * self.count - len(running)):
                    if waiting:
                        chunk = waiting.popleft()
                        part = Part(plan.part(chunk.points), read(chunk.case.trace))
                        running[self._begun(part)] = chunk
                for future in self._first_done(running):
                    yield self._results(future, running.pop(future))
        finally:
            for future in running:
                future.release()  # the scheduler drops what nobody waits for

    def _begun(self, part: Part) -> Any:
        return self._client.submit(evaluate_part, version_here(), packed(part), pure=False)

    def _first_done(self, running: Collection[Any]) -> list[Any]:
        """The futures that are done, at least one."""
        while True:
            try:
                return list(
                    distributed()
                    .wait(
                        list(running), timeout=SECONDS_BETWEEN_LOOKS, return_when="FIRST_COMPLETED"
                    )
                    .done
                )
            except TimeoutError:
                self._check_attended()
            except CancelledError:
                raise self._gone() from None

    def _check_attended(self) -> None:
        """A cluster whose last worker died may get others, but not for ever."""
        if self.count and time.monotonic() - self._attended_at_s > self._deserted_s:
            raise KerntapeError(
                f"the cluster at {self._address} has had no worker for {self._deserted_s:g} s; start"
                " some"
            )

    def _results(self, future: Any, chunk: Chunk) -> list[PointResult]:
        """The chunk's results, numbered as the sweep numbers its points."""
        answer: Future[Evaluated] = asked(future.result)
        while not wait([answer], SECONDS_BETWEEN_LOOKS).done:
            self._check_attended()  # it may have been lost with its worker, or with the scheduler
        try:
            evaluated = answer.result()
        except Exception as error:  # what a worker raised, or the next one, if the result was lost
            raise self._failure(error) from error
        if evaluated.failure:
            raise KerntapeError(evaluated.failure)
        return [replace(each, point=chunk.points[each.point]) for each in evaluated.results]

    def _failure(self, error: BaseException) -> KerntapeError:
        if isinstance(error, OtherVersionError):
            return wrong_version(f"a worker of {self._address}", error.found)
        if isinstance(error, distributed().KilledWorker):
            return KerntapeError(
                f"the workers of {self._address} died {error.allowed_failures + 1} times at the same"
                " points; if they ran out of memory, start fewer on a machine"
            )
        if isinstance(error, CancelledError):
            return self._gone()
        return KerntapeError(f"a worker of {self._address} failed: {type(error).__name__}: {error}")

    def _gone(self) -> KerntapeError:
        return KerntapeError(
            f"the cluster at {self._address} is gone: its scheduler ended or cannot be reached"
        )
