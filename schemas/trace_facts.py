"""What there is to say about a trace or timeline file, as plain data: the JSON of `inspect`.

The keys are listed in docs/trace-format.md and stay.
"""

from math import isfinite
from typing import Any

import numpy as np

from .commands import CommandKind, Scope
from .deadlock import Deadlock
from .handles import Handle
from .hazards import Outcome
from .stages import StageKind
from .timeline import Status, Timeline
from .trace import Command, KeptInputs, PeEntry, Trace
from .trace_checks import topology_of
from .trace_file import TraceFile

Facts = dict[str, Any]


def trace_facts(file: TraceFile) -> Facts:
    """A trace file: version, hashes and sections, and all of `launch_facts`."""
    inputs = file.trace.inputs
    commands = sum(stream.command_count for stream in file.trace.streams)
    column_bytes = file.section_bytes["columns"]
    return {
        "version": file.version,
        "header_sha256": file.header_sha256,
        "content_sha256": file.content_sha256,
        **launch_facts(file.trace),
        "section_bytes": dict(file.section_bytes),
        "column_bytes_per_command": round(column_bytes / commands, 3) if commands else 0.0,
        "kept_inputs": None if inputs is None else _input_facts(inputs),
    }


def launch_facts(trace: Trace) -> Facts:
    """A trace's header, counts and tables."""
    return {
        "header": _header_facts(trace),
        "sips": _sips(trace),
        "pes": len(trace.pes),
        "distinct_streams": len(trace.streams),
        "commands": trace.command_count,
        "commands_by_kind": commands_by_kind(trace),
        "distinct_commands": sum(stream.command_count for stream in trace.streams),
        "distinct_handles": sum(stream.handle_count for stream in trace.streams),
        "logical_bytes": logical_bytes(trace),
        "tables": {
            "strings": len(trace.strings),
            "geometries": len(trace.geometries),
            "forms": len(trace.forms),
            "lines": len(trace.lines),
        },
    }


def _sips(trace: Trace) -> list[int]:
    """The SIPs of the machine on which the launch ran."""
    topology = topology_of(trace.header)
    return sorted({topology.place(pe.rank).sip for pe in trace.pes})


def _header_facts(trace: Trace) -> Facts:
    header = trace.header
    return {
        "kernel": header.kernel,
        "arguments": _json(header.arguments),
        "topology": header.topology,
        "grid": list(header.grid),
        "tool_version": header.tool_version,
        "sources": header.sources,
        "tensors": [
            {
                "name": tensor.name,
                "shape": list(tensor.shape),
                "dtype": tensor.dtype,
                "placement": tensor.placement,
                "is_output": tensor.is_output,
            }
            for tensor in header.tensors
        ],
    }


def _input_facts(inputs: KeptInputs) -> Facts:
    return {"images": len(inputs.images), "bytes": sum(map(len, inputs.images.values()))}


def commands_by_kind(trace: Trace) -> dict[str, int]:
    """How many commands of each kind all PEs issue, in the kinds' order; kinds without are left out."""
    counts = np.zeros(len(CommandKind), dtype=np.int64)
    for pe in trace.pes:
        kinds = trace.form_kinds[trace.streams[pe.stream].forms]
        counts += np.bincount(kinds, minlength=len(CommandKind))
    return {kind.name.lower(): int(counts[kind]) for kind in CommandKind if counts[kind]}


def logical_bytes(trace: Trace) -> int:
    """The descriptors' size (DDD-0065 §4) of all PEs' commands."""
    of_forms = np.array([form.logical_bytes for form in trace.forms], dtype=np.int64)
    return sum(int(of_forms[trace.streams[pe.stream].forms].sum()) for pe in trace.pes)


def pe_facts(trace: Trace, pe: PeEntry, first: int, count: int) -> Facts:
    """One PE: its stream, its tensors' places, and `count` of its commands from `first` on."""
    stream = trace.streams[pe.stream]
    return {
        "rank": pe.rank,
        "stream": pe.stream,
        "commands": stream.command_count,
        "handles": stream.handle_count,
        "owners": list(pe.owners),
        "bases": list(pe.bases),
        "listed": [
            command_facts(command) for command in trace.commands(stream, first, first + count)
        ],
    }


