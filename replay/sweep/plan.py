"""A sweep's points: every trace under every policy with every combination of the varied values.

Points are numbered in that order: the last trace's last policy's last combination comes last. A plan
is small and can be sent to another process: traces are named by path and read where they are needed.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from ...schemas.calibration import Calibration
from ...schemas.config_file import with_values
from ...schemas.hazard_policy import HazardPolicy
from ...schemas.topology import Topology
from ...schemas.trace_file import TraceFile
from ..settings import TOPOLOGY, costs_of, is_structure
from .axes import Value, Varied
from .code_identity import code_identity
from .points import Asked

FORMAT = 2
"""Of journals: raised when the figures of a point, or their order, change."""


def sha256_of(file: TraceFile) -> str:
    """What tells a trace from every other: its header and its content."""
    return file.header_sha256 + file.content_sha256


@dataclass(frozen=True, slots=True)
class SweptTrace:
    """A trace of the sweep. `name` is unique and one printable line; `sha256` is `sha256_of` its file;
    `machine` and `costs` are what the varied values are laid over."""

    path: Path
    name: str
    sha256: str
    machine: Topology
    costs: Calibration


@dataclass(frozen=True, slots=True)
class Case:
    """What is lowered once: a trace and a policy (by number) on a machine with some values varied."""

    trace: int
    policy: int
    structure: tuple[int, ...]


Scalar: TypeAlias = int | float | str | None


@dataclass(frozen=True, slots=True)
class DifferentArgument:
    """An argument that traces were captured with differently; a value per trace, None where it has none."""

    name: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True)
class SweepPlan:
    """All points of a sweep. `combinations` hold one value per path. `op_logs`: hash every op_log.

    `sampled`: what was sampled, one per path, or nothing where every combination is meant. It and
    `different_arguments` change no point, only what is said of them.
    """

    traces: tuple[SweptTrace, ...]
    policies: tuple[HazardPolicy, ...]
    paths: tuple[str, ...]
    combinations: tuple[tuple[Value, ...], ...]
    op_logs: bool
    sampled: tuple[Varied, ...] = ()
    different_arguments: tuple[DifferentArgument, ...] = ()

    def __len__(self) -> int:
        return len(self.traces) * len(self.policies) * len(self.combinations)

    def place(self, point: int) -> tuple[int, int, int]:
        """The numbers of the point's trace, policy and combination."""
        rest, combination = divmod(point, len(self.combinations))
        trace, policy = divmod(rest, len(self.policies))
        return trace, policy, combination

    def by_trace_and_policy(self) -> Iterator[tuple[str, str, range]]:
        """The names of each trace and each policy, and the points of the two, one per combination."""
        count = len(self.combinations)
        for first in range(0, len(self), count):
            trace, policy, _ = self.place(first)
            yield self.traces[trace].name, self.policies[policy].name, range(first, first + count)

    def case(self, point: int) -> Case:
        """The point's case."""
        trace, policy, combination = self.place(point)
        return Case(trace, policy, self.structures[combination])

    @cached_property
    def structures(self) -> list[tuple[int, ...]]:
        """Per combination, its values that are the topology's."""
        columns = [place for place, path in enumerate(self.paths) if is_structure(path)]
        return [tuple(int(values[place]) for place in columns) for values in self.combinations]

    def topology(self, case: Case) -> Topology:
        """The machine of a case. Raises ConfigError where the values make none."""
        paths = [path.removeprefix(TOPOLOGY) for path in self.paths if is_structure(path)]
        values = dict(zip(paths, case.structure, strict=True))
        return with_values(self.traces[case.trace].machine, values, "--vary topology")

    def asked(self, point: int) -> Asked:
        """The point with its calibration."""
        trace, _, combination = self.place(point)
        values = dict(zip(self.paths, self.combinations[combination], strict=True))
        costs = costs_of(values)
        return Asked(
            point=point,
            calibration=with_values(self.traces[trace].costs, costs, "--vary"),
        )

    def part(self, points: Sequence[int]) -> "SweepPlan":
        """The plan of some points of one case alone. They are numbered anew, from 0 in that order."""
        trace, policy, _ = self.place(points[0])
        return replace(
            self,
            traces=self.traces[trace : trace + 1],
            policies=self.policies[policy : policy + 1],
            combinations=tuple(self.combinations[self.place(point)[2]] for point in points),
            sampled=(),
            different_arguments=(),
        )

    @cached_property
    def sha256(self) -> str:
        """What the results depend on, as one hash: a sweep that was stopped goes on only as the same."""
        digest = hashlib.sha256()
        for part in self._identity():
            digest.update(part.encode() + b"\n")
        return digest.hexdigest()

    def _identity(self) -> Iterable[str]:
        yield f"{FORMAT} {code_identity()} {self.op_logs}"
        for trace in self.traces:
            machine, costs = trace.machine.model_dump_json(), trace.costs.model_dump_json()
            yield json.dumps([trace.name, trace.sha256, machine, costs])
        for policy in self.policies:
            yield policy.model_dump_json()
        yield json.dumps(self.paths)
        for values in self.combinations:
            yield json.dumps([str(value) for value in values])
