"""`kerntape hazards`: which pairs of commands a policy leaves unordered, whatever the calibration."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .flow import counted
from .model_options import (
    EVERY_POLICY,
    FILE_HELP,
    add_machine_options,
    add_policy_option,
    policy_meaning,
)

if TYPE_CHECKING:
    from ..replay.hazards.patterns import Pair, Party, Pattern
    from ..replay.hazards.potential import StaticCheck
    from ..replay.hazards.shared import SharedTensor
    from ..schemas.deadlock import Deadlock
    from ..schemas.hazard_policy import HazardPolicy
    from ..schemas.topology import Topology
    from ..schemas.trace import Trace

SUMMARY = "find the hazards a policy leaves possible, whatever the numbers"

NONE_FOUND = 0
FINDING = 3

MORE_SLOTS = " more scratch slots,"

ADVICE = (
    "To order them: a tl.wait after the earlier command and before the later one (in a loop, at\n"
    "its end),{slots} or a policy that compares bytes (byte_range, rw_aware, serial)."
)

_PHRASES = {
    "RAW": ("reads what", "may not have written yet"),
    "WAR": ("writes over what", "may still be reading"),
    "WAW": ("writes over what", "may yet write"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The trace, the policy, the machine and the form of the answer."""
    parser.add_argument(
        "trace",
        metavar="X.ktrace",
        help=FILE_HELP,
    )
    add_policy_option(parser, policy_meaning("how many each that ships leaves possible"))
    add_machine_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Checks, prints, and returns 3 where a hazard is possible, or no replay ends.

    KerntapeError for a bad file or name, and for a trace that cannot be replayed.
    """
    from pathlib import Path

    from ..replay.deadlock import check_plannable
    from ..replay.machine import resolve_model
    from .model_options import chosen_policy, chosen_topology, read_replayed

    replayed = read_replayed(Path(arguments.trace))
    trace, named = replayed.trace, chosen_topology(replayed, arguments.topology)
    machine, _ = resolve_model(trace, named, settings=arguments.settings, own=replayed.calibration)
    check_plannable(trace, machine)  # a verdict on all replays needs one
    if arguments.policy == EVERY_POLICY:
        return _compare_policies(trace, machine, arguments)
    return _check_one(trace, machine, chosen_policy(replayed, arguments.policy), arguments)


def _chosen_machine(machine: Topology, arguments: argparse.Namespace) -> str:
    """What tells a person which machine it is; nothing where it is the file's own."""
    is_own = arguments.topology is None and not arguments.settings
    return "" if is_own else f" on {machine.name}"


def _check_one(
    trace: Trace, machine: Topology, policy: HazardPolicy, arguments: argparse.Namespace
) -> int:
    from ..replay.deadlock import find_deadlock
    from ..replay.hazards.potential import check_statically
    from ..replay.hazards.shared import shared_tensors
    from .working import working

    with working("checking every pair"):
        checked = check_statically(trace, machine, policy)
        deadlock = find_deadlock(trace, machine, policy)
    shared = shared_tensors(trace)
    if arguments.json:
        lines = json_lines(trace, machine.name, policy.name, checked, shared, deadlock)
    else:
        model = policy.name + _chosen_machine(machine, arguments)
        lines = text_lines(trace, model, checked, shared, deadlock)
    for line in lines:
        print(line)
    return FINDING if len(checked.hazards) or deadlock else NONE_FOUND


def _compare_policies(trace: Trace, machine: Topology, arguments: argparse.Namespace) -> int:
    """A finding under any of the policies is one."""
    from ..replay.hazards.every_policy import leave_possible
    from ..replay.hazards.shared import shared_tensors
    from .hazards_table import table_json, table_text
    from .printing import print_json
    from .progress import Progress

    progress = Progress("policies")
    rows = leave_possible(trace, machine, watch=progress)
    progress.clear()
    shared = shared_tensors(trace)
    if arguments.json:
        print_json(table_json(rows, machine.name, len(trace.pes), shared))
    else:
        on = _chosen_machine(machine, arguments)
        print(table_text(rows, f"{counted(len(trace.pes), 'PE')}{on}", len(shared)))
    return FINDING if any(row.count or not row.ends for row in rows) else NONE_FOUND


