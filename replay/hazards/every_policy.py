"""What each shipped hazard policy leaves possible in a trace, whatever the calibration."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...schemas.hazard_policy import HazardKind
from ...schemas.hazards import KINDS
from ...schemas.topology import Topology
from ...schemas.trace import Trace
from ..deadlock import policies_that_end
from ..policy import resolve_policy, shipped_policies
from .potential import check_statically


@dataclass(frozen=True, slots=True)
class LeftPossible:
    """Under `policy`: the unordered pairs compared, those that can go wrong by kind, and whether the
    replays end."""

    policy: str
    pairs_checked: int
    by_kind: dict[HazardKind, int]
    ends: bool

    @property
    def count(self) -> int:
        """All pairs that can go wrong."""
        return sum(self.by_kind.values())


def leave_possible(
    trace: Trace, topology: Topology, watch: Callable[[int, int], None]
) -> tuple[LeftPossible, ...]:
    """A row a shipped policy, those that leave the most first, then by name. `watch` is told how many
    are done, of how many. Raises KerntapeError where the model cannot express the trace.
    """
    names = list(shipped_policies())
    watch(0, len(names))
    ending = policies_that_end(trace, topology)
    rows = []
    for done, name in enumerate(names):
        watch(done, len(names))
        rows.append(_row(trace, topology, name, name in ending))
    watch(len(names), len(names))
    return tuple(sorted(rows, key=lambda row: (-row.count, row.policy)))


def _row(trace: Trace, topology: Topology, name: str, ends: bool) -> LeftPossible:
    checked = check_statically(trace, topology, resolve_policy(name))
    counts = np.bincount(checked.hazards.kind, minlength=len(KINDS)).tolist()
    return LeftPossible(
        policy=name,
        pairs_checked=checked.pairs_checked,
        by_kind=dict(zip(KINDS, counts, strict=True)),
        ends=ends,
    )
