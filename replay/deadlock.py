"""Finds and explains a replay that cannot end. A deadlock is a cycle in the stage graph: no
calibration clears it, and its absence holds under every calibration.
"""

from dataclasses import replace

import numpy as np

from ..schemas.columns import Int64s
from ..schemas.commands import CommandKind
from ..schemas.deadlock import BlockedCommand, Deadlock
from ..schemas.hazard_policy import HazardPolicy
from ..schemas.stages import Why
from ..schemas.topology import Topology
from ..schemas.trace import Trace
from . import compiled_runner
from .deciding_part import deciding_part, with_whole_gemms
from .lower import LoweredStreams, join, lower, lower_streams
from .planned_shapes import PlannedShapes
from .policy import DEFAULT_POLICY, resolve_policy, shipped_policies
from .remote import plan_variants
from .stage_graph import Durations, StageGraph
from .times import Times

NEVER = -1
NO_POLICY = "none"
"""The shipped policy that holds nothing back."""
TURN = (Why.PROGRAM_ORDER.phrase, Why.BLOCKED.phrase)


def find_deadlock(trace: Trace, topology: Topology, policy: HazardPolicy) -> Deadlock | None:
    """The deadlock in which every replay of the trace stops; None where all of them end.

    It is what a replay reports, found without one, at a cost that a long sweep does not add to.
    Raises KerntapeError where the model cannot express the trace.
    """
    part, machine = deciding_part(trace), with_whole_gemms(topology)
    check_plannable(trace, machine)
    graph = lower(part.trace, machine, policy)
    times = _in_unit_steps(graph)
    if _has_ended(times):
        return None
    return part.in_whole_trace(explain(part.trace, machine, policy, graph, times))


def check_plannable(trace: Trace, topology: Topology) -> None:
    """Raises KerntapeError for the first command that keeps the trace from being replayed there."""
    machine = with_whole_gemms(topology)
    shapes = PlannedShapes(trace, machine)
    for variant in plan_variants(trace, machine):
        shapes.of_stream(variant)


def explain(
    trace: Trace, topology: Topology, policy: HazardPolicy, graph: StageGraph, times: Times
) -> Deadlock:
    """The wait-for graph of a run in which some stage never ended."""
    waiting = _Waiting(trace, graph, times)
    cycle = waiting.cycle()
    in_cycle = {blocked.rank for blocked in cycle}
    tail = [blocked for blocked in waiting.first_of_each_pe() if blocked.rank not in in_cycle]
    depth = clearing_depth(trace, topology, policy)
    policies = policies_that_end(trace, topology) if depth is None else ()
    return Deadlock(tuple(cycle), tuple(tail), depth, policies)


def ends(graph: StageGraph) -> bool:
    """Whether every stage can happen: under one calibration as under every other."""
    return _has_ended(_in_unit_steps(graph))


def _in_unit_steps(graph: StageGraph) -> Times:
    """The times where every stage and every lag lasts 1 ps."""
    steps = Durations(
        np.ones(len(graph.duration_classes), np.int64), np.ones(len(graph.lag_classes), np.int64)
    )
    return compiled_runner.run(graph, steps)


def _has_ended(times: Times) -> bool:
    return bool((times.end_ps != NEVER).all())


def clearing_depth(trace: Trace, topology: Topology, policy: HazardPolicy) -> int | None:
    """The smallest queue depth under which the trace ends; None where none does."""
    part, machine = deciding_part(trace).trace, with_whole_gemms(topology)
    lowered = lower_streams(part, machine, policy)

    def ends_at(depth: int) -> bool:
        ipcq = machine.ipcq.model_copy(update={"depth": depth})
        return ends(join(part, machine.model_copy(update={"ipcq": ipcq}), lowered))

    deep_enough = _most_fragments(lowered)
    if not ends_at(deep_enough):
        return None
    too_shallow = 0
    while deep_enough - too_shallow > 1:
        middle = (too_shallow + deep_enough) // 2
        if ends_at(middle):
            deep_enough = middle
        else:
            too_shallow = middle
    return deep_enough


