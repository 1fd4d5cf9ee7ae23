"""The figures of a point: what `replay --json` says of it, as flat columns."""

from typing import Any, TypeAlias

from ...schemas.commands import CommandKind
from ...schemas.config_file import leaves
from ...schemas.stages import Block
from ...schemas.timeline import Timeline
from ..op_log import op_log_sha256
from ..summary import summary

Figure: TypeAlias = int | float | str | None
Figures: TypeAlias = tuple[Figure, ...]

STATUS, MAKESPAN, OP_LOG = "status", "makespan_ps", "op_log_sha256"
VIOLATIONS = "hazards.violations"

_UTILISATION = "utilisation"

_KINDS = [f"commands_by_kind.{kind.name.lower()}" for kind in CommandKind]
_ENGINES = [f"engines.{block}.{use}" for block in Block for use in ("busy_ps", _UTILISATION)]

COLUMNS: tuple[str, ...] = (
    STATUS,
    MAKESPAN,
    "stages",
    "commands",
    "dispatch_ps",
    *_KINDS,
    *_ENGINES,
    "dma_reads",
    "dma_read_bytes",
    "remote_reads",
    "remote_read_bytes",
    "remote_writes",
    "remote_write_bytes",
    "hazards.held",
    "hazards.held_ps",
    VIOLATIONS,
    OP_LOG,
)
"""The figures of every sweep, in order. Empty: a block that the machine has not, an op_log that was
not asked for, and all but the status of a point that deadlocks or is impossible."""


FIGURE_TYPES: dict[str, type[int | float | str]] = {
    **dict.fromkeys(COLUMNS, int),
    **{name: float for name in COLUMNS if name.endswith(_UTILISATION)},
    STATUS: str,
    OP_LOG: str,
}
"""Per figure what it is where it is not empty."""


def replayed_figures(timeline: Timeline, *, op_log: bool) -> Figures:
    """The figures of a full replay. The op_log is hashed only if asked for."""
    digest = op_log_sha256(timeline) if op_log else None
    found = leaves(summary(timeline, trace="", runner="", op_log_sha256=digest or ""))
    return in_order(dict.fromkeys(_KINDS, 0) | found | {OP_LOG: digest})


def deadlocked_figures(timeline: Timeline) -> Figures:
    """The status alone: what happened before a deadlock is no cost of the kernel."""
    return in_order({STATUS: str(timeline.status)})


def impossible_figures() -> Figures:
    """The status alone, of a point whose times would be too long."""
    return in_order({STATUS: "impossible"})


def in_order(found: dict[str, Any]) -> Figures:
    """The figures by name, as a point has them; None for those that are missing."""
    return tuple(found.get(column) for column in COLUMNS)
