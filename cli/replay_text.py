"""What `kerntape replay` prints for a person. Knows no file and no terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..replay.hazards.shared import not_compared_text
from .printing import aligned

if TYPE_CHECKING:
    from ..replay.policy_table import PolicyRow, PolicyTable
    from ..replay.summary import BlockUse
    from ..schemas.deadlock import Deadlock

UNKNOWN = "–"


def policy_table_text(table: PolicyTable) -> str:
    """The table for a person."""
    heads = ["policy", "makespan", "held", "held for", "went wrong", "can go wrong", "data"]
    return aligned([heads, *map(_policy_cells, table.rows)], right=(1, 2, 3, 4, 5))


def _policy_cells(row: PolicyRow) -> list[str]:
    if row.hazards is None:
        cells = ["deadlock", UNKNOWN, UNKNOWN, UNKNOWN]
    else:
        figures = row.hazards
        cells = [
            f"{row.makespan_ps / 1e3:,.3f} ns",
            f"{figures['held']:,}",
            f"{figures['held_ps'] / 1e3:,.3f} ns",
            f"{figures['violations']:,}",
        ]
    data = {None: UNKNOWN, True: "right", False: "wrong"}[row.data_right]
    return [row.policy, *cells, f"{row.potential:,}", data]


def summary_text(figures: dict[str, Any], uses: dict[str, BlockUse]) -> str:
    """The figures for a person: what it took, what was busy, what the policy did."""
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in figures["commands_by_kind"].items())
    rows = [
        ["makespan", f"{figures['makespan_ps'] / 1e3:,.3f} ns"],
        ["model", f"{figures['topology']}, {figures['calibration']}, {figures['policy']}"],
        ["commands", f"{figures['commands']:,} ({kinds})"],
        ["stages", f"{figures['stages']:,}"],
        ["dispatch", f"{figures['dispatch_ps'] / 1e3:,.3f} ns"],
        ["DMA reads", f"{figures['dma_reads']:,} ({figures['dma_read_bytes']:,} bytes)"],
        *_remote_rows(figures),
        *_hazard_rows(figures["hazards"]),
        *_shared_rows(figures["shared_tensors"]),
    ]
    if figures["op_log_sha256"]:
        rows.append(["op_log", figures["op_log_sha256"]])
    busy = [
        [engine, f"{use.busy_ps / 1e3:,.3f} ns", f"{100 * use.utilisation:.1f} %"]
        for engine, use in uses.items()
    ]
    engines = aligned([["engine", "busy", ""], *busy], right=(1, 2))
    return f"{figures['trace']}\n{aligned(rows)}\n\n{engines}{links_text(figures['links'])}"


def _remote_rows(figures: dict[str, Any]) -> list[list[str]]:
    """What went to other PEs' HBM, where anything did."""
    if not figures["remote_reads"] and not figures["remote_writes"]:
        return []
    return [
        ["remote", f"{figures['remote_reads']:,} reads ({figures['remote_read_bytes']:,} bytes),"],
        ["", f"{figures['remote_writes']:,} writes ({figures['remote_write_bytes']:,} bytes)"],
    ]


LINKS_SHOWN = 8


def links_text(links: dict[str, dict[str, Any]]) -> str:
    """The links that most bytes crossed, and all of them together; nothing where there are none."""
    if not links:
        return ""
    ranked = sorted(links.items(), key=lambda link: -link[1]["bytes"])
    shown = [_link_cells(name, use["utilisation"], [use]) for name, use in ranked[:LINKS_SHOWN]]
    mean = sum(use["utilisation"] for use in links.values()) / len(links)
    if len(links) > len(shown):
        rest = [use for _, use in ranked[LINKS_SHOWN:]]
        rest_mean = sum(use["utilisation"] for use in rest) / len(rest)
        shown.append(_link_cells(f"{len(rest):,} more", rest_mean, rest))
    shown.append(_link_cells("all links", mean, [*links.values()]))
    return "\n\n" + aligned([["link", "bytes", "busy", ""], *shown], right=(1, 2, 3))


def _link_cells(name: str, utilisation: float, uses: list[dict[str, Any]]) -> list[str]:
    moved, busy_ps = (sum(use[figure] for use in uses) for figure in ("bytes", "busy_ps"))
    return [name, f"{moved:,}", f"{busy_ps / 1e3:,.3f} ns", f"{100 * utilisation:.1f} %"]


def _hazard_rows(hazards: dict[str, int | None]) -> list[list[str]]:
    held, held_ps, violations = hazards["held"], hazards["held_ps"], hazards["violations"]
    if held is None or held_ps is None or violations is None:
        return [["hazards", "not evaluated: the replay did not end"]]
    return [
        ["hazards", f"{held:,} held for {held_ps / 1e3:,.3f} ns in all,"],
        ["", f"{violations:,} went wrong"],
    ]


def _shared_rows(count: int) -> list[list[str]]:
    """What the hazards say nothing of, where several PEs reach one tensor and one of them writes."""
    return [["", not_compared_text(count)]] if count else []


TAIL_SHOWN = 16


def deadlock_text(deadlock: Deadlock | None) -> str:
    """The wait-for graph in words; nothing where the replay ended."""
    if deadlock is None:
        return ""
    lines = ["", "deadlock: these commands wait for each other, under every calibration"]
    lines += [f"  {blocked}" for blocked in deadlock.cycle]
    if deadlock.tail:
        lines += ["and hold up", *(f"  {blocked}" for blocked in deadlock.tail[:TAIL_SHOWN])]
        more = len(deadlock.tail) - TAIL_SHOWN
        lines += [f"  and the first command of {more:,} more PEs"] if more > 0 else []
    return "\n".join([*lines, deadlock.remedy, ""])
