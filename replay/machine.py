"""On which machine a trace is replayed: its own, another that its commands mean the same on, or either
with some of the structure changed that replay reads.

Structure is what a setting `topology.PATH=VALUE` names: the whole numbers of a topology's PEs and queues.
"""

from collections.abc import Iterator, Sequence

from ..schemas.calibration import Calibration, CostModel
from ..schemas.config_file import (
    MAX_SIGNIFICANT_DIGITS,
    as_exact,
    check,
    complaint_about_part,
    key_paths,
    with_values,
)
from ..schemas.errors import ConfigError, UsageError, did_you_mean, wrong_usage
from ..schemas.topology import Direction, Grid, Topology
from ..schemas.trace import Trace
from ..schemas.yaml_text import shown
from .calibration import by_path, resolve_calibration, with_settings

TOPOLOGY = "topology."

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
    structure = {
        path.removeprefix(TOPOLOGY): structure_value(path, value, f"--set {path}")
        for path, value in chosen.items()
        if is_structure(path)
    }
    costs = [f"{path}={value}" for path, value in chosen.items() if not is_structure(path)]
    lowered_for = _with_structure(machine, structure) if structure else machine
    if topology or structure:
        lowered_for = compatible(trace, lowered_for)
    if own is not None and calibration is None:
        return lowered_for, with_settings(own, costs)
    return lowered_for, resolve_calibration(machine, calibration, costs)


def is_structure(path: str) -> bool:
    """Whether the path is the topology's, so that the trace must be lowered anew."""
    return path.strip().startswith(TOPOLOGY)


def structure_paths() -> list[str]:
    """What a topology says with whole numbers of its PEs and queues and a replay may change."""
    return [
        f"{TOPOLOGY}{key}"
        for key in key_paths(Topology)
        if key.startswith(("pe.", "ipcq.")) and key not in _LAYOUT
    ]


def belongs_to_capture(path: str) -> str | None:
    """Why a replay cannot change that structure, which the trace's commands depend on; None where that
    is not why."""
    key = path.removeprefix(TOPOLOGY)
    if is_structure(path) and (key in _LAYOUT or key.split(".")[0] in _MACHINE):
        return (
            f"{path} must be the trace's, whose commands depend on it; capture again on a topology"
            " with another"
        )
    return None


def structure_value(path: str, entry: object, where: str) -> int:
    """The entry as the whole number that structure at that path may be. Raises ConfigError, beginning
    with `where`."""
    try:
        number = as_exact(entry.strip() if isinstance(entry, str) else entry)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None
    if (
        number.adjusted() >= MAX_SIGNIFICANT_DIGITS
    ):  # before int(), which would write out 1e999999999
        raise ConfigError(
            f"{where}: must be a whole number of at most {MAX_SIGNIFICANT_DIGITS} digits, not"
            f" {shown(number)}"
        )
    if number != number.to_integral_value():
        raise ConfigError(f"{where}: must be a whole number, not {shown(number)}")
    key = path.removeprefix(TOPOLOGY)
    complaint = complaint_about_part(Topology, _nested(key, int(number)))
    if complaint:
        raise ConfigError(f"{where}: {complaint.removeprefix(f'{key}: ')}")
    return int(number)


def parsed_settings(words: Sequence[str]) -> dict[str, str]:
    """The values of `path=value` words by path, as they are written.

    Raises UsageError for a word that is none, a value that its path cannot have on any machine, and a
    path that is set twice; ConfigError for a path that there is not, or that replay cannot change.
    """
    parsed = [_parsed_setting(word) for word in words]
    with wrong_usage():
        return by_path(parsed)


def _parsed_setting(word: str) -> tuple[str, str]:
    path, equals, value = (part.strip() for part in word.partition("="))
    if not (path and equals and value):
        example = f"{TOPOLOGY}ipcq.depth=4" if is_structure(word) else "pe_cpu.fixed_cycles=20"
        raise UsageError(f"--set must be PATH=VALUE, as in {example}, not '{word}'")
    _check_known(path)
    if is_structure(path):
        with wrong_usage():
            structure_value(path, value, f"--set {path}")
    else:
        complaint = complaint_about_part(CostModel, _nested(path, value))
        if complaint:
            raise UsageError(f"--set: {complaint}")
    return path, value


def _check_known(path: str) -> None:
    """Raises ConfigError where no setting has that path."""
    known = structure_paths()
    if not is_structure(path):
        known = [*key_paths(CostModel), *known]
    if path in known:
        return
    inside = [key for key in known if key.startswith(f"{path}.")]
    if inside:
        raise ConfigError(f"--set {path}: names a group; set one of {', '.join(inside)}")
    captured = belongs_to_capture(path)
    if captured:
        raise ConfigError(f"--set: {captured}")
    raise ConfigError(f"--set: unknown key '{path}'{did_you_mean(path, known)}")


def _nested(path: str, value: object) -> dict[str, object]:
    """The value at a dotted path as a YAML file would have it."""
    first, dot, rest = path.partition(".")
    return {first: _nested(rest, value) if dot else value}


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
    yield from _differing(captured, topology, _LAYOUT)


_MACHINE = ("sips", "cubes", "pes", "directions")
_LAYOUT = ("pe.tcm_bytes", "pe.scratch_bytes", "pe.hbm_bytes", "pe.composite_cap_bytes")


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
