"""What `kerntape sweep --json` prints, as one object. Keys are stable (docs/sweeps.md lists them)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..replay.sweep.case_makespans import CaseMakespans, Extreme
    from ..replay.sweep.influence import Influence
    from ..replay.sweep.ranking import Ranking
    from ..replay.sweep.sweep import SweepOutcome


def outcome_json(outcome: SweepOutcome, results: str) -> dict[str, Any]:
    """The object; `results` is the file's name."""
    return {
        "results": results,
        "points": outcome.points,
        "kept": outcome.kept,
        "followed": outcome.followed,
        "replayed": outcome.replayed,
        "deadlocked": outcome.deadlocked,
        "impossible": outcome.impossible,
        "with_violations": outcome.with_violations,
        "replaced": outcome.replaced,
        "different_arguments": {each.name: each.values for each in outcome.different_arguments},
        "cases": [asdict(case) for case in outcome.cases],
        "makespans": [_makespans(case) for case in outcome.makespans],
        "rankings": [_ranking(ranking) for ranking in outcome.rankings],
    }


def _makespans(case: CaseMakespans) -> dict[str, Any]:
    return asdict(case) | {
        "smallest": _extreme(case.smallest),
        "largest": _extreme(case.largest),
        "influences": [_influence(each) for each in case.influences],
    }


def _extreme(extreme: Extreme | None) -> dict[str, Any] | None:
    if extreme is None:
        return None
    return {"makespan_ps": extreme.makespan_ps, "at": dict(extreme.at)}


def _influence(influence: Influence) -> dict[str, Any]:
    medians = [asdict(each) for each in influence.medians]
    return {"path": influence.path, "spread_ps": influence.spread_ps, "medians": medians}


def _ranking(ranking: Ranking) -> dict[str, Any]:
    return asdict(ranking) | {
        "flips": [asdict(flip) | {"at": dict(flip.at)} for flip in ranking.flips]
    }
