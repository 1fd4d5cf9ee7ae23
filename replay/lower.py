"""Lowering: a trace on a topology under a policy becomes a stage graph.

Each distinct command shape is planned once (templates), each distinct stream is put together once
(lower_stream), alike PEs copy their stream's graph, and the queues between PEs are joined (queues).
What reaches for another PE's HBM is put together once per distance (remote).
Nothing loops over stages.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..schemas.columns import Int32s, Int64s, offsets_of
from ..schemas.errors import KerntapeError
from ..schemas.hazard_policy import HazardPolicy
from ..schemas.stages import Stages
from ..schemas.topology import Topology
from ..schemas.trace import PeEntry, Trace
from .components.noc import Link, link_between
from .engine_table import EngineTable, engine_table
from .far_stages import FarStages, far_stages
from .hazards.held import StreamHolds
from .lower_stream import StreamGraph, lower_stream
from .planned_shapes import PlannedShapes
from .queues import Edges, Port, check_matched, crossing_edges
from .remote import Reaches, reaches
from .stage_graph import CommandStages, HeldPairs, Releases, StageGraph
from .templates import PE_ENGINES, ClassTable

HELD_COLUMNS = (
    "kind",
    "earlier",
    "earlier_op",
    "earlier_handle",
    "later",
    "later_op",
    "later_handle",
    "byte_from",
    "byte_to",
)


@dataclass(frozen=True, slots=True)
class _Queue:
    """A queue that messages pass: from one PE of the launch (by place) to another, over a link."""

    sender: int
    receiver: int
    port: Port
    link: Link


@dataclass(frozen=True, slots=True)
class LoweredStreams:
    """The graph of every variant of a stream. Nothing in it depends on how deep the queues are."""

    graphs: tuple[StreamGraph, ...]
    reaches: Reaches
    durations: ClassTable
    lags: ClassTable

    def of_pes(self) -> list[StreamGraph]:
        """Per PE of the launch its graph."""
        return [self.graphs[variant] for variant in self.reaches.of_pes]


def lower(trace: Trace, topology: Topology, policy: HazardPolicy) -> StageGraph:
    """The stage graph of the trace. Raises KerntapeError where the model cannot express it."""
    return join(trace, topology, lower_streams(trace, topology, policy))


def lower_streams(trace: Trace, topology: Topology, policy: HazardPolicy) -> LoweredStreams:
    """What each PE does for itself. Raises KerntapeError where the model cannot express it."""
    found, shapes = reaches(trace, topology), PlannedShapes(trace, topology)
    graphs: list[StreamGraph] = []
    holds: dict[int, StreamHolds] = {}
    for variant in found.variants:
        known = holds.get(variant.stream)
        graphs.append(lower_stream(trace, variant, topology, policy, shapes, known))
        holds[variant.stream] = graphs[-1].holds
    return LoweredStreams(tuple(graphs), found, shapes.durations, shapes.lags)


def join(trace: Trace, topology: Topology, lowered: LoweredStreams) -> StageGraph:
    """The PEs side by side, joined by the topology's queues."""
    graphs = lowered.of_pes()
    first = offsets_of(np.array([len(graph) for graph in graphs], dtype=np.int64))
    queues = _queues(trace.pes, graphs, topology)
    far = far_stages(lowered.reaches, graphs, first)
    away = {server for each in far for server in each.used()}
    table = engine_table(trace.pes, {queue.link for queue in queues} | away)
    own = _releases(graphs, first)
    return StageGraph(
        engines=table.engines,
        stages=_stages(graphs, first, queues, far, table),
        releases=_with_crossing(own, graphs, first, queues, topology, lowered.lags),
        duration_classes=lowered.durations.classes,
        lag_classes=lowered.lags.classes,
        commands=_commands(graphs, first),
        held=_held(graphs),
    )


def _queues(
    pes: tuple[PeEntry, ...], graphs: list[StreamGraph], topology: Topology
) -> list[_Queue]:
    """Every queue that is sent into, by sender and direction."""
    place_of = {pe.rank: place for place, pe in enumerate(pes)}
    queues = []
    for sender, (pe, graph) in enumerate(zip(pes, graphs, strict=True)):
        for port in graph.ports:
            peer = topology.peer(pe.rank, port.direction)
            receiver = place_of.get(peer) if peer is not None else None
            if len(port.sent) and (peer is None or receiver is None):
                raise KerntapeError(
                    f"PE {pe.rank} sends {port.direction}, where no PE of the launch is:"
                    " replay on the topology of the trace"
                )
            if receiver is not None and peer is not None:
                level = topology.directions[port.direction].level
                link = link_between(topology, pe.rank, peer, level)
                queues.append(_Queue(sender, receiver, port, link))
    return [queue for queue in queues if len(queue.port.sent)]


