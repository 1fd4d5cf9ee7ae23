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
    """Every release, inner ones first, grouped by the released stage. One column after the other, for
    the sake of memory.
    """
    firsts = first[:-1].astype(np.int32)
    bases = [firsts[template_of == number] for number in range(len(templates))]
    columns = {"released": _release_column("released", templates, bases, between)}
    order = np.argsort(columns["released"], kind="stable").astype(np.int32)
    columns["released"] = columns["released"][order]
    for name in _RELEASE_COLUMNS:
        if name not in columns:
            columns[name] = _release_column(name, templates, bases, between)[order]
    return columns


def _release_column(
    name: str, templates: list[Template], bases: list[Int32s], between: list[Edges]
) -> npt.NDArray[Any]:
    """A column of the releases: those of the commands of each template, then those between commands."""
    inner = [
        (base[:, None] + getattr(template, name)).ravel()
        if name in ("released", "releaser")
        else np.tile(getattr(template, name), len(base))
        for template, base in zip(templates, bases, strict=True)
    ]
    dtype = _RELEASE_COLUMNS[name]
    outer = [_edge_column(name, edges).astype(dtype, copy=False) for edges in between]
    return np.concatenate(inner + outer).astype(dtype, copy=False)


def _edge_column(name: str, edges: Edges) -> npt.NDArray[Any]:
    """A column of releases between commands: by ends, without a lag."""
    if name in ("released", "releaser"):
        column: npt.NDArray[Any] = getattr(edges, name)
        return column
    return np.full(len(edges.released), edges.why if name == "why" else 0, np.int32)
