"""What `--set` and `--vary` may name, and what may stand there: the numbers of a calibration by dotted
path (`pe_cpu.fixed_cycles`), and structure.

Structure is what `topology.PATH` names: the whole numbers of a topology's PEs and queues. A trace is
lowered anew for it.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from ..schemas.calibration import CostModel
from ..schemas.config_file import (
    MAX_SIGNIFICANT_DIGITS,
    as_exact,
    complaint_about_part,
    key_paths,
    nested,
)
from ..schemas.errors import ConfigError, UsageError, did_you_mean, wrong_usage
from ..schemas.topology import Topology
from ..schemas.yaml_text import shown

TOPOLOGY = "topology."

_MACHINE = ("sips", "cubes", "pes", "directions")
LAYOUT = ("pe.tcm_bytes", "pe.scratch_bytes", "pe.hbm_bytes", "pe.composite_cap_bytes")
"""Keys of a topology on which the commands of a trace depend: they belong to its capture."""


def is_structure(path: str) -> bool:
    """Whether the path is the topology's, so that the trace must be lowered anew."""
    return path.strip().startswith(TOPOLOGY)


def structure_of(settings: Mapping[str, str]) -> dict[str, int]:
    """Of parsed settings those of structure, by the topology's own keys."""
    return {
        path.removeprefix(TOPOLOGY): int(number_at(path, value, "--set"))
        for path, value in settings.items()
        if is_structure(path)
    }


def costs_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Of values by path those of a calibration."""
    return {path: value for path, value in values.items() if not is_structure(path)}


def parsed_settings(words: Sequence[str]) -> dict[str, str]:
    """The values of `path=value` words by path, as they are written.

    Raises UsageError for a word that is none, a value that its path cannot have on any machine, and a
    path that is set twice (which is meant?); ConfigError for a path that there is not, or that replay
    cannot change.
    """
    chosen: dict[str, str] = {}
    for word in words:
        path, value = _parsed_setting(word)
        if path in chosen:
            raise UsageError(
                f"--set: {path} must be set once, not to {chosen[path]} and to {value}; leave one out"
            )
        chosen[path] = value
    return chosen


def _parsed_setting(word: str) -> tuple[str, str]:
    path, equals, value = (part.strip() for part in word.partition("="))
    if not (path and equals and value):
        example = f"{TOPOLOGY}ipcq.depth=4" if is_structure(word) else "pe_cpu.fixed_cycles=20"
        raise UsageError(f"--set must be PATH=VALUE, as in {example}, not '{word}'")
    check_path(path, "--set", "set")
    with wrong_usage():
        number_at(path, value, "--set")
    return path, value


def check_path(path: str, where: str, verb: str) -> None:
    """Raises ConfigError, beginning with `where`, for a path that there is not or that replay cannot
    change; `verb` is what is to be done with it.
    """
    structure = _structure_paths()
    known = structure if is_structure(path) else [*key_paths(CostModel), *structure]
    if path in known:
        return
    inside = [key for key in known if key.startswith(f"{path}.")]
    if inside:
        raise ConfigError(f"{where}: {path} names a group; {verb} one of {', '.join(inside)}")
    if _belongs_to_capture(path):
        raise ConfigError(
            f"{where}: {path} must be the trace's, whose commands depend on it; capture again on a"
            " topology with another"
        )
    raise ConfigError(f"{where}: unknown path '{path}'{did_you_mean(path, known)}")


def _structure_paths() -> list[str]:
    """What a topology says with whole numbers of its PEs and queues and a replay may change."""
    return [
        f"{TOPOLOGY}{key}"
        for key in key_paths(Topology)
        if key.startswith(("pe.", "ipcq.")) and key not in LAYOUT
    ]


def _belongs_to_capture(path: str) -> bool:
    key = path.removeprefix(TOPOLOGY)
    return is_structure(path) and (key in LAYOUT or key.split(".")[0] in _MACHINE)


def number_at(path: str, entry: object, where: str) -> Decimal | int:
    """The entry as the number that may stand at that path: a whole one where it is structure. Raises
    ConfigError, beginning with `where` and the path.
    """
    at = f"{where}: {path}"
    try:
        number = as_exact(entry.strip() if isinstance(entry, str) else entry)
    except ValueError as error:
        raise ConfigError(f"{at}: {error}") from None
    number = number or Decimal(0)  # 0e-999999999, written out, would fill the memory
    if is_structure(path):
        return _whole_number(path, number, at)
    complaint = complaint_about_part(CostModel, nested({path: number}))
    if complaint:
        raise ConfigError(f"{where}: {complaint}")
    return number


def _whole_number(path: str, number: Decimal, at: str) -> int:
    # before int(), which would write out 1e999999999
    if number.adjusted() >= MAX_SIGNIFICANT_DIGITS:
        raise ConfigError(
            f"{at}: must be a whole number of at most {MAX_SIGNIFICANT_DIGITS} digits, not"
            f" {shown(number)}"
        )
    if number != number.to_integral_value():
        raise ConfigError(f"{at}: must be a whole number, not {shown(number)}")
    key = path.removeprefix(TOPOLOGY)
    complaint = complaint_about_part(Topology, nested({key: int(number)}))
    if complaint:
        raise ConfigError(f"{at}: {complaint.removeprefix(f'{key}: ')}")
    return int(number)
