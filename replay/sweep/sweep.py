"""Carries a sweep through: evaluates what the journal lacks, then writes the results. The one way in."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .case_makespans import CaseMakespans, case_makespans
from .cases import CaseOutcome, case_outcomes
from .chunks import Workers, chunks_of
from .figures import COLUMNS, MAKESPAN, VIOLATIONS
from .journal import Journal, journal_path
from .plan import DifferentArgument, SweepPlan
from .points import PointResult, Way
from .ranking import Ranking, rankings
from .results_file import Cell, check_results_path, write_results

Watch = Callable[[int, int], None]
"""Told how many points are done and how many there are, at the beginning and after every batch."""

MODEL_COLUMNS = ("trace", "policy", "topology", "calibration")


@dataclass(frozen=True, slots=True)
class SweepOutcome:
    """What a finished sweep says of itself. `kept`: points that an earlier, stopped run had done.

    `followed`, `replayed`, `deadlocked` and `impossible` say how the points were evaluated, in all runs
    together, and `cases` say it of each trace under each policy. `with_violations`: points. `replaced`:
    whether the results took the place of a file. `different_arguments`: the plan's. `makespans` are of
    the cases, in the same order.
    """

    points: int
    kept: int
    followed: int
    replayed: int
    deadlocked: int
    impossible: int
    with_violations: int
    replaced: bool
    different_arguments: tuple[DifferentArgument, ...]
    cases: list[CaseOutcome]
    makespans: list[CaseMakespans]
    rankings: list[Ranking]


def sweep(
    plan: SweepPlan, results: Path, *, workers: Workers, watch: Watch, command: str = ""
) -> SweepOutcome:
    """Evaluates every point and writes the results; they are the same whoever the workers are.
    `command` is the command line that asked for it, for the journal.

    Stopped at any moment (an error, Ctrl-C, a kill), it leaves the journal and no results; called
    again with the same plan and path, and any workers, it goes on from there. Raises KerntapeError:
    a point without a result, a file that cannot be written, a journal of another sweep, workers
    that are gone.
    """
    check_results_path(results)
    replaced = results.exists()
    with Journal(journal_path(results), plan.sha256, command) as journal:
        kept = len(journal.results)
        _evaluate_missing(plan, journal, workers, watch)
        found = [journal.results[point] for point in range(len(plan))]
        outcome = _outcome(plan, kept, found, replaced)
        columns = (*plan.paths, *MODEL_COLUMNS, *COLUMNS)
        write_results(results, columns, (tuple(_row(plan, each)) for each in found))
        journal.remove()
    return outcome


def _outcome(plan: SweepPlan, kept: int, found: list[PointResult], replaced: bool) -> SweepOutcome:
    ways = Counter(each.way for each in found)
    makespan_ps = _whole(found, MAKESPAN)
    violating = {point for point, count in _whole(found, VIOLATIONS).items() if count}
    sound = {point: each for point, each in makespan_ps.items() if point not in violating}
    return SweepOutcome(
        points=len(plan),
        kept=kept,
        followed=ways[Way.FOLLOWED],
        replayed=ways[Way.REPLAYED],
        deadlocked=ways[Way.DEADLOCKED],
        impossible=ways[Way.IMPOSSIBLE],
        with_violations=len(violating),
        replaced=replaced,
        different_arguments=plan.different_arguments,
        cases=case_outcomes(plan, [each.way for each in found], sound, violating),
        makespans=case_makespans(plan, sound),
        rankings=rankings(plan, makespan_ps, violating),
    )


def _evaluate_missing(plan: SweepPlan, journal: Journal, workers: Workers, watch: Watch) -> None:
    missing = [point for point in range(len(plan)) if point not in journal.results]
    watch(len(journal.results), len(plan))
    for batch in workers.evaluate(plan, chunks_of(plan, missing, workers.count)):
        journal.append(batch)
        watch(len(journal.results), len(plan))


def _row(plan: SweepPlan, result: PointResult) -> Iterator[Cell]:
    """A point's row: its parameters, its model, its figures."""
    trace, policy, combination = plan.place(result.point)
    swept = plan.traces[trace]
    yield from plan.combinations[combination]
    yield from (swept.name, plan.policies[policy].name, swept.machine.name, swept.costs.name)
    yield from result.figures


def _whole(found: list[PointResult], column: str) -> dict[int, int]:
    """A figure by point; those without figures have none."""
    place = COLUMNS.index(column)
    return {each.point: value for each in found if isinstance(value := each.figures[place], int)}
