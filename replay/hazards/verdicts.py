"""What becomes of one pair of commands under a policy: held, ordered all the same, or left to luck."""

from enum import StrEnum

from ...schemas.hazard_policy import HazardPolicy
from ...schemas.topology import Topology
from ...schemas.trace import Trace
from .accesses import StreamAccesses
from .conflicts import ConflictTable
from .held import begins


class Verdict(StrEnum):
    """HELD: the policy holds the later command for the earlier one. ORDERED: something else makes it
    begin after the earlier one has finished. UNORDERED: nothing does, under some calibration."""

    HELD = "held by"
    ORDERED = "ordered anyway under"
    UNORDERED = "open under"


def verdict(
    trace: Trace, topology: Topology, policy: HazardPolicy, pe: int, pair: tuple[int, int]
) -> Verdict:
    """What the policy makes of commands (earlier, later) of a PE (an index into Trace.pes).

    Walks the PE's stream in program order up to the later command. Raises IndexError where the
    stream has no such command.
    """
    earlier, later = pair
    accesses = StreamAccesses(trace, trace.streams[trace.pes[pe].stream])
    for begin in begins(accesses, topology, policy, ConflictTable()):
        if begin.command < later:
            continue
        if any(held == earlier for held, _ in begin.holds):
            return Verdict.HELD
        may_be_at_work = begin.unfinished.commands - begin.known
        return Verdict.UNORDERED if earlier in may_be_at_work else Verdict.ORDERED
    raise IndexError(f"the stream has no command {later}")
