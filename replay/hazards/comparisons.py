"""What a policy sees: the comparison that it names.

A comparison looks at a command and at those that may be unfinished when it begins. It returns those
it conflicts with, each with the number of the conflict in the table.
"""

from typing import Protocol

from ...schemas.hazard_policy import Compares, HazardPolicy
from .accesses import StreamAccesses
from .compare_bytes import Bytes, Everything
from .compare_handles import Handles, RwHandles
from .conflicts import ConflictTable
from .ordering import Unfinished


class Comparison(Protocol):
    """One way of comparing two commands."""

    def conflicts(self, command: int, unfinished: Unfinished, known: set[int]) -> dict[int, int]:
        """Those of `unfinished` but not of `known` that conflict with the command."""


class Nothing:
    """No two commands conflict."""

    def conflicts(self, command: int, unfinished: Unfinished, known: set[int]) -> dict[int, int]:
        return {}


def comparison_of(
    policy: HazardPolicy, accesses: StreamAccesses, table: ConflictTable
) -> Comparison:
    """The comparison that the policy names, for the kinds that it holds."""
    match policy.compares:
        case Compares.NOTHING:
            return Nothing()
        case Compares.RW_HANDLES:
            return RwHandles(accesses, table, policy)
        case Compares.HANDLES:
            return Handles(accesses, table, policy)
        case Compares.BYTES:
            return Bytes(accesses, table, frozenset(policy.kinds))
        case Compares.EVERYTHING:
            return Everything(accesses, table)
