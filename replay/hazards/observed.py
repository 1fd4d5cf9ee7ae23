"""What became of the hazards in one replay: how long pairs were held, and which were let through."""

from dataclasses import fields

import numpy as np

from ...schemas.columns import Int32s, Int64s
from ...schemas.hazards import Hazards, Outcome
from ...schemas.stages import Why
from ..stage_graph import CommandStages, Durations, HeldPairs, StageGraph
from ..times import Times


def observed_hazards(
    graph: StageGraph, durations: Durations, times: Times, potential: Hazards
) -> Hazards:
    """The pairs that the policy held (HELD), then those of `potential` that went wrong (VIOLATED).

    HELD costs what the hold alone delayed the later command: from the last of its begin's other
    releases to the finish of the earlier command, on the pair whose release came last (the least
    row on a tie); 0 on the others, and where something else came later.
    VIOLATED are the pairs whose later command began before the earlier one had finished. They cost
    the time in which both were at work: 0 where the later had finished before the earlier began.
    """
    held_ps = _held_ps(graph, durations, times)
    wrong, together_ps = _let_through(graph.commands, times, potential)
    columns = {
        field.name: np.concatenate(
            [getattr(graph.held, field.name), getattr(potential, field.name)[wrong]]
        )
        for field in fields(HeldPairs)
    }
    outcomes = np.repeat([Outcome.HELD, Outcome.VIOLATED], [len(held_ps), len(wrong)])
    return Hazards(
        outcome=outcomes.astype(np.int8),
        cost_ps=np.concatenate([held_ps, together_ps]),
        **columns,
    )


def _held_ps(graph: StageGraph, durations: Durations, times: Times) -> Int64s:
    """Per held pair, the picoseconds that it alone delayed its later command."""
    held, commands = graph.held, graph.commands
    cost_ps = np.zeros(len(held.pe), dtype=np.int64)
    if not len(cost_ps):
        return cost_ps
    released_ps = times.end_ps[commands.finish[commands.offsets[held.pe] + held.earlier]]
    begin = commands.begin[commands.offsets[held.pe] + held.later]
    # the last release of each begin first; among equals the least row
    order = np.lexsort((np.arange(len(begin)), -released_ps, begin))
    last = order[np.unique(begin[order], return_index=True)[1]]
    others_ps = _released_otherwise_ps(graph, durations, times, begin[last])
    cost_ps[last] = np.maximum(released_ps[last] - others_ps, 0)
    return cost_ps


def _released_otherwise_ps(
    graph: StageGraph, durations: Durations, times: Times, stages: Int32s
) -> Int64s:
    """Per stage, when the last of its releases that is no hold happened; 0 without one."""
    releases = graph.releases
    counts = releases.offsets[stages + 1] - releases.offsets[stages]
    rows = np.repeat(releases.offsets[stages] - _starts(counts), counts) + np.arange(counts.sum())
    releaser = releases.releaser[rows]
    happened_ps = np.where(
        releases.from_start[rows] == 1, times.start_ps[releaser], times.end_ps[releaser]
    )
    happened_ps += durations.lag_ps[releases.lag_class[rows]]
    happened_ps[releases.why[rows] == Why.HAZARD] = 0
    latest_ps = np.zeros(len(stages), dtype=np.int64)
    np.maximum.at(latest_ps, np.repeat(np.arange(len(stages)), counts), happened_ps)
    return latest_ps


def _starts(counts: Int64s) -> Int64s:
    starts: Int64s = np.cumsum(counts) - counts
    return starts


def _let_through(
    commands: CommandStages, times: Times, potential: Hazards
) -> tuple[Int64s, Int64s]:
    """The rows of `potential` that went wrong, and for how long both commands were at work."""
    earlier = commands.offsets[potential.pe] + potential.earlier
    later = commands.offsets[potential.pe] + potential.later
    begun_ps = times.start_ps[commands.begin[later]]
    finished_ps = times.end_ps[commands.finish[earlier]]
    wrong = np.flatnonzero(begun_ps < finished_ps)
    from_ps = np.maximum(begun_ps, times.start_ps[commands.begin[earlier]])[wrong]
    to_ps = np.minimum(finished_ps, times.end_ps[commands.finish[later]])[wrong]
    return wrong, np.maximum(to_ps - from_ps, 0)
