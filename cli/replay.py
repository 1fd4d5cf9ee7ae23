"""`kerntape replay`: a trace under a calibration and a hazard policy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..replay.policy_table import PolicyRow, PolicyTable
    from ..replay.summary import BlockUse
    from ..schemas.deadlock import Deadlock

DONE = 0
FINDING = 3

SUMMARY = "replay a trace under a calibration, a hazard policy and a topology"
EVERY_POLICY = "all"
UNKNOWN = "–"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options. Names are resolved when the command runs."""
    parser.add_argument("trace", metavar="X.ktrace", help="a trace that `kerntape capture` wrote")
    add_model_options(parser, more_policies=f"; {EVERY_POLICY}: a table of those that ship")
    parser.add_argument(
        "--check-data",
        action="store_true",
        help="re-execute the kept inputs in time order: is the result still right?",
    )
    parser.add_argument("-o", "--output", metavar="X.ktimeline", help="write the timeline")
    parser.add_argument("--op-log", metavar="FILE", help="write the timeline as canonical text")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_model_options(parser: argparse.ArgumentParser, more_policies: str = "") -> None:
    """The options that choose the model; `view` has them too. `more_policies` ends --hazards' help."""
    parser.add_argument("--calibration", metavar="C", help="a shipped calibration or a YAML file")
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="change one number of the calibration, for example pe_cpu.fixed_cycles=20",
    )
    parser.add_argument(
        "--hazards",
        "--policy",
        dest="policy",
        default="strict_fifo",
        metavar="P",
        help=f"a shipped hazard policy or a YAML file (default: strict_fifo){more_policies}",
    )
    parser.add_argument("--topology", metavar="T", help="another machine with the trace's layout")
    parser.add_argument(
        "--runner",
        default="compiled",
        metavar="R",
        help="compiled (default) or simpy, the readable reference",
    )


def run(arguments: argparse.Namespace) -> int:
    """Replays and writes what was asked for, or compares the policies; prints what came out."""
    if arguments.policy == EVERY_POLICY:
        return _compare_policies(arguments)
    return _replay_once(arguments)


def _replay_once(arguments: argparse.Namespace) -> int:
    from pathlib import Path

    from ..replay.check_data.report import check_json, check_lines
    from ..replay.op_log import op_log_sha256, write_op_log
    from ..replay.replay import replay
    from ..replay.summary import channel_uses, summary
    from ..schemas.timeline_file import write_timeline
    from ..schemas.trace_file import read_trace
    from ..topologies.loader import resolve_topology
    from .output_files import check_output_files
    from .printing import print_json
    from .working import working

    check_output_files(
        [("--output", arguments.output), ("--op-log", arguments.op_log)],
        [
            ("the trace", arguments.trace),
            ("--topology", arguments.topology),
            ("--calibration", arguments.calibration),
            ("--hazards", arguments.policy),
        ],
    )
    with working("replaying"):
        timeline = replay(
            read_trace(Path(arguments.trace)),
            topology=resolve_topology(arguments.topology) if arguments.topology else None,
            calibration=arguments.calibration,
            settings=arguments.settings,
            policy=arguments.policy,
            runner=arguments.runner,
        )
    checked = None
    if arguments.check_data and timeline.deadlock is None:
        from ..replay.check_data.check import check_data

        with working("checking the data"):
            checked = check_data(timeline)
    log_sha256 = ""
    if arguments.op_log:
        log_sha256 = write_op_log(Path(arguments.op_log), timeline)
    elif arguments.json:
        log_sha256 = op_log_sha256(timeline)
    if arguments.output:
        write_timeline(Path(arguments.output), timeline)
    figures = summary(
        timeline,
        trace=Path(arguments.trace).name,
        runner=arguments.runner,
        op_log_sha256=log_sha256,
    )
    if arguments.json:
        print_json(figures if checked is None else figures | {"data": check_json(checked)})
    else:
        print(summary_text(figures, channel_uses(timeline)))
        print(deadlock_text(timeline.deadlock), end="")
        if checked is not None:
            print("", *check_lines(checked), sep="\n")
    wrong = checked is not None and not checked.right
    finding = wrong or timeline.deadlock is not None or figures["hazards"]["violations"]
    return FINDING if finding else DONE


def _compare_policies(arguments: argparse.Namespace) -> int:
    """The table is the answer whatever it says of hazards and values; a deadlock is a finding."""
    from pathlib import Path

    from ..replay.policy_table import policy_table, policy_table_json
    from ..schemas.trace_file import read_trace
    from ..topologies.loader import resolve_topology
    from .printing import print_json
    from .progress import Progress

    _refuse_files_of_one_replay(arguments)
    progress = Progress("policies")
    table = policy_table(
        read_trace(Path(arguments.trace)),
        topology=resolve_topology(arguments.topology) if arguments.topology else None,
        calibration=arguments.calibration,
        settings=arguments.settings,
        runner=arguments.runner,
        check_values=arguments.check_data,
        watch=progress,
    )
    progress.clear()
    name = Path(arguments.trace).name
    if arguments.json:
        print_json(policy_table_json(table, trace=name, runner=arguments.runner))
    else:
        print(f"{name} on {table.topology}, {table.calibration}\n")
        print(policy_table_text(table))
    return FINDING if table.deadlocked else DONE


def _refuse_files_of_one_replay(arguments: argparse.Namespace) -> None:
    from ..schemas.errors import ConfigError

    for option, file in (("--output", arguments.output), ("--op-log", arguments.op_log)):
        if file:
            raise ConfigError(
                f"{option} must be left out with --hazards {EVERY_POLICY}, which is not one replay;"
                " name one policy"
            )


def policy_table_text(table: PolicyTable) -> str:
    """The table for a person."""
    from .printing import aligned

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
    from .printing import aligned

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
    from .printing import aligned

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
    depth = deadlock.clearing_depth
    cure = "no queue depth clears it" if depth is None else f"ipcq.depth {depth} clears it"
    return "\n".join([*lines, cure, ""])
