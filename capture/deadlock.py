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

    def spelled(self, peer_is_waiting: bool) -> str:
        """What it waits for, and from whom."""
        awaited = self.awaited
        finished = "" if peer_is_waiting else ", which has finished"
        return (
            f"PE {awaited.receiver} at {self.line} waits for message {awaited.position + 1}"
            f" from '{awaited.direction}' (PE {awaited.peer}{finished})"
        )


def explain(waiting: Mapping[int, Waiting], launched: int) -> str:
    """One line: how many wait, each cycle in order, then the tail in rank order."""
    cycles = _cycles(waiting)
    in_cycle = {rank for cycle in cycles for rank in cycle}
    parts = [f"capture deadlock: {len(waiting)} of {launched} PEs wait and none can go on"]
    spelled = {rank: each.spelled(each.awaited.peer in waiting) for rank, each in waiting.items()}
    parts += [f"cycle: {' → '.join(spelled[rank] for rank in cycle)}" for cycle in cycles]
    tail = [spelled[rank] for rank in sorted(waiting) if rank not in in_cycle]
    if tail:
        parts.append(f"waiting {'on it' if cycles else 'in vain'}: {', '.join(tail)}")
    return "; ".join(parts)


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
