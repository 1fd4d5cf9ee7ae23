"""Every shipped hazard policy on one trace: what each costs, lets through, and makes of the result."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..schemas.calibration import Calibration
from ..schemas.timeline import Status, Timeline
from ..schemas.topology import Topology
from ..schemas.trace import Trace
from .check_data.check import check_data
from .hazards.shared import shared_tensors
from .machine import resolve_model
from .policy import resolve_policy, shipped_policies
from .replay import DEFAULT_RUNNER, prepare, time
from .summary import hazard_totals


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """A trace replayed under one policy.

    `hazards` are the pairs `held`, the time they were held in all (`held_ps`) and the `violations`
    in this replay; None where it stopped in a deadlock, at `makespan_ps`. `potential` counts the
    pairs that can go wrong in some replay. `data_right` is None where no values were checked.
    """

    policy: str
    status: Status
    makespan_ps: int
    hazards: dict[str, int] | None
    potential: int
    data_right: bool | None

    @property
    def is_finding(self) -> bool:
        """Whether the replay stopped in a deadlock, a pair went wrong, or a value did."""
        if self.hazards is None or self.data_right is False:
            return True
        return bool(self.hazards["violations"])


@dataclass(frozen=True, slots=True)
class PolicyTable:
    """The shipped policies under one model: the fastest first, then by name, deadlocks last.

    `shared_tensors` counts what several PEs reach and one writes: of that, no pair is in the figures.
    """

    topology: str
    calibration: str
    shared_tensors: int
    rows: tuple[PolicyRow, ...]


def _nobody(done: int, total: int) -> None:
    """Watches nothing."""


def policy_table(
    trace: Trace,
    *,
    topology: Topology | None = None,
    calibration: str | None = None,
    settings: Sequence[str] = (),
    own: Calibration | None = None,
    runner: str = DEFAULT_RUNNER,
    check_values: bool = False,
    watch: Callable[[int, int], None] = _nobody,
) -> PolicyTable:
    """Replays the trace under every shipped policy. The model is chosen as `resolve_model` chooses it.

    `check_values` re-executes the kept inputs under each. `watch` is told how many policies are
    done, of how many. Raises ConfigError as `replay` does, and for values to check without inputs.
    """
    machine, costs = resolve_model(trace, topology, calibration, settings, own)
    names = list(shipped_policies())
    rows = []
    for done, name in enumerate(names):
        watch(done, len(names))
        prepared = prepare(trace, machine, resolve_policy(name))
        timeline = time(prepared, costs, runner)
        rows.append(_row(timeline, len(prepared.potential), check_values))
    watch(len(names), len(names))
    shared = len(shared_tensors(trace))
    return PolicyTable(machine.name, costs.name, shared, tuple(sorted(rows, key=_place)))


def _row(timeline: Timeline, potential: int, check_values: bool) -> PolicyRow:
    ended = timeline.status is Status.OK
    return PolicyRow(
        policy=timeline.policy.name,
        status=timeline.status,
        makespan_ps=timeline.makespan_ps,
        hazards=hazard_totals(timeline) if ended else None,
        potential=potential,
        data_right=check_data(timeline).right if check_values and ended else None,
    )


def _place(row: PolicyRow) -> tuple[bool, int, str]:
    return row.status is Status.DEADLOCK, row.makespan_ps, row.policy


def policy_table_json(table: PolicyTable, *, trace: str, runner: str) -> dict[str, Any]:
    """The object that `replay --hazards all --json` prints. Keys are stable (docs/hazards.md)."""
    return {
        "trace": trace,
        "topology": table.topology,
        "calibration": table.calibration,
        "runner": runner,
        "shared_tensors": table.shared_tensors,
        "policies": [asdict(row) for row in table.rows],
    }
