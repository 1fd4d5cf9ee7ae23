"""`kerntape sweep`: traces and policies under every combination of some numbers, in one table."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..schemas.errors import UsageError, wrong_usage
from .model_options import (
    EVERY_POLICY,
    add_calibration_option,
    add_policy_option,
    add_set_option,
    add_topology_option,
)
from .printing import print_json
from .usage import add_once, number_from

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from ..replay.sweep.chunks import Workers
    from ..replay.sweep.plan import SweepPlan
    from ..replay.sweep.planning import Sampling

SUMMARY = "replay under many numbers: which matters, where rankings flip"

DONE = 0
FINDING = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options. Names and paths are resolved when the command runs."""
    parser.add_argument("traces", nargs="+", metavar="X.ktrace", help="traces to sweep")
    add_once(
        parser,
        "-o",
        "--output",
        required=True,
        metavar="RESULTS",
        help="one row a point: a .csv file, or a .parquet file (needs the extra 'sweep')",
    )
    _add_what_varies(parser)
    _add_base(parser)
    parser.add_argument(
        "--op-log-sha256",
        action="store_true",
        help="also hash every point's op_log, which takes a full replay of each",
    )
    who = parser.add_mutually_exclusive_group()
    add_once(
        who,
        "--jobs",
        type=number_from(1),
        metavar="N",
        help="processes (default: one per core that is ours)",
    )
    add_once(
        who,
        "--cluster",
        metavar="ADDRESS",
        help="tcp://HOST:PORT of a Dask scheduler whose workers evaluate the points (needs the extra"
        " 'cluster')",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_what_varies(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="PATH=V1,V2,…",
        help="a calibration's number, or topology.PATH for structure that a replay may change;"
        " PATH=LOW..HIGH to sample",
    )
    add_once(parser, "--grid", metavar="FILE", help="the same as YAML: PATH: [V1, V2, …]")
    add_policy_option(
        parser,
        "hazard policies, shipped or YAML files, or 'all' (default: strict_fifo)",
        dest="policies",
        metavar="P1,P2",
    )
    add_once(
        parser,
        "--samples",
        type=number_from(1),
        metavar="N",
        help="with --latin-hypercube: how many",
    )
    parser.add_argument(
        "--latin-hypercube", action="store_true", help="sample the ranges instead of every value"
    )
    add_once(
        parser,
        "--seed",
        type=number_from(0),
        metavar="N",
        help="with --samples: which ones (default: 0)",
    )


def _add_base(parser: argparse.ArgumentParser) -> None:
    add_calibration_option(parser, "what is varied: shipped, or a YAML file")
    add_set_option(
        parser, "change one number of the calibration, or of topology.PATH, for all points"
    )
    add_topology_option(parser, "another machine with the traces' layout")


def run(arguments: argparse.Namespace) -> int:
    """Sweeps, writes the results, prints how and what they say."""
    from pathlib import Path

    from ..replay.sweep.journal import journal_path
    from ..replay.sweep.results_file import check_results_path
    from ..replay.sweep.sweep import sweep
    from ..schemas.errors import KerntapeError
    from .output_files import check_output_files
    from .sweep_json import outcome_json
    from .sweep_progress import SweepProgress
    from .sweep_text import outcome_text

    check_output_files([("--output", arguments.output)], _inputs(arguments))
    results = Path(arguments.output)
    check_results_path(results)
    workers = _workers(arguments)
    plan = _plan(arguments)
    progress = SweepProgress(plan)
    try:
        with workers as ready:
            outcome = sweep(
                plan, results, workers=ready, watch=progress, command=_command(arguments)
            )
    except (KeyboardInterrupt, KerntapeError):
        progress.clear()
        _say_what_is_kept(progress.done, progress.total, journal_path(results))
        raise
    progress.clear()
    if arguments.json:
        print_json(outcome_json(outcome, results.name))
    else:
        print(outcome_text(outcome, results.name))
    return FINDING if outcome.deadlocked else DONE


def _command(arguments: argparse.Namespace) -> str:
    """The command line, as a shell takes it."""
    import shlex

    return shlex.join(["kerntape", "sweep", *arguments.words])


def _inputs(arguments: argparse.Namespace) -> list[tuple[str, str | None]]:
    return [
        *(("a trace", trace) for trace in arguments.traces),
        *(("a policy", policy) for policy in _policies(arguments.policies)),
        ("--grid", arguments.grid),
        ("--topology", arguments.topology),
        ("--calibration", arguments.calibration),
    ]


def _plan(arguments: argparse.Namespace) -> SweepPlan:
    from pathlib import Path

    from ..replay.sweep.axes import parse_vary, read_grid
    from ..replay.sweep.planning import Base, check_varied, plan_sweep
    from ..topologies.loader import resolve_topology

    varied = [parse_vary(word) for word in arguments.vary]
    sampling = _sampling(arguments)
    with wrong_usage():
        check_varied(varied, arguments.settings, sampling)
    if arguments.grid is not None:
        varied += read_grid(Path(arguments.grid))
    return plan_sweep(
        [Path(trace) for trace in arguments.traces],
        varied,
        policies=_policies(arguments.policies),
        sampling=sampling,
        base=Base(
            topology=(None if arguments.topology is None else resolve_topology(arguments.topology)),
            calibration=arguments.calibration,
            settings=arguments.settings,
        ),
        op_logs=arguments.op_log_sha256,
    )


def _sampling(arguments: argparse.Namespace) -> Sampling | None:
    """How many samples, and from which seed; None where every value is meant."""
    from ..replay.sweep.planning import Sampling

    if arguments.latin_hypercube != (arguments.samples is not None):
        raise UsageError("--samples N and --latin-hypercube must be given together")
    if not arguments.latin_hypercube:
        if arguments.seed is not None:
            raise UsageError("--seed must come with --samples N --latin-hypercube; leave it out")
        return None
    if not arguments.vary and arguments.grid is None:
        raise UsageError("--latin-hypercube must have something to sample: give --vary or --grid")
    return Sampling(arguments.samples, arguments.seed or 0)


def _policies(words: str | None) -> list[str]:
    from ..replay.policy import DEFAULT_POLICY, shipped_policies

    if words is None:
        return [DEFAULT_POLICY]
    if words == EVERY_POLICY:
        return list(shipped_policies())
    names = [word.strip() for word in words.split(",")]
    if not all(names):
        raise UsageError(f"--hazards must be policies separated by commas, not '{words}'")
    if EVERY_POLICY in names:
        raise UsageError(
            f"--hazards {EVERY_POLICY} stands alone: it is every policy that ships, not '{words}'"
        )
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--hazards must name a policy once, not '{name}' twice")
    return names


def _workers(arguments: argparse.Namespace) -> AbstractContextManager[Workers]:
    """Who evaluates the points, inside the block. A cluster is reached when it is entered."""
    from contextlib import nullcontext

    from ..replay.sweep.local_workers import LocalWorkers, cores_here

    if arguments.cluster is None:
        return nullcontext(LocalWorkers(arguments.jobs or cores_here()))
    from ..replay.sweep.cluster_workers import ClusterWorkers

    return ClusterWorkers(arguments.cluster)


def _say_what_is_kept(done: int, total: int, journal: Path) -> None:
    import sys

    from .flow import printable

    if done and journal.exists():
        print(
            f"kerntape: {done:,} of {total:,} points are kept in {printable(str(journal))};"
            " the same command goes on from there",
            file=sys.stderr,
        )
