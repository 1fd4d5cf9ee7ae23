"""A replay that cannot end: which commands wait for each other, and what would clear it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BlockedCommand:
    """A command that never finishes, and the one it waits for.

    `rank` and `command` place it; `verb` is its kind with its direction ("send E"); `line` its
    kernel line; `waits_for` says in words for what; `for_rank` and `for_command` place that.
    """

    rank: int
    command: int
    verb: str
    line: str
    waits_for: str
    for_rank: int
    for_command: int

    def __str__(self) -> str:
        return (
            f"PE {self.rank} command {self.command} {self.verb} ({self.line}) waits for"
            f" {self.waits_for}: PE {self.for_rank} command {self.for_command}"
        )


@dataclass(frozen=True, slots=True)
class Deadlock:
    """Why a replay cannot end.

    `cycle`: each waits for the next, the last for the first; commands of a PE that only wait for
    their turn are left out between the first and the one that holds them up. `tail`: the first
    blocked command of every other PE, by rank. `clearing_depth`: the smallest queue depth (slots)
    under which the same commands end, None where no depth does. `clearing_policies`: where no depth
    does, the shipped policies under which they end, the default first.
    """

    cycle: tuple[BlockedCommand, ...]
    tail: tuple[BlockedCommand, ...]
    clearing_depth: int | None
    clearing_policies: tuple[str, ...] = ()

    @property
    def remedy(self) -> str:
        """What clears it, in words."""
        return deadlock_remedy(self.clearing_depth, self.clearing_policies)


def deadlock_remedy(clearing_depth: int | None, clearing_policies: Sequence[str]) -> str:
    """What clears a deadlock: a queue depth and the option that gives it, or else other policies."""
    if clearing_depth is not None:
        depth = f"--set topology.ipcq.depth={clearing_depth}"
        return f"a queue depth of {clearing_depth} clears it: {depth}"
    if not clearing_policies:
        return "no queue depth and no shipped policy clears it"
    return f"no queue depth clears it; another policy does: {', '.join(clearing_policies)}"
