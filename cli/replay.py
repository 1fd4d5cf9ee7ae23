"""`kerntape replay`: a trace under a calibration and a hazard policy."""

from __future__ import annotations

import argparse

DONE = 0
FINDING = 3

SUMMARY = "replay a trace under a calibration, a policy and a topology"
EVERY_POLICY = "all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options. Names are resolved when the command runs."""
    parser.add_argument(
        "trace",
        metavar="X.ktrace",
        help="a trace that `kerntape capture` wrote, or a .ktimeline: the trace inside, anew",
    )
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
        help="change one number of the calibration, for example pe_cpu.fixed_cycles=20, or of the"
        " topology's structure, for example topology.ipcq.depth=4",
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
    from ..schemas.timeline_file import read_trace_of, write_timeline
    from ..topologies.loader import resolve_topology
    from .output_files import check_output_files
    from .printing import print_json
    from .replay_text import deadlock_text, summary_text
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
            read_trace_of(Path(arguments.trace)),
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

    from ..replay.hazards.shared import not_compared_text
    from ..replay.policy_table import policy_table, policy_table_json
    from ..schemas.timeline_file import read_trace_of
    from ..topologies.loader import resolve_topology
    from .printing import print_json
    from .progress import Progress
    from .replay_text import policy_table_text

    _refuse_files_of_one_replay(arguments)
    progress = Progress("policies")
    table = policy_table(
        read_trace_of(Path(arguments.trace)),
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
        if table.shared_tensors:
            print(f"\n{not_compared_text(table.shared_tensors)}")
    return FINDING if table.deadlocked else DONE


def _refuse_files_of_one_replay(arguments: argparse.Namespace) -> None:
    from ..schemas.errors import ConfigError

    for option, file in (("--output", arguments.output), ("--op-log", arguments.op_log)):
        if file:
            raise ConfigError(
                f"{option} must be left out with --hazards {EVERY_POLICY}, which is not one replay;"
                " name one policy"
            )
