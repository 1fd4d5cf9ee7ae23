"""Hazards as columns: pairs of commands of one PE that touch the same bytes, one of them writing."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from .columns import Int8s, Int32s, Int64s
from .hazard_policy import HazardKind

KIND_NUMBERS = {kind: number for number, kind in enumerate(HazardKind)}
KINDS = tuple(HazardKind)


class Outcome(IntEnum):
    """What became of a pair. POTENTIAL: nothing orders it, in some replay it can go wrong."""

    HELD = 0
    VIOLATED = 1
    POTENTIAL = 2


@dataclass(frozen=True)
class Hazards:
    """One row a pair. `kind` indexes KINDS; `pe` Trace.pes; commands count within the PE; ops within
    the command; handles within the stream. `byte_from`, `byte_to` (exclusive) are the first shared
    run, in TCM addresses or offsets in the HBM tensor; both 0 where a policy held a pair that
    shares no byte. `cost_ps`: how long the later one was held, or how long the two overlapped, or 0.
    """

    outcome: Int8s
    kind: Int8s
    pe: Int32s
    earlier: Int32s
    earlier_op: Int32s
    earlier_handle: Int32s
    later: Int32s
    later_op: Int32s
    later_handle: Int32s
    byte_from: Int64s
    byte_to: Int64s
    cost_ps: Int64s

    def __len__(self) -> int:
        return len(self.outcome)

    def count(self, outcome: Outcome) -> int:
        return int(np.count_nonzero(self.outcome == outcome))


HAZARD_COLUMNS: dict[str, type[np.integer]] = {
    "outcome": np.int8,
    "kind": np.int8,
    "pe": np.int32,
    "earlier": np.int32,
    "earlier_op": np.int32,
    "earlier_handle": np.int32,
    "later": np.int32,
    "later_op": np.int32,
    "later_handle": np.int32,
    "byte_from": np.int64,
    "byte_to": np.int64,
    "cost_ps": np.int64,
}


def no_hazards() -> Hazards:
    """A table without rows."""
    return Hazards(**{name: np.zeros(0, dtype) for name, dtype in HAZARD_COLUMNS.items()})
