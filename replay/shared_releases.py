"""Who releases whom, once for all PEs that share a stream's graph: a few thousandths of a launch's."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..schemas.columns import Int8s, Int32s, Int64s, offsets_of
from ..schemas.topology import Topology
from ..schemas.trace import Trace
from .lower import LoweredStreams, crossing
from .lower_stream import StreamGraph
from .stage_graph import StageGraph


@dataclass(frozen=True)
class SharedReleases:
    """The releases of a launch.

    Per PE: `first`, its first stage (one more at the end, the number of all); `base`, the place in
    `offsets` of its graph. Stage s of a PE is released by the rows `offsets[base + s − first]` to
    `offsets[base + s − first + 1]` of `releaser` (counted from the PE's first stage), `from_start`
    and `lag_class`, which are as in stage_graph.Releases.

    Those that cross PEs, all from an end, ascend by `crossing_released`; a PE's begin at
    `crossing_first` (one more at the end).
    """

    first: Int32s
    base: Int32s
    offsets: Int64s
    releaser: Int32s
    from_start: Int8s
    lag_class: Int32s
    crossing_first: Int32s
    crossing_released: Int32s
    crossing_releaser: Int32s
    crossing_lag_class: Int32s


def shared_releases(trace: Trace, topology: Topology, lowered: LoweredStreams) -> SharedReleases:
    """Those of a lowered trace. Raises KerntapeError where `lower.join` does."""
    pes = lowered.of_pes()
    first = offsets_of(np.array([len(graph) for graph in pes], dtype=np.int64))
    begins = offsets_of(np.array([len(graph) + 1 for graph in lowered.graphs], dtype=np.int64))
    return SharedReleases(
        first=first.astype(np.int32),
        base=begins[list(lowered.reaches.of_pes)].astype(np.int32),
        offsets=_offsets(lowered.graphs),
        releaser=_joined([graph.releaser for graph in lowered.graphs]),
        from_start=_joined([graph.from_start for graph in lowered.graphs]),
        lag_class=_joined([graph.lag_class for graph in lowered.graphs]),
        **_crossing(trace, topology, lowered, first),
    )


def _joined(columns: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """One after the other; the only one as it is."""
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


def _offsets(graphs: tuple[StreamGraph, ...]) -> Int64s:
    """Each graph's offsets, one more than it has stages, counted on from graph to graph."""
    pieces, rows = [], 0
    for graph in graphs:
        every = np.arange(len(graph) + 1, dtype=np.int32)
        pieces.append(np.searchsorted(graph.released, every))
        pieces[-1] += rows
        rows += len(graph.released)
    return _joined(pieces)


def _crossing(
    trace: Trace, topology: Topology, lowered: LoweredStreams, first: Int64s
) -> dict[str, Int32s]:
    nothing = np.zeros(0, np.int32)
    batches = crossing(trace, topology, lowered.of_pes(), first)
    counts = [len(edges.released) for edges in batches]
    released = np.concatenate([nothing, *(edges.released for edges in batches)])
    releaser = np.concatenate([nothing, *(edges.releaser for edges in batches)])
    lag = np.repeat([lowered.lags.number(edges.lag) for edges in batches], counts)
    order = np.argsort(released, kind="stable")
    return {
        "crossing_first": np.searchsorted(released[order], first).astype(np.int32),
        "crossing_released": released[order].astype(np.int32),
        "crossing_releaser": releaser[order].astype(np.int32),
        "crossing_lag_class": lag[order].astype(np.int32),
    }


def as_one_pe(graph: StageGraph) -> SharedReleases:
    """A whole graph's, as if all of its stages were one PE's."""
    releases, nothing = graph.releases, np.zeros(0, np.int32)
    return SharedReleases(
        first=np.array([0, len(graph)], np.int32),
        base=np.zeros(1, np.int32),
        offsets=releases.offsets,
        releaser=releases.releaser,
        from_start=releases.from_start,
        lag_class=releases.lag_class,
        crossing_first=np.zeros(2, np.int32),
        crossing_released=nothing,
        crossing_releaser=nothing,
        crossing_lag_class=nothing,
    )
