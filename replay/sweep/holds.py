"""The stages that a policy holds back, and all their releases, as order_pass.HeldTimes reads them.

A stage is held from the last of its other releases to the last of the holds, if that is later
(hazards.observed says the same pair by pair).
"""

from dataclasses import dataclass

import numpy as np

from ...schemas.columns import Int32s, Int64s, offsets_of
from ...schemas.stages import Why
from ..stage_graph import StageGraph
from .gaps import Gaps


@dataclass(frozen=True, slots=True)
class Holds:
    """Held stage after held stage, its releases: from row `begin[i]` on those that are no holds, then
    from `hold[i]` to `begin[i + 1]` the holds. Per row `releaser`, a stage, and `gap` (gaps.Gaps)."""

    begin: Int64s
    hold: Int64s
    releaser: Int32s
    gap: Int32s


def holds_of(graph: StageGraph, gaps: Gaps) -> Holds:
    """The holds of a graph; none under a policy that holds nothing."""
    releases = graph.releases
    counts = np.diff(releases.offsets)
    is_hold = releases.why == Why.HAZARD
    released = np.repeat(np.arange(len(graph), dtype=np.int32), counts)
    held = np.unique(released[is_hold])
    is_held = np.zeros(len(graph), dtype=np.bool_)
    is_held[held] = True
    rows = np.flatnonzero(is_held[released])
    rows = rows[np.lexsort((is_hold[rows], released[rows]))]
    begin = offsets_of(counts[held])
    holding = np.add.reduceat(is_hold[rows], begin[:-1], dtype=np.int64) if len(held) else begin[1:]
    return Holds(
        begin=begin,
        hold=begin[1:] - holding,
        releaser=releases.releaser[rows],
        gap=gaps.of_release[rows],
    )
