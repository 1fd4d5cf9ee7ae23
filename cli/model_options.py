"""The options that choose a model, and what they make of a file: one rule for replay, hazards and view.

A trace is replayed under what is given, and the defaults. A timeline brings the model that it was
replayed under: what is not given stays as it is there.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..schemas.errors import UsageError
from .usage import Once, one_of

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

POLICY_NAMES = ("--hazards", "--policy")
"""Of one option, in every command that has it."""

FILE_HELP = "a trace that `kerntape capture` wrote, or a .ktimeline, which keeps the model it has"


def add_model_options(parser: argparse.ArgumentParser, of_all: str = "") -> None:
    """The options that choose the model of a replay. `of_all` says what the policy `all` gives, where
    there is such an answer.
    """
    parser.add_argument("--calibration", metavar="C", help="a shipped calibration or a YAML file")
    add_set_option(
        parser,
        "change one number of the calibration, for example pe_cpu.fixed_cycles=20, or of the"
        " topology's structure, for example topology.ipcq.depth=4",
    )
    add_policy_option(parser, of_all)
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
        parser, f"{of}change structure, for example topology.ipcq.depth=4", action=_AddStructure
    )


def add_topology_option(parser: argparse.ArgumentParser, meaning: str) -> None:
    """The option that names a machine; None where it is not given."""
    parser.add_argument("--topology", metavar="T", help=meaning)


class _AddSetting(argparse.Action):
    """One more setting. Raises as replay.machine.parsed_settings does, before any file is read."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        from ..replay.machine import parsed_settings

        words = [*getattr(namespace, self.dest), str(values)]
        parsed_settings(words)
        setattr(namespace, self.dest, words)


class _AddStructure(_AddSetting):
    """One more setting, which must be structure."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        from ..replay.machine import is_structure

        super().__call__(parser, namespace, values, option_string)
        if not is_structure(str(values)):
            raise UsageError(
                f"--set must name structure here, as in topology.ipcq.depth=4, not '{values}';"
                " the answer is the same under every calibration"
            )


def add_set_option(
    parser: argparse.ArgumentParser, meaning: str, action: type[_AddSetting] = _AddSetting
) -> None:
    """The option that changes one number of the model, as often as it is given."""
    parser.add_argument(
        "--set",
        dest="settings",
        action=action,
        type=str,
        default=[],
        metavar="PATH=VALUE",
        help=meaning,
    )


def add_policy_option(parser: argparse.ArgumentParser, of_all: str = "") -> None:
    """The option of both names that chooses the hazard policy; None where it is not given."""
    every = f"; {EVERY_POLICY}: {of_all}" if of_all else ""
    parser.add_argument(
        *POLICY_NAMES,
        dest="policy",
        action=Once,
        metavar="P",
        help=f"a shipped hazard policy or a YAML file (default: strict_fifo; of a timeline: its own)"
        f"{every}",
    )


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
