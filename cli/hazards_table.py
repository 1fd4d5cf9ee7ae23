"""What `kerntape hazards --policy all` prints: the shipped policies, each by what it leaves possible."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..replay.hazards.shared import not_compared_text
from ..schemas.hazards import KINDS
from .printing import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..replay.hazards.every_policy import LeftPossible
    from ..replay.hazards.shared import SharedTensor


def table_text(rows: Sequence[LeftPossible], where: str, shared: int) -> str:
    """The table for a person, and where to read more. `where`: how many PEs, of which machine."""
    heads = ["policy", "can go wrong", *map(str, KINDS), "compared", "replays"]
    cells = [
        [
            row.policy,
            f"{row.count:,}",
            *(f"{row.by_kind[kind]:,}" for kind in KINDS),
            f"{row.pairs_checked:,}",
            "end" if row.ends else "deadlock",
        ]
        for row in rows
    ]
    table = aligned([heads, *cells], right=range(1, len(heads) - 1))
    lines = [
        f"Pairs of commands that can go wrong under any calibration, {where}:",
        "",
    ]
    lines += [table, "", "`kerntape hazards` with --policy P shows those of one."]
    if shared:
        lines += ["", not_compared_text(shared)]
    return "\n".join(lines)


def table_json(
    rows: Sequence[LeftPossible], topology: str, pes: int, shared: Sequence[SharedTensor]
) -> dict[str, Any]:
    """What it prints as JSON. Keys are stable (docs/hazards.md lists them)."""
    return {
        "topology": topology,
        "pes": pes,
        "shared_tensors": [asdict(tensor) for tensor in shared],
        "policies": [
            {
                "policy": row.policy,
                "pairs_checked": row.pairs_checked,
                "count": row.count,
                "by_kind": {str(kind): count for kind, count in row.by_kind.items()},
                "ends": row.ends,
            }
            for row in rows
        ],
    }
