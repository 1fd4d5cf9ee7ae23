"""Explains a capture in which no PE can go on: who waits for whom in a circle, and who waits on those.

Every waiting PE waits for one message of one peer, so "waits for" is a function, and following it
ends in a cycle or at a PE that has finished.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..schemas.trace import SourceLine
from .messages import Awaited


@dataclass(frozen=True, slots=True)
class Waiting:
    """A PE that cannot go on, and the kernel line at which it stands."""

    awaited: Awaited
    line: SourceLine

    def __str__(self) -> str:
        awaited = self.awaited
        return (
            f"PE {awaited.receiver} at {self.line} waits for message {awaited.position + 1}"
            f" from '{awaited.direction}' (PE {awaited.peer})"
        )


def explain(waiting: Mapping[int, Waiting], launched: int) -> str:
    """One line: how many wait, each cycle in order, then the tail in rank order."""
    cycles = _cycles(waiting)
    in_cycle = {rank for cycle in cycles for rank in cycle}
    parts = [f"capture deadlock: {len(waiting)} of {launched} PEs wait and none can go on"]
    parts += [f"cycle: {' → '.join(str(waiting[rank]) for rank in cycle)}" for cycle in cycles]
    tail = [_tail(waiting, rank) for rank in sorted(waiting) if rank not in in_cycle]
    if tail:
        parts.append(f"waiting on {'it' if cycles else 'them'}: {', '.join(tail)}")
    return "; ".join(parts)


def _tail(waiting: Mapping[int, Waiting], rank: int) -> str:
    peer = waiting[rank].awaited.peer
    return str(waiting[rank]) + ("" if peer in waiting else ", which has finished")


def _cycles(waiting: Mapping[int, Waiting]) -> list[list[int]]:
    """Each cycle once, from its least rank on."""
    cycles = []
    seen: set[int] = set()
    for first in sorted(waiting):
        path: list[int] = []
        rank = first
        while rank in waiting and rank not in seen:
            seen.add(rank)
            path.append(rank)
            rank = waiting[rank].awaited.peer
        if rank in path:
            cycle = path[path.index(rank) :]
            least = cycle.index(min(cycle))
            cycles.append(cycle[least:] + cycle[:least])
    return cycles
