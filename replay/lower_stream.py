"""Lowers one stream: its commands' templates, and the releases between its commands.

Between commands (DESIGN: "everything the hardware does is who releases whom"):

    dispatch i      ← the stage that lets PE_CPU go on after command i − 1, and the finish of every
                      command that i waits for
    dispatch of composite k   ← the admission of composite k − scheduler_queue
    admission k     ← the retirement of composite k − composites_in_flight, and, unless composites
                      may pass, the admission of composite k − 1
    planning k      ← the planning of composite k − 1, unless composites may pass
    retirement k    ← the retirement of composite k − 1
    acceptance of send i      ← the departure of send i − send_depth of the same queue
    begin of a held command   ← the finish of the one it is held for
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..schemas.columns import Int8s, Int16s, Int32s, Int64s, offsets_of
from ..schemas.hazard_policy import HazardPolicy
from ..schemas.stages import Why
from ..schemas.topology import PeStructure, Topology
from ..schemas.trace import Stream, Trace
from .command_plan import NONE
from .hazards.held import StreamHolds, held_pairs
from .planned_shapes import PlannedShapes
from .queues import Edges, Port, own_edges, ports_of
from .remote import Variant
from .templates import Template


@dataclass(frozen=True)
class StreamGraph:
    """One stream's stages and releases, numbered from 0; the columns are those of StageGraph.

    `slot` is as in Template. Per command: dispatch, begin, finish. `ports` are the PE's ends of its
    queues.
    """

    kind: Int16s
    slot: Int32s
    command: Int32s
    op: Int16s
    tile: Int32s
    duration_class: Int32s
    released: Int32s
    releaser: Int32s
    from_start: Int8s
    lag_class: Int32s
    why: Int8s
    dispatch: Int32s
    begin: Int32s
    finish: Int32s
    ports: tuple[Port, ...]
    holds: StreamHolds

    def __len__(self) -> int:
        return len(self.kind)


_COPIED_COLUMNS: dict[str, type[np.integer]] = {
    "kind": np.int16,
    "slot": np.int32,
    "op": np.int16,
    "tile": np.int32,
    "duration_class": np.int32,
}
_RELEASE_COLUMNS: dict[str, type[np.integer]] = {
    "released": np.int32,
    "releaser": np.int32,
    "from_start": np.int8,
    "lag_class": np.int32,
    "why": np.int8,
}


@dataclass(frozen=True)
class _KeyStages:
    """Per command, the stages that other commands' releases attach to; NONE where there is none."""

    dispatch: Int32s
    begin: Int32s
    finish: Int32s
    resume: Int32s
    admit: Int32s
    plan: Int32s
    retire: Int32s


def lower_stream(
    trace: Trace,
    variant: Variant,
    topology: Topology,
    policy: HazardPolicy,
    shapes: PlannedShapes,
    holds: StreamHolds | None = None,
) -> StreamGraph:
    """The part of the stage graph of a stream's variant. `holds` are the stream's, if known."""
    stream = trace.streams[variant.stream]
    template_of, templates = shapes.of_stream(variant)
    lengths = np.array([len(template) for template in templates], dtype=np.int64)
    first = offsets_of(lengths[template_of] if templates else template_of)
    keys = _key_stages(template_of, templates, first)
    if holds is None:
        holds = held_pairs(trace, stream, topology, policy)
    stages = _stage_columns(template_of, templates, first)
    ports = ports_of(trace, stream, stages["kind"], stages["command"], keys.resume, keys.finish)
    between = [
        *_issue_edges(stream, keys),
        *_scheduler_edges(keys, topology.pe, policy.passing),
        *(edges for port in ports for edges in own_edges(port, topology.ipcq.send_depth)),
        Edges(keys.begin[holds.later], keys.finish[holds.earlier], Why.HAZARD),
    ]
    return StreamGraph(
        **stages,
        **_release_columns(template_of, templates, first, between),
        ports=ports,
        dispatch=keys.dispatch,
        begin=keys.begin,
        finish=keys.finish,
        holds=holds,
    )


