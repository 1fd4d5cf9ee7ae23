"""Makes a sweep's plan from what the command line gives, and refuses early what would fail late."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product, repeat
from math import isfinite, prod
from pathlib import Path
from typing import Any

from ...schemas.errors import ConfigError, wrong_usage
from ...schemas.topology import Topology
from ...schemas.trace_file import TraceFile, read_trace_file
from ..machine import compatible, resolve_model
from ..policy import resolve_policy
from ..settings import parsed_settings
from .axes import Axis, Span, Value, Varied, check_different
from .plan import Case, DifferentArgument, Scalar, SweepPlan, SweptTrace, sha256_of
from .sampling import latin_hypercube

MAX_POINTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Sampling:
    """How many latin-hypercube samples, and from which seed."""

    count: int
    seed: int


@dataclass(frozen=True, slots=True)
class Base:
    """What the varied values are laid over: names, paths and settings as `replay` takes them."""

    topology: Topology | None = None
    calibration: str | None = None
    settings: Sequence[str] = ()


def plan_sweep(
    traces: Sequence[Path],
    varied: Sequence[Varied],
    *,
    policies: Sequence[str],
    sampling: Sampling | None = None,
    base: Base | None = None,
    op_logs: bool = False,
) -> SweepPlan:
    """The plan. Raises ConfigError or FileError: a trace that cannot be read or told from another, an
    unknown policy, a value that the machine cannot have, a path both set and varied, a range without
    sampling, too many points.
    """
    base = base or Base()
    check_varied(varied, base.settings, sampling)
    with wrong_usage():
        _check_names((_in_a_table(path.name) for path in traces), "traces")
    files = [read_trace_file(path) for path in traces]
    plan = SweepPlan(
        traces=tuple(map(_swept, traces, files, repeat(base))),
        policies=tuple(resolve_policy(name) for name in policies),
        paths=tuple(each.path for each in varied),
        combinations=_combinations(varied, sampling, len(traces) * len(policies)),
        op_logs=op_logs,
        sampled=() if sampling is None else tuple(varied),
        different_arguments=different_arguments([file.trace.header.arguments for file in files]),
    )
    _check_names((policy.name for policy in plan.policies), "policies")
    for trace, structure in product(range(len(traces)), dict.fromkeys(plan.structures)):
        compatible(files[trace].trace, plan.topology(Case(trace, 0, structure)))
    return plan


def check_varied(
    varied: Sequence[Varied], settings: Sequence[str], sampling: Sampling | None
) -> None:
    """Raises ConfigError for a path that is varied twice, or both set and varied, and for a range that is
    not sampled."""
    check_different(varied)
    _check_not_set(varied, settings)
    for each in varied:
        if isinstance(each, Span) and sampling is None:
            raise ConfigError(
                f"{each.path}: a range must be sampled; add --samples N --latin-hypercube,"
                " or list its values"
            )


def _check_not_set(varied: Sequence[Varied], settings: Sequence[str]) -> None:
    """A value that every point lays another one over would be lost."""
    settled = parsed_settings(settings)
    for each in varied:
        if each.path in settled:
            raise ConfigError(f"{each.path} must be set or varied, not both; leave out its --set")


def _swept(path: Path, file: TraceFile, base: Base) -> SweptTrace:
    machine, costs = resolve_model(file.trace, base.topology, base.calibration, base.settings)
    return SweptTrace(
        path=path,
        name=_in_a_table(path.name),
        sha256=sha256_of(file),
        machine=machine,
        costs=costs,
    )


VARIANT = "variant"
"""The argument that says how a problem is solved, not which one; sweeps are there to compare it."""


def different_arguments(by_trace: Sequence[Mapping[str, Any]]) -> tuple[DifferentArgument, ...]:
    """The arguments but VARIANT of which two traces that have them have different values, by name."""
    names = sorted({name for arguments in by_trace for name in arguments} - {VARIANT})
    return tuple(
        DifferentArgument(name, tuple(_scalar(arguments.get(name)) for arguments in by_trace))
        for name in names
        if _differ([_scalar(arguments[name]) for arguments in by_trace if name in arguments])
    )


def _scalar(value: Any) -> Scalar:
    """The value as JSON can have it, and equal to itself: NaN and what is no scalar as text."""
    is_plain = value is None or isinstance(value, (int, str))
    is_finite = isinstance(value, float) and isfinite(value)
    return value if is_plain or is_finite else str(value)


def _differ(values: Sequence[Scalar]) -> bool:
    return any(value != values[0] for value in values)


_BREAKS_A_TABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of Unicode: control characters, bytes of a file name that are no text, line separators."""


def _in_a_table(name: str) -> str:
    """A file's name as one line of text, whatever the file system allows in it."""
    return "".join(
        ascii(character)[1:-1] if unicodedata.category(character) in _BREAKS_A_TABLE else character
        for character in name
    )


def _combinations(
    varied: Sequence[Varied], sampling: Sampling | None, times: int
) -> tuple[tuple[Value, ...], ...]:
    if sampling is not None:
        _check_count(sampling.count * times)
        return latin_hypercube(varied, sampling.count, sampling.seed)
    axes = [each for each in varied if isinstance(each, Axis)]
    _check_count(prod(len(axis.values) for axis in axes) * times)
    return tuple(product(*(axis.values for axis in axes)))


def _check_count(points: int) -> None:
    if points > MAX_POINTS:
        raise ConfigError(
            f"a sweep must have at most {MAX_POINTS:,} points, not {points:,}; give fewer values or"
            " --samples"
        )


def _check_names(names: Iterable[str], kinds: str) -> None:
    """Results tell them apart by name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ConfigError(
                f"two of the {kinds} are called '{name}'; give each once, by its own name"
            )
        seen.add(name)