def _stages(
    graphs: list[StreamGraph],
    first: Int64s,
    queues: list[_Queue],
    far: list[FarStages],
    table: EngineTable,
) -> Stages:
    pe = np.repeat(np.arange(len(graphs), dtype=np.int32), np.diff(first))
    engine = _joined(graphs, "slot") + pe * np.int32(len(PE_ENGINES))
    for queue in queues:
        engine[queue.port.carried + first[queue.sender]] = table.numbers[queue.link]
    for away in far:
        engine[away.stages] = table.numbers_of(away.servers)[away.slots]
    return Stages(
        kind=_joined(graphs, "kind"),
        engine=engine,
        pe=pe,
        command=_joined(graphs, "command"),
        op=_joined(graphs, "op"),
        tile=_joined(graphs, "tile"),
        duration_class=_joined(graphs, "duration_class"),
    )


def _releases(graphs: list[StreamGraph], first: Int64s) -> Releases:
    """The releases inside the PEs."""
    return Releases(
        offsets=offsets_of(np.concatenate(_release_counts(graphs))),
        releaser=_joined_stages(graphs, first, "releaser"),
        from_start=_joined(graphs, "from_start"),
        lag_class=_joined(graphs, "lag_class"),
        why=_joined(graphs, "why"),
    )


def _release_counts(graphs: list[StreamGraph]) -> list[Int64s]:
    """How many releases each stage has inside its PE; counted once for PEs that share a stream."""
    counts = {id(graph): np.bincount(graph.released, minlength=len(graph)) for graph in graphs}
    return [counts[id(graph)] for graph in graphs]


def _with_crossing(
    releases: Releases,
    graphs: list[StreamGraph],
    first: Int64s,
    queues: list[_Queue],
    topology: Topology,
    lags: ClassTable,
) -> Releases:
    """The releases and, last of each stage's, those that cross PEs."""
    batches: list[Edges] = []
    for queue in queues:
        batches += _crossing(queue, graphs, first, topology)
    if not batches:
        return releases
    counts = [len(edges.released) for edges in batches]
    released = np.concatenate([edges.released for edges in batches]).astype(np.int64)
    order = np.argsort(released, kind="stable")
    rows = releases.offsets[released[order] + 1]
    added = {
        "releaser": np.concatenate([edges.releaser for edges in batches]),
        "from_start": np.zeros(len(released), np.int8),
        "lag_class": np.repeat([lags.number(edges.lag) for edges in batches], counts),
        "why": np.repeat([int(edges.why) for edges in batches], counts),
    }
    places = rows + np.arange(len(rows))
    columns = {
        name: _inserted(getattr(releases, name), places, column[order])
        for name, column in added.items()
    }
    more = np.bincount(released, minlength=len(releases.offsets) - 1)
    return Releases(offsets=releases.offsets + offsets_of(more), **columns)


def _inserted(
    column: npt.NDArray[Any], places: Int64s, added: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """The column with `added` where it stands afterwards: at `places`, ascending."""
    longer = np.empty(len(column) + len(added), dtype=column.dtype)
    old = np.ones(len(longer), dtype=np.bool_)
    old[places] = False
    longer[old] = column
    longer[places] = added
    return longer


def crossing(
    trace: Trace, topology: Topology, graphs: list[StreamGraph], first: Int64s
) -> list[Edges]:
    """The releases that cross PEs, by the launch's stage ids. `graphs` are the PEs', `first` their
    first stages.
    """
    queues = _queues(trace.pes, graphs, topology)
    return [edges for queue in queues for edges in _crossing(queue, graphs, first, topology)]


def _crossing(
    queue: _Queue, graphs: list[StreamGraph], first: Int64s, topology: Topology
) -> list[Edges]:
    back = topology.directions[queue.port.direction].opposite
    ports = {port.direction: port for port in graphs[queue.receiver].ports}
    port = ports.get(back)
    received = len(port.received) if port else 0
    check_matched(
        queue.sender, len(queue.port.sent), queue.receiver, received, queue.port.direction
    )
    assert port is not None, "as many fragments are received as are sent, and some are sent"
    return list(
        crossing_edges(
            queue.port, port, int(first[queue.sender]), int(first[queue.receiver]), topology
        )
    )


def _commands(graphs: list[StreamGraph], first: Int64s) -> CommandStages:
    return CommandStages(
        offsets=offsets_of(np.array([len(graph.dispatch) for graph in graphs], dtype=np.int64)),
        dispatch=_joined_stages(graphs, first, "dispatch"),
        begin=_joined_stages(graphs, first, "begin"),
        finish=_joined_stages(graphs, first, "finish"),
    )


def _held(graphs: list[StreamGraph]) -> HeldPairs:
    holds = [graph.holds for graph in graphs]
    counts = np.array([len(hold.later) for hold in holds], dtype=np.int64)
    pe = np.repeat(np.arange(len(graphs), dtype=np.int32), counts)
    columns = {name: np.concatenate([getattr(h, name) for h in holds]) for name in HELD_COLUMNS}
    return HeldPairs(pe=pe, **columns)


def _joined(graphs: list[StreamGraph], name: str) -> npt.NDArray[Any]:
    """A column of all PEs, one after the other."""
    return np.concatenate([getattr(graph, name) for graph in graphs])


def _joined_stages(graphs: list[StreamGraph], first: Int64s, name: str) -> Int32s:
    """A column of stage numbers of all PEs, counted on from PE to PE."""
    starts = first.astype(np.int32)
    return np.concatenate(
        [getattr(graph, name) + start for graph, start in zip(graphs, starts, strict=False)]
    )