def _key_stages(template_of: Int32s, templates: list[Template], first: Int64s) -> _KeyStages:
    def absolute(name: str) -> Int32s:
        local = np.array([getattr(template, name) for template in templates], dtype=np.int64)
        chosen = local[template_of] if templates else template_of
        return np.where(chosen == NONE, NONE, chosen + first[:-1]).astype(np.int32)

    return _KeyStages(
        dispatch=first[:-1].astype(np.int32),
        begin=absolute("begin"),
        finish=absolute("finish"),
        resume=absolute("resume"),
        admit=absolute("admit"),
        plan=absolute("plan"),
        retire=absolute("retire"),
    )


def _issue_edges(stream: Stream, keys: _KeyStages) -> list[Edges]:
    went_on_at_once = keys.resume[:-1] == keys.dispatch[:-1]
    waiting = np.repeat(np.arange(stream.command_count), stream.wait_counts)
    later, before = keys.dispatch[1:], keys.resume[:-1]
    return [
        Edges(later[went_on_at_once], before[went_on_at_once], Why.PROGRAM_ORDER),
        Edges(later[~went_on_at_once], before[~went_on_at_once], Why.BLOCKED),
        Edges(keys.dispatch[waiting], keys.finish[stream.waits], Why.WAITED),
    ]


def _scheduler_edges(keys: _KeyStages, pe: PeStructure, passing: bool) -> list[Edges]:
    composites = np.flatnonzero(keys.admit != NONE)
    dispatch, admit = keys.dispatch[composites], keys.admit[composites]
    plan, retire = keys.plan[composites], keys.retire[composites]
    queue, window = pe.scheduler_queue, pe.composites_in_flight
    edges = [
        Edges(dispatch[queue:], admit[:-queue], Why.SCHEDULER_QUEUE),
        Edges(admit[window:], retire[:-window], Why.IN_FLIGHT),
        Edges(retire[1:], retire[:-1], Why.RETIREMENT),
    ]
    if not passing:
        edges.append(Edges(admit[1:], admit[:-1], Why.ADMISSION))
        edges.append(Edges(plan[1:], plan[:-1], Why.ADMISSION))
    return edges


def _stage_columns(
    template_of: Int32s, templates: list[Template], first: Int64s
) -> dict[str, npt.NDArray[Any]]:
    """Every command's stages, copied from its template."""
    columns: dict[str, npt.NDArray[Any]] = {
        name: np.empty(int(first[-1]), dtype) for name, dtype in _COPIED_COLUMNS.items()
    }
    columns["command"] = np.repeat(np.arange(len(template_of), dtype=np.int32), np.diff(first))
    for number, template in enumerate(templates):
        base = first[:-1][template_of == number]
        places = base[:, None] + np.arange(len(template))
        for name in _COPIED_COLUMNS:
            columns[name][places] = getattr(template, name)
    return columns


def _release_columns(
    template_of: Int32s, templates: list[Template], first: Int64s, between: list[Edges]
) -> dict[str, npt.NDArray[Any]]:
    """Every release, inner ones first, grouped by the released stage."""
    batches: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in _RELEASE_COLUMNS}
    for number, template in enumerate(templates):
        base = first[:-1][template_of == number]
        batches["released"].append((base[:, None] + template.released).ravel())
        batches["releaser"].append((base[:, None] + template.releaser).ravel())
        for name in ("from_start", "lag_class", "why"):
            batches[name].append(np.tile(getattr(template, name), len(base)))
    for edges in between:
        count = len(edges.released)
        batches["released"].append(edges.released)
        batches["releaser"].append(edges.releaser)
        batches["from_start"].append(np.zeros(count, np.int8))
        batches["lag_class"].append(np.zeros(count, np.int32))
        batches["why"].append(np.full(count, edges.why, np.int8))
    columns = {
        name: np.concatenate(batches[name]).astype(dtype, copy=False)
        for name, dtype in _RELEASE_COLUMNS.items()
    }
    order = np.argsort(columns["released"], kind="stable")
    return {name: column[order] for name, column in columns.items()}
