"""What `kerntape sweep` prints for a person. Knows no file and no terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .printing import aligned

if TYPE_CHECKING:
    from ..replay.sweep.ranking import Flip, Ranking
    from ..replay.sweep.sweep import SweepOutcome

FLIPS_SHOWN = 10

FLIPLESS_SHOWN = 3
"""So many pairs without a flip are told one by one; more are a table."""

PAIRS_SHOWN = 10


def outcome_text(outcome: SweepOutcome, results: str) -> str:
    """How the points were evaluated, and where the ranking flips."""
    kept = f", {outcome.kept:,} of them kept from before" if outcome.kept else ""
    deadlocked = f", {outcome.deadlocked:,} deadlocked" if outcome.deadlocked else ""
    impossible = (
        f", {outcome.impossible:,} impossible (times must stay below 2^62 ps)"
        if outcome.impossible
        else ""
    )
    replaced = ", in place of the file that was there" if outcome.replaced else ""
    lines = [
        f"{results}: {outcome.points:,} point{'s' if outcome.points != 1 else ''}{kept}{replaced}",
        f"{outcome.followed:,} followed along a recorded order,"
        f" {outcome.replayed:,} replayed in full{deadlocked}{impossible}",
    ]
    for ranking in outcome.rankings:
        if ranking.flips:
            lines += ["", *_ranking_lines(ranking)]
    flipless = [ranking for ranking in outcome.rankings if not ranking.flips]
    if flipless:
        lines += ["", *_flipless_lines(flipless)]
    return "\n".join(lines)


def _flipless_lines(rankings: list[Ranking]) -> list[str]:
    """The counts: a line each of a few, a table of many."""
    if len(rankings) <= FLIPLESS_SHOWN:
        return [line for ranking in rankings for line in _ranking_lines(ranking)]
    heads = [f"{len(rankings):,} pairs without a flip", "faster", "slower", "equal"]
    cells = [
        [
            _pair_text(ranking),
            *(f"{n:,}" for n in (ranking.first_faster, ranking.second_faster, ranking.equal)),
        ]
        for ranking in rankings[:PAIRS_SHOWN]
    ]
    more = len(rankings) - PAIRS_SHOWN
    lines = aligned([heads, *cells], right=(1, 2, 3)).splitlines()
    return lines + (
        [f"{more:,} more pair{'s' if more > 1 else ''} (--json has all)"] if more > 0 else []
    )


def _pair_text(ranking: Ranking) -> str:
    return f"{ranking.first} against {ranking.second}, {ranking.under}"


def _ranking_lines(ranking: Ranking) -> list[str]:
    lines = [
        f"{_pair_text(ranking)}: faster at"
        f" {ranking.first_faster:,}, slower at {ranking.second_faster:,},"
        f" equal at {ranking.equal:,}"
    ]
    lines += [f"  {_flip_text(flip)}" for flip in ranking.flips[:FLIPS_SHOWN]]
    more = len(ranking.flips) - FLIPS_SHOWN
    if more > 0:
        lines.append(f"  … and {more:,} more flips (--json has them all)")
    return lines


def _flip_text(flip: Flip) -> str:
    from ..replay.sweep.axes import written_out

    at = "".join(f", {path} {written_out(value)}" for path, value in flip.at)
    return (
        f"flips between {flip.path} {written_out(flip.low)} and {written_out(flip.high)}:"
        f" {flip.faster_below} below, {flip.faster_above} above{at}"
    )
