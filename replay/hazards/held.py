"""Which pairs of commands a policy orders: the holds that lowering turns into releases."""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from ...schemas.commands import CommandKind
from ...schemas.hazard_policy import HazardPolicy, Holds
from ...schemas.topology import Topology
from ...schemas.trace import Stream, Trace
from .accesses import StreamAccesses
from .comparisons import comparison_of
from .conflicts import ConflictTable
from .ordering import CommandOrder, Unfinished
from .pairs import PairCollector, StreamPairs

StreamHolds: TypeAlias = StreamPairs
"""The pairs of one stream that a policy holds."""

_HOLDABLE = {
    Holds.COMPOSITES: frozenset({CommandKind.COMPOSITE}),
    Holds.COMMANDS: frozenset(CommandKind),
}


class Begin(NamedTuple):
    """A command at its begin under a policy.

    `holds`: (earlier command, conflict number) of each hold, the earliest first. What may still be
    at work then is `unfinished` without `known`; both are the walk's own, to be looked at only.
    """

    command: int
    holds: list[tuple[int, int]]
    unfinished: Unfinished
    known: set[int]


def held_pairs(
    trace: Trace, stream: Stream, topology: Topology, policy: HazardPolicy
) -> StreamHolds:
    """The pairs that the policy must order because nothing else does, and no others.

    A composite is held at its admission, any other command at its dispatch. A pair that follows
    from other releases or other holds is left out. The cost of a command is what is in flight.
    """
    collected = PairCollector()
    accesses = StreamAccesses(trace, stream)
    for begin in begins(accesses, topology, policy, collected.table):
        for earlier, conflict in begin.holds:
            collected.add(earlier, begin.command, conflict)
    return collected.columns(trace, stream)


def begins(
    accesses: StreamAccesses, topology: Topology, policy: HazardPolicy, table: ConflictTable
) -> Iterator[Begin]:
    """Walks the stream in program order under the policy; the holds' conflicts go to `table`."""
    order = CommandOrder(accesses, topology, policy.passing)
    comparison = comparison_of(policy, accesses, table)
    holdable = _HOLDABLE[policy.holds]
    for command, kind in enumerate(accesses.kinds):
        known = order.begin(command)
        holds: list[tuple[int, int]] = []
        if kind in holdable:
            found = comparison.conflicts(command, order.unfinished, known)
            found = {one: found[one] for one in found if accesses.kinds[one] in holdable}
            holds = _hold(order, command, found, known)
        yield Begin(command, holds, order.unfinished, known)
        order.issue(command, known)


def _hold(
    order: CommandOrder, command: int, found: dict[int, int], known: set[int]
) -> list[tuple[int, int]]:
    """Holds the command for those found, the latest first, leaving out what then follows."""
    holds = []
    for earlier in sorted(found, reverse=True):
        if earlier in order.unfinished.commands and earlier not in known:
            order.hold(command, earlier, known)
            holds.append((earlier, found[earlier]))
    return holds[::-1]
