"""What can go wrong in some replay: conflicting pairs that nothing orders, whatever the calibration.

Releases enter a command only at its begin and leave it only at its finish, so the order of commands
decides, and stages need not be looked at. PEs that share a stream are checked once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...schemas.hazard_policy import HazardPolicy
from ...schemas.hazards import Hazards, Outcome
from ...schemas.topology import Topology
from ...schemas.trace import Stream, Trace
from .accesses import StreamAccesses
from .compare_bytes import Bytes
from .conflicts import ALL_KINDS, ConflictTable
from .held import begins
from .pairs import PairCollector, StreamPairs, for_every_pe

Watch = Callable[[int, int], None]
"""Told how many commands are done, of how many. What it raises ends the check."""

COMMANDS_A_WORD = 256
"""After so many commands of a stream a watcher is told."""


def _nobody(done: int, total: int) -> None:
    """Watches nothing."""


@dataclass(frozen=True)
class StaticCheck:
    """The potential hazards, and how many unordered pairs of commands were compared for them.

    Both count every PE, though PEs that share a stream are checked once.
    """

    hazards: Hazards
    pairs_checked: int


def potential_hazards(
    trace: Trace, topology: Topology, policy: HazardPolicy, watch: Watch = _nobody
) -> Hazards:
    """Every pair of commands of one PE that shares bytes (TCM or HBM), one of them writing, and
    that nothing orders under the policy. By PE, then by the later command, then by the earlier."""
    return check_statically(trace, topology, policy, watch).hazards


def check_statically(
    trace: Trace, topology: Topology, policy: HazardPolicy, watch: Watch = _nobody
) -> StaticCheck:
    """As `potential_hazards`, and counts the pairs that were compared."""
    total = sum(stream.command_count for stream in trace.streams)
    checked, done = [], 0
    for stream in trace.streams:
        checked.append(_check_stream(trace, stream, topology, policy, _after(watch, done, total)))
        done += stream.command_count
    watch(total, total)
    pe, columns = for_every_pe(trace, [pairs for pairs, _ in checked])
    hazards = Hazards(
        outcome=np.full(len(pe), Outcome.POTENTIAL, dtype=np.int8),
        pe=pe,
        cost_ps=np.zeros(len(pe), dtype=np.int64),
        **columns,
    )
    return StaticCheck(hazards, sum(checked[entry.stream][1] for entry in trace.pes))


def _after(watch: Watch, done: int, total: int) -> Callable[[int], None]:
    """Watches a stream's commands, which come after others."""
    return lambda command: watch(done + command, total)


def _check_stream(
    trace: Trace,
    stream: Stream,
    topology: Topology,
    policy: HazardPolicy,
    watch: Callable[[int], None],
) -> tuple[StreamPairs, int]:
    collected = PairCollector()
    accesses = StreamAccesses(trace, stream)
    bytes_ = Bytes(accesses, collected.table, ALL_KINDS)
    pairs_checked = 0
    for begin in begins(accesses, topology, policy, ConflictTable()):
        if begin.command % COMMANDS_A_WORD == 0:
            watch(begin.command)
        if not accesses.accesses_anything(begin.command):
            continue
        pairs_checked += len(begin.unfinished.commands) - len(begin.known)
        found = bytes_.conflicts(begin.command, begin.unfinished, begin.known)
        for earlier in sorted(found):
            collected.add(earlier, begin.command, found[earlier])
    return collected.columns(trace, stream), pairs_checked