def policies_that_end(trace: Trace, topology: Topology) -> tuple[str, ...]:
    """The shipped policies under which every replay of the trace ends, the default first.

    A policy adds releases and takes none away: where any of them ends the one that holds nothing back
    does, and where that one leaves a cycle no other is lowered.
    """
    part, machine = deciding_part(trace).trace, with_whole_gemms(topology)

    def is_ended_under(name: str) -> bool:
        return ends(lower(part, machine, resolve_policy(name)))

    ends_by_default = is_ended_under(DEFAULT_POLICY)
    if not ends_by_default and not is_ended_under(NO_POLICY):
        return ()
    others = [name for name in shipped_policies() if name not in (NO_POLICY, DEFAULT_POLICY)]
    first = [DEFAULT_POLICY] if ends_by_default else []
    return (*first, *filter(is_ended_under, others), NO_POLICY)


def _most_fragments(lowered: LoweredStreams) -> int:
    """The fragments of the fullest queue: no deeper queue is ever full."""
    ports = [port for graph in lowered.graphs for port in graph.ports]
    return max((len(port.sent) for port in ports), default=0) or 1


def _runs_joined(cycle: list[BlockedCommand]) -> list[BlockedCommand]:
    """A run of commands of one PE that only wait for their turn is one entry, from the first to the
    command that holds them all up.
    """
    joined: list[BlockedCommand] = []
    for blocked in cycle:
        before = joined[-1] if joined else None
        if before and before.waits_for in TURN and blocked.waits_for in TURN:
            joined[-1] = replace(before, for_command=blocked.for_command)
        else:
            joined.append(blocked)
    return joined


class _Waiting:
    """Who waits for whom, after the run stopped."""

    def __init__(self, trace: Trace, graph: StageGraph, times: Times) -> None:
        self._trace = trace
        self._graph = graph
        self._times = times
        self._stuck: Int64s = np.flatnonzero(times.end_ps == NEVER)

    def cycle(self) -> list[BlockedCommand]:
        """The commands of a cycle, from the least (rank, command) on."""
        path: list[int] = []
        seen: dict[int, int] = {}
        stage = int(self._stuck[0])
        while stage not in seen:
            seen[stage] = len(path)
            path.append(stage)
            stage = self._waits_for(stage)[0]
        stages = path[seen[stage] :]
        blocked = _runs_joined(
            [self._blocked(stage) for stage in stages if self._leaves_command(stage)]
        )
        least = min(range(len(blocked)), key=lambda i: (blocked[i].rank, blocked[i].command))
        return blocked[least:] + blocked[:least]

    def first_of_each_pe(self) -> list[BlockedCommand]:
        """Per PE that did not end, the first stage that never will."""
        _, rows = np.unique(self._graph.stages.pe[self._stuck], return_index=True)
        return [self._blocked(self._leaving(int(stage))) for stage in self._stuck[rows]]

    def _leaving(self, stage: int) -> int:
        """From a stage along what it waits for, the last of the same command."""
        while not self._leaves_command(stage):
            stage = self._waits_for(stage)[0]
        return stage

    def _leaves_command(self, stage: int) -> bool:
        return self._place(stage) != self._place(self._waits_for(stage)[0])

    def _waits_for(self, stage: int) -> tuple[int, Why]:
        """The first releaser of the stage that never came, and why it is waited for."""
        releases = self._graph.releases
        for row in range(releases.offsets[stage], releases.offsets[stage + 1]):
            releaser = int(releases.releaser[row])
            happened = self._times.start_ps if releases.from_start[row] else self._times.end_ps
            if happened[releaser] == NEVER:
                return releaser, Why(releases.why[row])
        raise AssertionError("a stage that never ended has a release that never happened")

    def _place(self, stage: int) -> tuple[int, int]:
        stages = self._graph.stages
        return int(stages.pe[stage]), int(stages.command[stage])

    def _blocked(self, stage: int) -> BlockedCommand:
        releaser, why = self._waits_for(stage)
        (pe, command), (for_pe, for_command) = self._place(stage), self._place(releaser)
        stream = self._trace.streams[self._trace.pes[pe].stream]
        form = self._trace.forms[stream.forms[command]]
        return BlockedCommand(
            rank=self._trace.pes[pe].rank,
            command=command,
            verb=f"{CommandKind(form.kind).name.lower()} {form.direction}".rstrip(),
            line=str(self._trace.lines[int(stream.lines[command])]),
            waits_for=why.phrase,
            for_rank=self._trace.pes[for_pe].rank,
            for_command=for_command,
        )
