"""`kerntape replay`: a trace under a calibration and a hazard policy."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..schemas.errors import UsageError
from .model_options import EVERY_POLICY, FILE_HELP, add_model_options

if TYPE_CHECKING:
    from ..replay.policy_table import PolicyTable

DONE = 0
FINDING = 3

SUMMARY = "replay a trace under a calibration, a policy and a topology"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options. Names are resolved when the command runs."""
    parser.add_argument(
        "trace",
        metavar="X.ktrace",
        help=FILE_HELP,
    )
    add_model_options(parser, of_all="a table of those that ship")
    parser.add_argument(
        "--check-data",
        action="store_true",
        help="re-execute the kept inputs in time order: is the result still right?",
    )
    parser.add_argument("-o", "--output", metavar="X.ktimeline", help="write the timeline")
    parser.add_argument("--op-log", metavar="FILE", help="write the timeline as canonical text")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Replays and writes what was asked for, or compares the policies; prints what came out."""
    if arguments.policy == EVERY_POLICY:
        return _compare_policies(arguments)
    return _replay_once(arguments)


def _replay_once(arguments: argparse.Namespace) -> int:
    from ..replay.check_data.report import check_json, check_lines
    from ..replay.op_log import op_log_sha256, write_op_log
    from ..replay.replay import DEFAULT_RUNNER
    from ..replay.summary import channel_uses, summary
    from ..schemas.timeline_file import write_timeline
    from .model_options import read_replayed, replay_anew
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
        timeline = replay_anew(read_replayed(Path(arguments.trace)), arguments)
    checked = None
    if arguments.check_data and timeline.deadlock is None:
        from ..replay.check_data.check import check_data

        with working("checking the data"):
            checked = check_data(timeline)
    log_sha256 = ""
    if arguments.op_log is not None:
        log_sha256 = write_op_log(Path(arguments.op_log), timeline)
    elif arguments.json:
        log_sha256 = op_log_sha256(timeline)
    if arguments.output is not None:
        write_timeline(Path(arguments.output), timeline)
    figures = summary(
        timeline,
        trace=Path(arguments.trace).name,
        runner=arguments.runner or DEFAULT_RUNNER,
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
    """A finding under any of the policies is one."""
    from ..replay.hazards.shared import not_compared_text
    from ..replay.policy_table import policy_table_json
    from ..replay.replay import DEFAULT_RUNNER
    from .printing import print_json
    from .replay_text import policy_table_text

    _refuse_files_of_one_replay(arguments)
    runner = arguments.runner or DEFAULT_RUNNER
    table = _policy_table(arguments, runner)
    name = Path(arguments.trace).name
    if arguments.json:
        print_json(policy_table_json(table, trace=name, runner=runner))
    else:
        print(f"{name} on {table.topology}, {table.calibration}\n")
        print(policy_table_text(table))
        if table.shared_tensors:
            print(f"\n{not_compared_text(table.shared_tensors)}")
    return FINDING if any(row.is_finding for row in table.rows) else DONE


def _policy_table(arguments: argparse.Namespace, runner: str) -> PolicyTable:
    from ..replay.policy_table import policy_table
    from .model_options import chosen_topology, read_replayed
    from .progress import Progress

    progress = Progress("policies")
    replayed = read_replayed(Path(arguments.trace))
    table = policy_table(
        replayed.trace,
        topology=chosen_topology(replayed, arguments.topology),
        calibration=arguments.calibration,
        settings=arguments.settings,
        own=replayed.calibration,
        runner=runner,
        check_values=arguments.check_data,
        watch=progress,
    )
    progress.clear()
    return table


def _refuse_files_of_one_replay(arguments: argparse.Namespace) -> None:
    for option, file in (("--output", arguments.output), ("--op-log", arguments.op_log)):
        if file is not None:
            raise UsageError(
                f"{option} must be left out with --hazards {EVERY_POLICY}, which is not one replay;"
                " name one policy"
            )
