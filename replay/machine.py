"""On which machine a trace is replayed: its own, another that its commands mean the same on, or either
with some of the structure changed that replay reads (see settings).
"""

from collections.abc import Iterator, Sequence

from ..schemas.calibration import Calibration
from ..schemas.config_file import check, with_values
from ..schemas.errors import ConfigError
from ..schemas.topology import Direction, Grid, Topology
from ..schemas.trace import Trace
from .calibration import resolve_calibration, with_settings
from .settings import LAYOUT, costs_of, parsed_settings, structure_of

CAPTURE_AGAIN = "capture again on this topology"


def topology_of(trace: Trace) -> Topology:
    """The topology that the trace was captured on."""
    return check(Topology, trace.header.topology, "the trace's topology")


def resolve_model(
    trace: Trace,
    topology: Topology | None = None,
    calibration: str | None = None,
    settings: Sequence[str] = (),
    own: Calibration | None = None,
) -> tuple[Topology, Calibration]:
    """The machine and the numbers of a replay. `settings` are `path=value` words: a calibration's
    numbers, or structure. A machine with changed structure has the changes in its name. Where no
    calibration is named, the numbers are `own` ones, if there are such, with the settings over them.

    Raises ConfigError as `resolve_calibration`, `parsed_settings` and `compatible` do.
    """
    machine = topology or topology_of(trace)
    chosen = parsed_settings(settings)
    structure, costs = structure_of(chosen), costs_of(chosen)
    lowered_for = _with_structure(machine, structure) if structure else machine
    if topology or structure:
        lowered_for = compatible(trace, lowered_for)
    if own is not None and calibration is None:
        return lowered_for, with_settings(own, costs)
    return lowered_for, resolve_calibration(machine, calibration, costs)


def _with_structure(machine: Topology, structure: dict[str, int]) -> Topology:
    changes = [f"{path}={value}" for path, value in structure.items()]
    changed = with_values(machine, structure, "--set topology")
    return changed.model_copy(update={"name": " + ".join([machine.name, *changes])})


def compatible(trace: Trace, topology: Topology) -> Topology:
    """The topology, if the trace's commands mean the same on it: it has the PEs that the trace runs on
    or places a tensor with, under the same ranks, the directions that it sends and receives in, and the
    trace's TCM layout, HBM and composite cap. Raises ConfigError naming the first difference.
    """
    captured = topology_of(trace)
    for complaint in _complaints(trace, captured, topology):
        raise ConfigError(f"topology '{topology.name}': {complaint}; {CAPTURE_AGAIN}")
    return topology


def _complaints(trace: Trace, captured: Topology, topology: Topology) -> Iterator[str]:
    """What keeps the trace from being replayed there, the first first."""
    yield from _differing(captured, topology, ("cubes", "pes"))
    yield from _missing_pes(trace, topology)
    yield from _differing_directions(trace, captured, topology)
    yield from _differing(captured, topology, LAYOUT)


def _differing(captured: Topology, topology: Topology, paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        ours, theirs = _at(captured, path), _at(topology, path)
        if theirs != ours:
            yield f"{path} must be the trace's ({_said(ours)}), not {_said(theirs)}"


def _missing_pes(trace: Trace, topology: Topology) -> Iterator[str]:
    """CUBEs and PEs being equal, ranks mean the same: only SIPs can be too few."""
    runs = [pe.rank for pe in trace.pes]
    holds = sorted({owner for pe in trace.pes for owner in pe.owners})
    for ranks, which in ((runs, "which runs it"), (holds, "which holds a tensor of it")):
        for rank in ranks:
            if rank >= topology.pe_count:
                sips = topology.place(rank).sip + 1
                yield f"the trace has PE {rank}, {which}: sips must be {sips} or more, not {topology.sips}"


def _differing_directions(trace: Trace, captured: Topology, topology: Topology) -> Iterator[str]:
    """Of those in which the trace sends or receives. Other PEs' HBM is reached over any wires that
    lead there, whatever their names (schemas/wires.py)."""
    used = {form.direction for form in trace.forms}
    for name, ours in captured.directions.items():
        theirs = topology.directions.get(name)
        if name not in used or theirs == ours:
            continue
        if theirs is None:
            yield f"has no direction '{name}', which must be the trace's ({_said(ours)})"
        else:
            yield f"directions.{name} must be the trace's ({_said(ours)}), not ({_said(theirs)})"


def _at(topology: Topology, path: str) -> object:
    value: object = topology
    for step in path.split("."):
        value = getattr(value, step)
    return value


def _said(value: object) -> str:
    match value:
        case Direction():
            return f"level: {value.level}, step: {list(value.step)}, opposite: {value.opposite}"
        case Grid():
            return f"columns={value.columns} rows={value.rows}"
    return str(value)