def command_facts(command: Command) -> Facts:
    """A command, its ids resolved."""
    return {
        "index": command.index,
        "kind": command.kind.name.lower(),
        "direction": command.form.direction,
        "line": {
            "file": command.line.file,
            "number": command.line.number,
            "function": command.line.function,
            "text": command.line.text,
        },
        "logical_bytes": command.form.logical_bytes,
        "waits": list(command.waits),
        "ops": [_op_facts(command, index) for index in range(len(command.form.ops))],
        "rw_handles": [_handle_facts(handle) for handle in command.rw_handles],
    }


def _op_facts(command: Command, index: int) -> Facts:
    op, out = command.form.ops[index], command.op_out(index)
    return {
        "kind": op.kind,
        "scope": Scope(op.scope).name.lower(),
        "operands": {
            name: _handle_facts(handle) for name, handle in command.op_operands(index).items()
        },
        "out": None if out is None else _handle_facts(out),
        "scalars": _json(dict(op.extra)),
    }


def _json(value: Any) -> Any:
    """The same for JSON, which has no infinities: such numbers as text."""
    match value:
        case float() if not isfinite(value):
            return str(value)
        case list():
            return [_json(item) for item in value]
        case dict():
            return {key: _json(item) for key, item in value.items()}
    return value


def _handle_facts(handle: Handle) -> Facts:
    geometry = handle.geometry
    return {
        "id": handle.id,
        "label": handle.label,
        "shape": list(geometry.shape),
        "strides": list(geometry.strides),
        "is_contiguous": geometry.is_contiguous,
        "dtype": geometry.dtype.value,
        "space": geometry.space.value,
        "tensor": None if handle.tensor < 0 else handle.tensor,
        "address": handle.address,
    }


def timeline_facts(timeline: Timeline) -> Facts:
    """Status, times, stages, hazards and the models of a timeline; its trace is left to others."""
    kinds = np.bincount(timeline.stages.kind, minlength=max(StageKind) + 1)
    return {
        "status": timeline.status.value,
        "makespan_ps": timeline.makespan_ps,
        "topology": timeline.topology.name,
        "calibration": timeline.calibration.name,
        "policy": timeline.policy.name,
        "stages": len(timeline.stages),
        "stages_by_kind": {kind.title: int(kinds[kind]) for kind in StageKind if kinds[kind]},
        "engines": _engine_facts(timeline),
        "duration_classes": len(timeline.duration_classes),
        "hazards": _hazard_counts(timeline),
        "deadlock": None if timeline.deadlock is None else deadlock_facts(timeline.deadlock),
    }


def _hazard_counts(timeline: Timeline) -> dict[str, int | None]:
    """Pairs by outcome; None for what nobody looked for: a replay that stopped evaluates none, and one
    that did not stop tells what it saw, not what another may see.
    """
    counts: dict[str, int | None] = {
        outcome.name.lower(): timeline.hazards.count(outcome) for outcome in Outcome
    }
    if timeline.status is Status.DEADLOCK:
        return dict.fromkeys(counts)
    potential = Outcome.POTENTIAL.name.lower()
    return counts | {potential: counts[potential] or None}


def _engine_facts(timeline: Timeline) -> list[Facts]:
    """Per engine of the table: how many stages it served, and for how long."""
    count = len(timeline.engines)
    engine = timeline.stages.engine
    stages = np.bincount(engine, minlength=count)
    busy_ps = np.zeros(count, dtype=np.int64)
    np.add.at(busy_ps, engine, timeline.end_ps - timeline.start_ps)
    return [
        {
            "title": each.title,
            "rank": None if each.rank < 0 else each.rank,
            "stages": int(stages[number]),
            "busy_ps": int(busy_ps[number]),
        }
        for number, each in enumerate(timeline.engines)
    ]


def deadlock_facts(deadlock: Deadlock) -> Facts:
    """A deadlock, its commands in words."""
    return {
        "cycle": [str(blocked) for blocked in deadlock.cycle],
        "tail": [str(blocked) for blocked in deadlock.tail],
        "clearing_depth": deadlock.clearing_depth,
        "clearing_policies": list(deadlock.clearing_policies),
    }
