"""`kerntape sweep`: traces and policies under every combination of some numbers, in one table."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from ..replay.sweep.chunks import Workers
    from ..replay.sweep.plan import SweepPlan
    from ..replay.sweep.ranking import Flip, Ranking
    from ..replay.sweep.sweep import SweepOutcome

SUMMARY = "replay under many numbers, and find where the ranking flips"

DONE = 0
FINDING = 3
FLIPS_SHOWN = 10

FLIPLESS_SHOWN = 3
"""So many pairs without a flip are told one by one; of more, so many are named in one line."""

ALL = "all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options. Names and paths are resolved when the command runs."""
    parser.add_argument("traces", nargs="+", metavar="X.ktrace", help="traces to compare")
    parser.add_argument(
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
    who.add_argument(
        "--jobs", type=int, metavar="N", help="processes (default: one per core that is ours)"
    )
    who.add_argument(
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
    parser.add_argument("--grid", metavar="FILE", help="the same as YAML: PATH: [V1, V2, …]")
    parser.add_argument(
        "--hazards",
        "--policy",
        dest="policies",
        default="strict_fifo",
        metavar="P1,P2",
        help="hazard policies, shipped or YAML files, or 'all' (default: strict_fifo)",
    )
    parser.add_argument("--samples", type=int, metavar="N", help="with --latin-hypercube: how many")
    parser.add_argument(
        "--latin-hypercube", action="store_true", help="sample the ranges instead of every value"
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="with --samples: which ones (default: 0)"
    )


def _add_base(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--calibration", metavar="C", help="what is varied: shipped, or a YAML file"
    )
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="change one number of the calibration, or of topology.PATH, for all points",
    )
    parser.add_argument("--topology", metavar="T", help="another machine with the traces' layout")


def run(arguments: argparse.Namespace) -> int:
    """Sweeps, writes the results, prints how and what they say."""
    from pathlib import Path

    from ..replay.sweep.journal import journal_path
    from ..replay.sweep.results_file import check_results_path
    from ..replay.sweep.sweep import sweep
    from ..schemas.errors import KerntapeError
    from .output_files import check_output_files
    from .printing import print_json
    from .progress import Progress

    check_output_files([("--output", arguments.output)], _inputs(arguments))
    results = Path(arguments.output)
    check_results_path(results)
    workers = _workers(arguments)
    plan = _plan(arguments)
    progress = Progress("points")
    try:
        with workers as ready:
            outcome = sweep(plan, results, workers=ready, watch=progress)
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
    from ..replay.sweep.planning import Base, Sampling, plan_sweep
    from ..schemas.errors import ConfigError
    from ..topologies.loader import resolve_topology

    varied = [parse_vary(word) for word in arguments.vary]
    if arguments.grid is not None:
        varied += read_grid(Path(arguments.grid))
    sampling = None
    if arguments.latin_hypercube != (arguments.samples is not None):
        raise ConfigError("--samples N and --latin-hypercube must be given together")
    if arguments.latin_hypercube:
        sampling = Sampling(arguments.samples, arguments.seed or 0)
    elif arguments.seed is not None:
        raise ConfigError("--seed must come with --samples N --latin-hypercube; leave it out")
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


def _policies(words: str) -> list[str]:
    from ..replay.policy import shipped_policies
    from ..schemas.errors import ConfigError

    if words == ALL:
        return list(shipped_policies())
    names = [word.strip() for word in words.split(",")]
    if not all(names):
        raise ConfigError(f"--hazards must be policies separated by commas, not '{words}'")
    return names


def _workers(arguments: argparse.Namespace) -> AbstractContextManager[Workers]:
    """Who evaluates the points, inside the block. A cluster is reached when it is entered."""
    from contextlib import nullcontext

    from ..replay.sweep.local_workers import LocalWorkers

    if arguments.cluster is None:
        return nullcontext(LocalWorkers(_jobs(arguments.jobs)))
    from ..replay.sweep.cluster_workers import ClusterWorkers

    return ClusterWorkers(arguments.cluster)


def _jobs(given: int | None) -> int:
    from ..replay.sweep.local_workers import cores_here
    from ..schemas.errors import ConfigError

    if given is None:
        return cores_here()
    if given < 1:
        raise ConfigError(f"--jobs must be at least 1, not {given}")
    return given


def _say_what_is_kept(done: int, total: int, journal: Path) -> None:
    import sys

    if done and journal.exists():
        print(
            f"kerntape: {done:,} of {total:,} points are kept in {journal};"
            " the same command goes on from there",
            file=sys.stderr,
        )


def outcome_json(outcome: SweepOutcome, results: str) -> dict[str, Any]:
    """What `sweep --json` prints. Keys are stable (docs/sweeps.md lists them)."""
    from dataclasses import asdict

    return {
        "results": results,
        "points": outcome.points,
        "kept": outcome.kept,
        "followed": outcome.followed,
        "replayed": outcome.replayed,
        "deadlocked": outcome.deadlocked,
        "impossible": outcome.impossible,
        "rankings": [
            asdict(ranking)
            | {"flips": [asdict(flip) | {"at": dict(flip.at)} for flip in ranking.flips]}
            for ranking in outcome.rankings
        ],
    }


def outcome_text(outcome: SweepOutcome, results: str) -> str:
    """How the points were evaluated, and where the ranking flips."""
    kept = f", {outcome.kept:,} of them kept from before" if outcome.kept else ""
    deadlocked = f", {outcome.deadlocked:,} deadlocked" if outcome.deadlocked else ""
    impossible = (
        f", {outcome.impossible:,} impossible (times must stay below 2^62 ps)"
        if outcome.impossible
        else ""
    )
    lines = [
        f"{results}: {outcome.points:,} point{'s' if outcome.points != 1 else ''}{kept}",
        f"{outcome.followed:,} followed along a recorded order,"
        f" {outcome.replayed:,} replayed in full{deadlocked}{impossible}",
    ]
    for ranking in outcome.rankings:
        if ranking.flips:
            lines += ["", *_ranking_lines(ranking)]
    flipless = [ranking for ranking in outcome.rankings if not ranking.flips]
    if flipless:
        lines += ["", *_flipless_lines(flipless)]
    return "\n".join(lines)


def _flipless_lines(rankings: list[Ranking]) -> list[str]:
    """The counts of a few, the names of the first of many."""
    if len(rankings) <= FLIPLESS_SHOWN:
        return [line for ranking in rankings for line in _ranking_lines(ranking)]
    named = "; ".join(_pair_text(ranking) for ranking in rankings[:FLIPLESS_SHOWN])
    more = len(rankings) - FLIPLESS_SHOWN
    return [f"{len(rankings):,} pairs without a flip (--json has all): {named}; {more:,} more"]


def _pair_text(ranking: Ranking) -> str:
    return f"{ranking.first} against {ranking.second}, {ranking.under}"


def _ranking_lines(ranking: Ranking) -> list[str]:
    lines = [
        f"{_pair_text(ranking)}: faster at"
        f" {ranking.first_faster:,}, slower at {ranking.second_faster:,},"
        f" equal at {ranking.equal:,}"
    ]
    lines += [f"  {_flip_text(flip)}" for flip in ranking.flips[:FLIPS_SHOWN]]
    more = len(ranking.flips) - FLIPS_SHOWN
    if more > 0:
        lines.append(f"  … and {more:,} more flips (--json has them all)")
    return lines


def _flip_text(flip: Flip) -> str:
    from ..replay.sweep.axes import written_out

    at = "".join(f", {path} {written_out(value)}" for path, value in flip.at)
    return (
        f"flips between {flip.path} {written_out(flip.low)} and {written_out(flip.high)}:"
        f" {flip.faster_below} below, {flip.faster_above} above{at}"
    )
