"""The physics gate: checked after every replay. A violation is a bug in kerntape, and says so."""

import numpy as np

from ..schemas.columns import Int64s
from ..schemas.errors import SanityError
from ..schemas.stages import StageKind
from .stage_graph import Durations, StageGraph
from .times import Times

BEHIND_A_HOP = (StageKind.LINK, StageKind.DMA_READ, StageKind.HBM_WRITE)
"""What starts behind the first bytes of the hop before it."""


def check_physics(graph: StageGraph, durations: Durations, times: Times) -> None:
    """Raises SanityError naming the first stage that breaks a rule.

    Rules: no time before the launch, ready ≤ start ≤ end, a stage lasts what its class says, no
    stage starts before a release, an engine serves one stage at a time and its least (ready, id)
    first, what HBM gives DMA takes and what is sent is received, byte by byte, and every hop of a
    route over links passes on what the hop before it gives.
    """
    _refuse(times.ready_ps < 0, "was ready before the launch")
    _refuse(times.start_ps < times.ready_ps, "started before it was ready")
    lasting = durations.stage_ps[graph.stages.duration_class]
    _refuse(times.end_ps - times.start_ps != lasting, "did not last as long as its class")
    _check_releases(graph, durations, times)
    _check_engines(graph, times)
    amount = _amounts(graph)
    _check_bytes(graph, amount)
    _check_links(graph, amount)


def _check_releases(graph: StageGraph, durations: Durations, times: Times) -> None:
    releases = graph.releases
    released = np.repeat(np.arange(len(graph)), np.diff(releases.offsets))
    from_start = releases.from_start == 1
    base: Int64s = np.where(
        from_start, times.start_ps[releases.releaser], times.end_ps[releases.releaser]
    )
    happened = base + durations.lag_ps[releases.lag_class]
    last = np.zeros(len(graph), dtype=np.int64)
    np.maximum.at(last, released, happened)
    _refuse(times.ready_ps != last, "was not ready at its last release")


def _check_engines(graph: StageGraph, times: Times) -> None:
    serves = np.array([engine.arbitrates for engine in graph.engines], dtype=bool)
    served = np.flatnonzero(serves[graph.stages.engine])
    order = served[np.lexsort((served, times.start_ps[served], graph.stages.engine[served]))]
    before, after = order[:-1], order[1:]
    same = graph.stages.engine[before] == graph.stages.engine[after]
    overlapping = np.zeros(len(graph), dtype=bool)
    overlapping[after[same & (times.start_ps[after] < times.end_ps[before])]] = True
    _refuse(overlapping, "overlaps the stage its engine served before")
    overtaken = np.zeros(len(graph), dtype=bool)
    earlier_ready = times.ready_ps[after] < times.ready_ps[before]
    could_have = times.ready_ps[after] <= times.start_ps[before]
    overtaken[after[same & earlier_ready & could_have]] = True
    _refuse(overtaken, "was overtaken by a stage that became ready later")


def _amounts(graph: StageGraph) -> Int64s:
    """Per stage, the quantity of its class: bytes, where it moves any."""
    quantity = np.array([duration.quantity for duration in graph.duration_classes], dtype=np.int64)
    amount: Int64s = quantity[graph.stages.duration_class]
    return amount


def _check_bytes(graph: StageGraph, amount: Int64s) -> None:
    for given, taken in (
        (StageKind.HBM_READ, StageKind.DMA_READ),
        (StageKind.DMA_WRITE, StageKind.HBM_WRITE),
        (StageKind.SEND, StageKind.RECV),
    ):
        given_bytes = int(amount[graph.stages.kind == given].sum())
        taken_bytes = int(amount[graph.stages.kind == taken].sum())
        if given_bytes != taken_bytes:
            raise SanityError(
                f"{given.title} stages move {given_bytes} bytes and {taken.title} stages"
                f" {taken_bytes}; this is a bug in kerntape, please report it"
            )


def _check_links(graph: StageGraph, amount: Int64s) -> None:
    """Where there are links, every hop starts behind one other hop and moves as many bytes."""
    kind, releases = graph.stages.kind, graph.releases
    if not (kind == StageKind.LINK).any():
        return
    hops = np.flatnonzero(np.isin(kind, BEHIND_A_HOP))
    first = releases.offsets[hops]
    behind = np.flatnonzero(releases.offsets[hops + 1] - first == 1)
    behind = behind[releases.from_start[first[behind]] == 1]
    broken = np.zeros(len(graph), dtype=bool)
    broken[hops] = True
    broken[hops[behind]] = amount[hops[behind]] != amount[releases.releaser[first[behind]]]
    _refuse(broken, "does not pass on the bytes that the hop before it moves")


def _refuse(broken: np.ndarray[tuple[int], np.dtype[np.bool_]], rule: str) -> None:
    if broken.any():
        stage = int(np.argmax(broken))
        raise SanityError(f"stage {stage} {rule}; this is a bug in kerntape, please report it")