def json_lines(
    trace: Trace,
    topology: str,
    policy: str,
    checked: StaticCheck,
    shared: tuple[SharedTensor, ...],
    deadlock: Deadlock | None,
) -> Iterator[str]:
    """One JSON object, a hazard a line: there may be millions."""
    from dataclasses import asdict

    from ..replay.hazards.patterns import pair

    count = len(checked.hazards)
    totals = {
        "policy": policy,
        "topology": topology,
        "pes": len(trace.pes),
        "pairs_checked": checked.pairs_checked,
        "count": count,
        "shared_tensors": [asdict(tensor) for tensor in shared],
        "deadlock": None if deadlock is None else asdict(deadlock),
    }
    yield "{"
    for name, value in totals.items():
        yield f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},"
    yield '  "hazards": ['
    for row in range(count):
        hazard = json.dumps(pair_figures(pair(trace, checked.hazards, row)), ensure_ascii=False)
        yield f"    {hazard}{',' if row + 1 < count else ''}"
    yield "  ]"
    yield "}"


def pair_figures(pair: Pair) -> dict[str, Any]:
    """A hazard as `--json` prints it. `pe` is a rank; `handle` the earlier command's name for the
    bytes; `byte_from` and `byte_to` (exclusive) TCM addresses, or offsets in the HBM tensor."""
    return {
        "kind": str(pair.kind),
        "pe": pair.rank,
        "earlier": _party_figures(pair.earlier),
        "later": _party_figures(pair.later),
        "handle": pair.earlier.handle,
        "space": str(pair.space),
        "byte_from": pair.byte_from,
        "byte_to": pair.byte_to,
    }


def _party_figures(party: Party) -> dict[str, Any]:
    return {
        "command": party.command,
        "op": party.op,
        "op_kind": party.op_kind,
        "kind": party.kind.name.lower(),
        "handle": party.handle,
        "line": str(party.line),
    }


def text_lines(
    trace: Trace,
    model: str,
    checked: StaticCheck,
    shared: tuple[SharedTensor, ...],
    deadlock: Deadlock | None,
) -> Iterator[str]:
    """The verdict, then the hazards grouped by what a kernel's author would change, then what was not
    looked at, and last the deadlock in which every replay stops. `model`: the policy, and the machine
    where it was chosen."""
    from ..replay.hazards.shared import shared_lines
    from .replay_text import deadlock_text

    yield from _verdict_lines(trace, model, checked, within=" within a PE" if shared else "")
    if shared:
        yield from [""] if len(checked.hazards) else []
        yield from shared_lines(shared)
    yield from deadlock_text(deadlock).splitlines()


def _verdict_lines(trace: Trace, model: str, checked: StaticCheck, within: str) -> Iterator[str]:
    """`within` says where a hazard was looked for, if not everywhere."""
    from ..replay.hazards.patterns import patterns

    found = patterns(trace, checked.hazards)
    compared = f"{counted(checked.pairs_checked, 'unordered pair')} compared"
    on_pes = f"{counted(len(trace.pes), 'PE')}, {compared}"
    if not found:
        yield f"{model}: no hazard is possible{within}, under any calibration ({on_pes})."
        return
    yield f"{model}: {counted(len(checked.hazards), 'pair')} of commands can go wrong ({on_pes})."
    yield "Nothing orders them, so whether they do in a replay depends on the calibration."
    for pattern in found:
        yield ""
        yield from _pattern_lines(pattern, len(trace.pes))
    yield ""
    yield ADVICE.format(slots=MORE_SLOTS if any(map(_more_slots_help, found)) else "")


def _more_slots_help(pattern: Pattern) -> bool:
    """Whether it is about bytes that are used again by composites: the scheduler holds only these for
    others, so that it can have ended what used the bytes so many slots ago.
    """
    from ..schemas.commands import CommandKind
    from ..schemas.hazard_policy import HazardKind

    first = pattern.first
    are_composites = first.earlier.kind is first.later.kind is CommandKind.COMPOSITE
    return are_composites and first.kind is not HazardKind.RAW


def _pattern_lines(pattern: Pattern, launched: int) -> Iterator[str]:
    first = pattern.first
    names = dict.fromkeys((first.earlier.handle, first.later.handle))
    spread = "" if launched == 1 else f" on {counted(pattern.pes, 'PE')}"
    example = "" if pattern.count == 1 else f", {pattern.count:,} times{spread}; the first"
    where = "" if launched == 1 else f" on PE {first.rank}"
    yield (
        f"{first.kind} on {' / '.join(names)}{example}{where}"
        f" ({first.space} {first.byte_from:#x}–{first.byte_to:#x}):"
    )
    does, undone = _PHRASES[first.kind]
    yield f"  {_described(first.later)} {does}"
    yield f"  {_described(first.earlier)} {undone}"
    for line in dict.fromkeys((first.later.line, first.earlier.line)):
        yield f"    {line}  {line.text.strip()}"


def _described(party: Party) -> str:
    kind = party.kind.name.lower()
    op = "" if party.op_kind in ("", kind) else f", op {party.op} {party.op_kind}"
    return f"command {party.command} [{kind}{op}, {party.line}]"
