"""`kerntape inspect`: what a trace or a timeline holds, after checking all of it.

Of a trace it also says whether its replays end: under one calibration as under every other.
"""

import argparse
from typing import TYPE_CHECKING, Any

from .inspect_text import inspection_text
from .model_options import add_machine_options, add_policy_option, check_one_policy
from .printing import print_json
from .usage import number_from

if TYPE_CHECKING:
    from pathlib import Path

    from ..schemas.trace import PeEntry, Trace

SUMMARY = "check a trace or a timeline, and show what it holds"

DONE = 0
FINDING = 3
DEFAULT_COMMANDS = 10

Facts = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE is a .ktrace or a .ktimeline; its first bytes say which."""
    parser.add_argument("file", metavar="FILE", help="a .ktrace or .ktimeline file")
    parser.add_argument(
        "--pe",
        type=number_from(0),
        metavar="N",
        help="list the commands of the PE of rank N (default: the first; of a timeline no list unless"
        " one of these three options is given)",
    )
    parser.add_argument(
        "--commands",
        type=number_from(0),
        metavar="N",
        help=f"how many commands to list (default: {DEFAULT_COMMANDS})",
    )
    parser.add_argument(
        "--from",
        dest="first",
        type=number_from(0),
        metavar="N",
        help="the first command to list (default: 0)",
    )
    add_policy_option(
        parser,
        "of a trace: the policy under which to look for a deadlock (default: strict_fifo); a report"
        " names the others that have none",
    )
    add_machine_options(parser, of="of a trace: ")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Reads, checks and prints; 3 where a trace's replays cannot end.

    Raises FileError where the file is not whole and sound.
    """
    from pathlib import Path

    from ..schemas.trace_file import is_trace

    check_one_policy(arguments.policy)
    path = Path(arguments.file)
    read = _trace_facts if is_trace(path) else _timeline_facts
    facts = read(path, arguments)
    if arguments.json:
        print_json(facts)
    else:
        print(inspection_text(facts))
    stops = facts["format"] == "ktrace" and facts["deadlock_check"]["free"] is False
    return FINDING if stops else DONE


def _trace_facts(path: "Path", arguments: argparse.Namespace) -> Facts:
    from ..schemas.trace_facts import trace_facts
    from ..schemas.trace_file import read_trace_file

    file = read_trace_file(path)
    return {
        **_file_facts(path, "ktrace"),
        **trace_facts(file),
        "deadlock_check": _deadlock_check(file.trace, arguments),
        "pe": _listed_pe(file.trace, arguments),
    }


def _deadlock_check(trace: "Trace", arguments: argparse.Namespace) -> Facts:
    """Whether the trace's replays end. `free` is None where it cannot be replayed.

    Raises ConfigError for a policy, topology or setting that cannot be.
    """
    from ..replay.deadlock import find_deadlock
    from ..replay.machine import resolve_model
    from ..replay.policy import DEFAULT_POLICY, resolve_policy
    from ..schemas.errors import KerntapeError
    from ..schemas.trace_facts import deadlock_facts
    from ..topologies.loader import resolve_topology
    from .working import working

    policy = resolve_policy(DEFAULT_POLICY if arguments.policy is None else arguments.policy)
    named = None if arguments.topology is None else resolve_topology(arguments.topology)
    machine, _ = resolve_model(trace, named, settings=arguments.settings)
    facts: Facts = {
        "policy": policy.name,
        "topology": machine.name,
        "free": None,
        "deadlock": None,
        "unknown_because": None,
    }
    try:
        with working("looking for a deadlock"):
            found = find_deadlock(trace, machine, policy)
    except KerntapeError as error:
        return facts | {"unknown_because": str(error)}
    return facts | {"free": found is None, "deadlock": found and deadlock_facts(found)}


def _timeline_facts(path: "Path", arguments: argparse.Namespace) -> Facts:
    from ..schemas.sections import TIMELINE_FORMAT
    from ..schemas.timeline_file import read_timeline
    from ..schemas.trace_facts import launch_facts, timeline_facts
    from ..schemas.trace_file import content_sha256

    timeline = read_timeline(path)
    trace = timeline.trace
    _check_no_model(arguments, timeline.policy.name, timeline.topology.name)
    is_listed = any(
        given is not None for given in (arguments.pe, arguments.commands, arguments.first)
    )
    return {
        **_file_facts(path, "ktimeline"),
        "version": TIMELINE_FORMAT.version,
        **timeline_facts(timeline),
        "trace": {"content_sha256": content_sha256(trace), **launch_facts(trace)},
        "pe": _listed_pe(trace, arguments) if is_listed else None,
    }


def _check_no_model(arguments: argparse.Namespace, policy: str, topology: str) -> None:
    """Raises ConfigError where a model is chosen for a timeline, which has its own."""
    from ..schemas.errors import ConfigError

    given = (
        ("--policy", arguments.policy, f"under {policy}"),
        ("--topology", arguments.topology, f"on {topology}"),
        ("--set", arguments.settings or None, f"on {topology}"),
    )
    for option, value, replayed in given:
        if value is not None:
            raise ConfigError(f"{option} is for a trace; this timeline was replayed {replayed}")


def _file_facts(path: "Path", file_format: str) -> Facts:
    return {
        "file": path.name,
        "format": file_format,
        "size_bytes": path.stat().st_size,
        "valid": True,
    }


def _listed_pe(trace: "Trace", arguments: argparse.Namespace) -> Facts:
    from ..schemas.trace_facts import pe_facts

    pe = _pe(trace, arguments.pe)
    first = arguments.first or 0
    shown = DEFAULT_COMMANDS if arguments.commands is None else arguments.commands
    _check_first(first, pe.rank, trace.streams[pe.stream].command_count)
    return pe_facts(trace, pe, first, shown)


def _check_first(first: int, rank: int, count: int) -> None:
    """Raises ConfigError where the first command to list is none of the PE's."""
    from ..schemas.errors import ConfigError

    if first and first >= count:
        last = f"its last is {count - 1}" if count else "it has none"
        raise ConfigError(f"--from must be a command of PE {rank}, not {first}: {last}")


def _pe(trace: "Trace", rank: int | None) -> "PeEntry":
    """The PE of that rank, the first where none is given. Raises ConfigError: not launched."""
    from ..schemas.errors import ConfigError

    if rank is None:
        return trace.pes[0]
    for pe in trace.pes:
        if pe.rank == rank:
            return pe
    first, last = trace.pes[0].rank, trace.pes[-1].rank
    raise ConfigError(
        f"--pe must be the rank of one of the {len(trace.pes)} launched PEs ({first} to {last}),"
        f" not {rank}"
    )
