"""`kerntape demo`: the whole path on the kernel that matters, in one table.

Captures decode attention in its three variants, replays each under every shipped calibration and
two hazard policies, and says what that shows. On a terminal the browser opens on opt2 afterwards.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..schemas.timeline import Timeline
    from ..schemas.topology import Topology
    from ..schemas.trace import Trace

SUMMARY = "capture, replay, compare and show decode attention: a first look"

TOPOLOGY = "single_pe"
VARIANTS = ("opt1", "opt2", "opt3")
POLICIES = ("strict_fifo", "rw_handles")
SHAPE = {"g": "8", "d": "128", "s_kv": "4096", "tile": "64"}
BLOCKS_SHOWN = ("pe_gemm", "pe_math", "hbm")
SHOWN_IN_BROWSER = ("opt2", "default", "strict_fifo")


@dataclass(frozen=True, slots=True)
class Row:
    """One replay of the table. `dispatch_ps_per_tile` is what one more KV tile adds to dispatch."""

    variant: str
    calibration: str
    policy: str
    makespan_ps: int
    dispatch_ps_per_tile: int
    utilisation: dict[str, float]
    held: int
    let_through: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "--no-view", action="store_true", help="print the table and do not open the browser"
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints the table; opens the browser where there is a terminal to open it in."""
    from .printing import between_words, terminal_columns
    from .view import on_terminal

    rows, shown = compare()
    print(table(rows))
    print()
    columns = terminal_columns()
    for sentence in finding(rows).splitlines():
        print(between_words(sentence, columns))
    if arguments.no_view or not on_terminal():
        return 0
    from ..viewer.app import browse

    browse(shown, title="gqa_decode opt2")
    return 0


def compare() -> tuple[list[Row], Timeline]:
    """Every replay of the demo, and the timeline that the browser shows."""
    from ..replay.calibration import (
        DEFAULT_CALIBRATION,
        resolve_calibration,
        shipped_calibrations,
    )
    from ..replay.policy import resolve_policy
    from ..replay.replay import prepare, time
    from ..topologies.loader import resolve_topology

    machine = resolve_topology(TOPOLOGY)
    names = sorted(shipped_calibrations(), key=lambda name: (name != DEFAULT_CALIBRATION, name))
    calibrations = [resolve_calibration(machine, name) for name in names]
    rows, shown = [], None
    for variant in VARIANTS:
        trace, shorter = _captured(variant, machine)
        for policy in POLICIES:
            lowered, less = (prepare(t, machine, resolve_policy(policy)) for t in (trace, shorter))
            for calibration in calibrations:
                timeline = time(lowered, calibration)
                rows.append(_row(variant, timeline, time(less, calibration)))
                if (variant, calibration.name, policy) == SHOWN_IN_BROWSER:
                    shown = timeline
    assert shown is not None, "the default calibration and strict_fifo ship"
    rows.sort(key=lambda row: (names.index(row.calibration), POLICIES.index(row.policy)))
    return rows, shown


def _captured(variant: str, machine: Topology) -> tuple[Trace, Trace]:
    """The variant's trace, and one of a KV tile less."""
    from ..capture.capture import capture

    arguments = {**SHAPE, "variant": variant}
    one_tile_less = {**arguments, "s_kv": str(int(SHAPE["s_kv"]) - int(SHAPE["tile"]))}
    return (
        capture("gqa_decode", machine, arguments).trace,
        capture("gqa_decode", machine, one_tile_less, with_data=False).trace,
    )


def _row(variant: str, timeline: Timeline, one_tile_less: Timeline) -> Row:
    from ..replay.summary import block_uses, dispatch_ps, hazard_totals

    uses, hazards = block_uses(timeline), hazard_totals(timeline)
    return Row(
        variant=variant,
        calibration=timeline.calibration.name,
        policy=timeline.policy.name,
        makespan_ps=timeline.makespan_ps,
        dispatch_ps_per_tile=dispatch_ps(timeline) - dispatch_ps(one_tile_less),
        utilisation={block: use.utilisation for block, use in uses.items()},
        held=hazards["held"],
        let_through=hazards["violations"],
    )


HEAD = (
    ("policy", "variant", "makespan", "dispatch", "opt3 ÷", "GEMM", "MATH", "HBM", "", "went"),
    ("", "", "µs", "ns/tile", "this", "%", "%", "%", "held", "wrong"),
)


def table(rows: list[Row]) -> str:
    """The rows for a person, under their calibration, which names each policy once. 80 columns have room
    for them.
    """
    from .printing import aligned

    cells: list[tuple[str, ...]] = list(HEAD)
    for (_, policy), group in groupby(rows, key=lambda row: (row.calibration, row.policy)):
        figures = [_figures(row, _peer(rows, row, "opt3")) for row in group]
        cells += [(policy, *figures[0]), *(("", *each) for each in figures[1:])]
    lines = aligned(cells, right=range(2, len(HEAD[0]))).splitlines()
    told = lines[: len(HEAD)]
    left = iter(lines[len(HEAD) :])
    for calibration, group in groupby(rows, key=lambda row: row.calibration):
        told += ["", f"under the calibration {calibration}", *(next(left) for _ in group)]
    return "\n".join(told)


def _figures(row: Row, opt3: Row) -> tuple[str, ...]:
    return (
        row.variant,
        f"{row.makespan_ps / 1e6:.2f}",
        f"{row.dispatch_ps_per_tile / 1e3:.3f}",
        _ratio(opt3.dispatch_ps_per_tile, row.dispatch_ps_per_tile),
        *(f"{100 * row.utilisation[block]:.1f}" for block in BLOCKS_SHOWN),
        str(row.held),
        str(row.let_through),
    )


def finding(rows: list[Row]) -> str:
    """What the table shows, in words; every number in it is one of the table's."""
    opt2 = next(r for r in rows if (r.variant, r.calibration, r.policy) == SHOWN_IN_BROWSER)
    opt3, opt1 = _peer(rows, opt2, "opt3"), _peer(rows, opt2, "opt1")
    letter = next(
        r for r in rows if (r.variant, r.calibration, r.policy) == ("opt2", "default", "rw_handles")
    )
    dispatch = _ratio(opt3.dispatch_ps_per_tile, opt2.dispatch_ps_per_tile)
    return (
        f"opt2 hands the softmax merge to the scheduler: {dispatch}× less dispatch a tile than opt3,"
        f" and the kernel ends {_ratio(opt3.makespan_ps, opt2.makespan_ps)}× sooner"
        f" ({_ratio(opt1.makespan_ps, opt2.makespan_ps)}× sooner than opt1)."
        f"\nIt is safe because strict_fifo holds {opt2.held} pairs back; rw_handles holds"
        f" {letter.held} and lets {letter.let_through} go wrong."
    )


def _peer(rows: list[Row], row: Row, variant: str) -> Row:
    """The same replay of another variant."""
    wanted = (variant, row.calibration, row.policy)
    return next(r for r in rows if (r.variant, r.calibration, r.policy) == wanted)


def _ratio(numerator: int, denominator: int) -> str:
    return f"{numerator / denominator:.2f}" if denominator else "–"
