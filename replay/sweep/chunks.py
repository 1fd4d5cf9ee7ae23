"""How a sweep's work is cut up, who may carry the pieces, and what evaluates one whoever carries it."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...schemas.errors import FileError
from ...schemas.trace_file import TraceFile, read_trace_file
from ..replay import prepare
from .case_run import CaseRun
from .plan import Case, SweepPlan, sha256_of
from .points import PointResult

MAX_CHUNK = 64
MIN_CHUNK = 16
"""Points of a chunk: enough that an order serves several, few enough that workers end together."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some points of one case."""

    case: Case
    points: tuple[int, ...]


class Workers(Protocol):
    """Who evaluates chunks: processes of this machine (local_workers), a cluster (cluster_workers)."""

    @property
    def count(self) -> int:
        """How many chunks are worked at together."""

    def evaluate(self, plan: SweepPlan, chunks: Sequence[Chunk]) -> Iterator[list[PointResult]]:
        """The results of all chunks as they come, every point once.

        Raises KerntapeError where a point has no result, and where the workers are gone. Closed
        early, it leaves no work behind.
        """


def chunks_of(plan: SweepPlan, points: Iterable[int], workers: int) -> list[Chunk]:
    """The points, case after case, cut so that every worker gets a share of a large case."""
    by_case: dict[Case, list[int]] = {}
    for point in points:
        by_case.setdefault(plan.case(point), []).append(point)
    return [
        Chunk(case, chunk)
        for case, members in by_case.items()
        for chunk in _cut(members, min(MAX_CHUNK, max(MIN_CHUNK, -(-len(members) // workers))))
    ]


def _cut(points: list[int], size: int) -> Iterator[tuple[int, ...]]:
    for first in range(0, len(points), size):
        yield tuple(points[first : first + size])


class KeptCase:
    """The case that a process evaluated last: what it lowered and recorded serves the next chunk."""

    def __init__(self) -> None:
        self._key: Hashable = None
        self._run: CaseRun | None = None

    def run(self, key: Hashable, start: Callable[[], CaseRun]) -> CaseRun:
        """That of the key; started if it is not the one that is kept."""
        if self._run is None or key != self._key:
            self._run = None  # so that two cases are never in memory at once
            self._run, self._key = start(), key
        return self._run


def start_case(plan: SweepPlan, case: Case, file: TraceFile) -> CaseRun:
    """Lowers the case's trace. Raises KerntapeError where the machine cannot have it, and where the
    file is no longer the one that the sweep was planned with."""
    swept = plan.traces[case.trace]
    if sha256_of(file) != swept.sha256:
        raise FileError(
            f"{swept.path}: must stay as it is while it is swept, and has changed; name other results"
            " to sweep what is there now"
        )
    prepared = prepare(file.trace, plan.topology(case), plan.policies[case.policy])
    return CaseRun(prepared, op_logs=plan.op_logs)


class ChunkEvaluator:
    """Evaluates chunks of a plan in one process of the machine that has the traces."""

    def __init__(self, plan: SweepPlan) -> None:
        self._plan = plan
        self._kept = KeptCase()

    def evaluate(self, chunk: Chunk) -> Iterator[list[PointResult]]:
        """The results of the chunk, a few at a time. Raises KerntapeError where a point has none."""
        run = self._kept.run(chunk.case, lambda: self._started(chunk.case))
        yield from run.evaluate([self._plan.asked(point) for point in chunk.points])

    def _started(self, case: Case) -> CaseRun:
        return start_case(self._plan, case, read_trace_file(self._plan.traces[case.trace].path))
