"""Replays a trace: lower, durations, run, then hazards and the physics gate. The one way in.

A `Prepared` trace is lowered for one topology and policy; it can be timed under any number of
calibrations without lowering again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..schemas.calibration import Calibration
from ..schemas.errors import ConfigError, did_you_mean
from ..schemas.hazard_policy import HazardPolicy
from ..schemas.hazards import Hazards, no_hazards
from ..schemas.stages import STAGE_COLUMNS, Stages
from ..schemas.timeline import Status, Timeline
from ..schemas.topology import Topology
from ..schemas.trace import Trace
from . import compiled_runner, simpy_runner
from .causes import whys
from .deadlock import explain
from .durations import ClassTimes
from .hazards.observed import observed_hazards
from .hazards.potential import potential_hazards
from .lower import lower
from .machine import resolve_model
from .policy import DEFAULT_POLICY, resolve_policy
from .sanity import check_physics
from .stage_graph import Durations, StageGraph
from .times import Times

Runner = Callable[[StageGraph, Durations], Times]

RUNNERS: dict[str, Runner] = {"compiled": compiled_runner.run, "simpy": simpy_runner.run}
"""By the name that `--runner` takes."""

DEFAULT_RUNNER = "compiled"


@dataclass(frozen=True)
class Prepared:
    """A trace lowered for a topology and a policy."""

    trace: Trace
    topology: Topology
    policy: HazardPolicy
    graph: StageGraph

    @cached_property
    def class_times(self) -> ClassTimes:
        """What durations under any calibration need to know of the graph."""
        return ClassTimes(self.graph)

    @cached_property
    def potential(self) -> Hazards:
        """The pairs that nothing orders, under any calibration. Computed at the first timing."""
        return potential_hazards(self.trace, self.topology, self.policy)


def prepare(trace: Trace, topology: Topology, policy: HazardPolicy) -> Prepared:
    """Lowers the trace. Raises KerntapeError where the model cannot express it."""
    return Prepared(trace, topology, policy, lower(trace, topology, policy))


def time(prepared: Prepared, calibration: Calibration, runner: str = DEFAULT_RUNNER) -> Timeline:
    """Runs a lowered trace under a calibration and checks the result's physics.

    A trace that cannot end gives a timeline of what happened until it stopped, with its deadlock.
    """
    lasting = prepared.class_times.durations(calibration)
    times = _runner(runner)(prepared.graph, lasting)
    if (times.end_ps < 0).any():
        return _stopped(prepared, calibration, times)
    check_physics(prepared.graph, lasting, times)
    hazards = observed_hazards(prepared.graph, lasting, times, prepared.potential)
    return _timeline(prepared, calibration, prepared.graph.stages, times, hazards)


def _timeline(
    prepared: Prepared,
    calibration: Calibration,
    stages: Stages,
    times: Times,
    hazards: Hazards,
) -> Timeline:
    graph = prepared.graph
    return Timeline(
        trace=prepared.trace,
        topology=prepared.topology,
        calibration=calibration,
        policy=prepared.policy,
        status=Status.OK,
        engines=graph.engines,
        stages=stages,
        duration_classes=graph.duration_classes,
        ready_ps=times.ready_ps,
        start_ps=times.start_ps,
        end_ps=times.end_ps,
        cause=times.cause,
        why=whys(graph, times),
        hazards=hazards,
    )


def _stopped(prepared: Prepared, calibration: Calibration, times: Times) -> Timeline:
    """The stages that ended, numbered anew, and why the others never will."""
    graph = prepared.graph
    whole = _timeline(prepared, calibration, graph.stages, times, no_hazards())
    ended = times.end_ps >= 0
    renumbered = np.cumsum(ended, dtype=np.int32) - 1
    cause = whole.cause[ended]
    return replace(
        whole,
        status=Status.DEADLOCK,
        stages=Stages(**{name: getattr(graph.stages, name)[ended] for name in STAGE_COLUMNS}),
        ready_ps=times.ready_ps[ended],
        start_ps=times.start_ps[ended],
        end_ps=times.end_ps[ended],
        cause=np.where(cause < 0, cause, renumbered[cause]).astype(np.int32),
        why=whole.why[ended],
        deadlock=explain(prepared.trace, prepared.topology, prepared.policy, graph, times),
    )


def replay(
    trace: Trace,
    *,
    topology: Topology | None = None,
    calibration: str | None = None,
    settings: Sequence[str] = (),
    policy: str = DEFAULT_POLICY,
    runner: str = DEFAULT_RUNNER,
) -> Timeline:
    """The timeline of a trace: names, paths and settings as the command line takes them.

    Raises ConfigError for an unknown calibration, setting, policy or runner, and where `topology`
    differs from the trace's in something that the commands depend on.
    """
    machine, costs = resolve_model(trace, topology, calibration, settings)
    return time(prepare(trace, machine, resolve_policy(policy)), costs, runner)


def _runner(name: str) -> Runner:
    if name not in RUNNERS:
        raise ConfigError(f"no runner is called '{name}'{did_you_mean(name, RUNNERS)}")
    return RUNNERS[name]
