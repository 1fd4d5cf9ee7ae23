"""The options that choose a model, and what they make of a file: one rule for replay, hazards and view.

A trace is replayed under what is given, and the defaults. A timeline brings the model that it was
replayed under: what is not given stays as it is there.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..schemas.errors import UsageError
from .usage import Fold, Folding, add_once, one_of

if TYPE_CHECKING:
    from pathlib import Path

    from ..schemas.calibration import Calibration
    from ..schemas.hazard_policy import HazardPolicy
    from ..schemas.timeline import Timeline
    from ..schemas.topology import Topology
    from ..schemas.trace import Trace

RUNNERS = ("compiled", "simpy")
"""As replay.replay has them, which is slow to import."""

EVERY_POLICY = "all"

FILE_HELP = "a trace that `kerntape capture` wrote, or a .ktimeline, which keeps the model it has"


def add_model_options(parser: argparse.ArgumentParser, of_all: str = "") -> None:
    """The options that choose the model of a replay; `of_all` as in `policy_meaning`."""
    add_calibration_option(parser, "a shipped calibration or a YAML file")
    add_set_option(
        parser,
        "change one number of the calibration, for example pe_cpu.fixed_cycles=20, or of the"
        " topology's structure, for example topology.ipcq.depth=4",
    )
    add_policy_option(parser, policy_meaning(of_all))
    add_topology_option(parser, "another machine with the trace's layout")
    parser.add_argument(
        "--runner",
        type=one_of(*RUNNERS),
        metavar="R",
        help="compiled (default) or simpy, the readable reference",
    )


def add_machine_options(parser: argparse.ArgumentParser, of: str = "") -> None:
    """The options of an answer that is the same under every calibration: they choose the machine alone.
    `of` says of which files.
    """
    add_topology_option(parser, f"{of}another machine with the trace's layout")
    add_set_option(
        parser, f"{of}change structure, for example topology.ipcq.depth=4", fold=_with_structure
    )


def add_topology_option(parser: argparse.ArgumentParser, meaning: str) -> None:
    """The option that names a machine; None where it is not given."""
    add_once(parser, "--topology", metavar="T", help=meaning)


def add_calibration_option(parser: argparse.ArgumentParser, meaning: str) -> None:
    """The option that names a calibration; None where it is not given."""
    add_once(parser, "--calibration", metavar="C", help=meaning)


def add_set_option(parser: argparse.ArgumentParser, meaning: str, fold: Fold | None = None) -> None:
    """The option that changes one number of the model, as often as it is given."""
    parser.add_argument(
        "--set",
        dest="settings",
        action=Folding,
        fold=fold or _with_setting,
        default=[],
        metavar="PATH=VALUE",
        help=meaning,
    )


def _with_setting(before: list[str], word: str) -> list[str]:
    """One more. Raises as replay.settings.parsed_settings does, before any file is read."""
    from ..replay.settings import parsed_settings

    words = [*before, word]
    parsed_settings(words)
    return words


def _with_structure(before: list[str], word: str) -> list[str]:
    """One more, which must be structure."""
    from ..replay.settings import is_structure

    if not is_structure(word):
        raise UsageError(
            f"--set must name structure here, as in topology.ipcq.depth=4, not '{word}';"
            " the answer is the same under every calibration"
        )
    return _with_setting(before, word)


def add_policy_option(
    parser: argparse.ArgumentParser, meaning: str, dest: str = "policy", metavar: str = "P"
) -> None:
    """The option of both names that chooses the hazard policy; None where it is not given."""
    add_once(parser, "--hazards", "--policy", dest=dest, metavar=metavar, help=meaning)


def policy_meaning(of_all: str = "") -> str:
    """Of a policy for a trace or a timeline; `of_all` says what the policy `all` gives, if anything."""
    every = f"; {EVERY_POLICY}: {of_all}" if of_all else ""
    own = "(default: strict_fifo; of a timeline: its own)"
    return f"a shipped hazard policy or a YAML file {own}{every}"


def check_one_policy(policy: str | None) -> None:
    """Raises UsageError for `all` where the answer is about one policy."""
    if policy == EVERY_POLICY:
        raise UsageError(
            f"--hazards must be one policy here, not '{EVERY_POLICY}';"
            " `kerntape replay`, `hazards` and `sweep` compare them"
        )


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a file says is to be replayed. Of a trace `topology` and `calibration` are None; `policy` is
    then the default.
    """

    trace: Trace
    topology: Topology | None
    calibration: Calibration | None
    policy: HazardPolicy


def read_replayed(path: Path) -> Replayed:
    """The trace, with the model that a timeline keeps. Raises FileError as the readers do."""
    from ..replay.policy import resolve_policy
    from ..schemas.timeline_file import read_timeline
    from ..schemas.trace_file import is_trace, read_trace

    if is_trace(path):
        return Replayed(read_trace(path), None, None, resolve_policy())
    timeline = read_timeline(path)
    return Replayed(timeline.trace, timeline.topology, timeline.calibration, timeline.policy)


def chosen_topology(replayed: Replayed, topology: str | None) -> Topology | None:
    """The machine that the option names, or the timeline's; None: the one that the trace has."""
    from ..topologies.loader import resolve_topology

    return replayed.topology if topology is None else resolve_topology(topology)


def chosen_policy(replayed: Replayed, policy: str | None) -> HazardPolicy:
    """The one that the option names, or the file's."""
    from ..replay.policy import resolve_policy

    return replayed.policy if policy is None else resolve_policy(policy)


def replay_anew(replayed: Replayed, arguments: argparse.Namespace) -> Timeline:
    """The timeline under the options. Raises ConfigError for one that names no model."""
    from ..replay.machine import resolve_model
    from ..replay.replay import DEFAULT_RUNNER, prepare, time

    machine, costs = resolve_model(
        replayed.trace,
        chosen_topology(replayed, arguments.topology),
        arguments.calibration,
        arguments.settings,
        replayed.calibration,
    )
    policy = chosen_policy(replayed, arguments.policy)
    return time(prepare(replayed.trace, machine, policy), costs, arguments.runner or DEFAULT_RUNNER)
