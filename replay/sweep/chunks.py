"""How a sweep's work is cut up, and what evaluates a piece: the same whoever carries the pieces."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...schemas.trace_file import read_trace
from ..replay import prepare
from .case_run import CaseRun
from .plan import Case, SweepPlan
from .points import PointResult

MAX_CHUNK = 64
MIN_CHUNK = 16
"""Points of a chunk: enough that an order serves several, few enough that workers end together."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some points of one case."""

    case: Case
    points: tuple[int, ...]


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


class ChunkEvaluator:
    """Evaluates chunks of a plan in one process; what it lowered and recorded serves the next chunk."""

    def __init__(self, plan: SweepPlan) -> None:
        self._plan = plan
        self._case: Case | None = None
        self._run: CaseRun | None = None

    def evaluate(self, chunk: Chunk) -> Iterator[list[PointResult]]:
        """The results of the chunk, a few at a time. Raises KerntapeError where a point has none."""
        if self._run is None or chunk.case != self._case:
            self._run = None  # so that two cases are never in memory at once
            self._case, self._run = chunk.case, self._started(chunk.case)
        yield from self._run.evaluate([self._plan.asked(point) for point in chunk.points])

    def _started(self, case: Case) -> CaseRun:
        plan = self._plan
        trace = read_trace(plan.traces[case.trace].path)
        prepared = prepare(trace, plan.topology(case), plan.policies[case.policy])
        return CaseRun(prepared, op_logs=plan.op_logs)
