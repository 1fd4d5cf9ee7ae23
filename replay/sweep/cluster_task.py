"""What a worker of a cluster does: it evaluates one chunk that is sent to it whole, trace and all.

The chunk depends on no file of the worker's and on nothing that an earlier chunk left, so whoever
takes it over from a worker that died gets the same results. This module is the contract between
versions of kerntape: whoever asks a worker of another version for `version_here` must be answered.
"""

import pickle
import threading
from collections.abc import Hashable
from dataclasses import dataclass

from ...schemas.errors import KerntapeError
from ...schemas.trace_file import parse_trace
from .case_run import CaseRun
from .chunks import KeptCase, start_case
from .code_identity import code_identity
from .plan import SweepPlan
from .points import PointResult


@dataclass(frozen=True, slots=True)
class Part:
    """A chunk by itself: a plan of its points alone, all of one case, and its trace's file."""

    plan: SweepPlan
    trace: bytes


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The points of a part, numbered as there; `failure` says why a point has no result."""

    results: tuple[PointResult, ...] = ()
    failure: str = ""


class OtherVersionError(KerntapeError):
    """A worker of another version of kerntape than the sweep's. `found`: which."""

    def __init__(self, found: str) -> None:
        super().__init__(found)
        self.found = found


def version_here() -> str:
    """Which kerntape this process would evaluate with."""
    return code_identity()


def packed(part: Part) -> bytes:
    """The part as it travels."""
    return pickle.dumps(part)


def evaluate_part(expected_version: str, part: bytes) -> Evaluated:
    """Evaluates a packed part. Raises OtherVersionError rather than unpack what another version packed."""
    if version_here() != expected_version:
        raise OtherVersionError(version_here())
    with _ONE_AT_A_TIME:
        try:
            return Evaluated(tuple(_results(pickle.loads(part))))
        except KerntapeError as error:
            return Evaluated(failure=str(error))
        except MemoryError:
            return Evaluated(failure="a worker is out of memory; start fewer on its machine")


_ONE_AT_A_TIME = threading.Lock()
_KEPT = KeptCase()
"""A worker's process outlives sweeps and has nothing of its own to hold this, so the module does.
Its threads take turns: they would share one core and hold a lowered trace each."""


def _results(part: Part) -> list[PointResult]:
    plan = part.plan
    run = _KEPT.run(_key(plan), lambda: _started(part))
    points = [plan.asked(point) for point in range(len(plan))]
    return [result for batch in run.evaluate(points) for result in batch]


def _key(plan: SweepPlan) -> Hashable:
    """Equal where the cases of two parts are, of whichever sweeps."""
    machine, policy = plan.topology(plan.case(0)), plan.policies[0]
    return plan.traces[0].sha256, machine.model_dump_json(), policy.model_dump_json(), plan.op_logs


def _started(part: Part) -> CaseRun:
    file = parse_trace(part.trace, part.plan.traces[0].name)
    return start_case(part.plan, part.plan.case(0), file)
