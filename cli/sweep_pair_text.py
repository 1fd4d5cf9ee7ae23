"""What `kerntape sweep` prints of two contenders: who is faster how often, by how much, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .printing import aligned

if TYPE_CHECKING:
    from fractions import Fraction

    from ..replay.sweep.margins import Margin
    from ..replay.sweep.ranking import Flip, Ranking
    from ..replay.sweep.shares import Shares

FLIPS_SHOWN = 10

SHARES_SHOWN = 5

QUARTERS = ("1st", "2nd", "3rd", "4th")


def pair_lines(ranking: Ranking) -> list[str]:
    """The pair's lines; all but the first are indented."""
    lines = [
        f"{ranking.first} against {ranking.second}, {ranking.under}: faster at"
        f" {ranking.first_faster:,}, slower at {ranking.second_faster:,},"
        f" equal at {ranking.equal:,}",
        *_margin_lines(ranking),
        *_violation_lines(ranking),
    ]
    lines += [f"  {_flip_text(flip)}" for flip in ranking.flips[:FLIPS_SHOWN]]
    more = len(ranking.flips) - FLIPS_SHOWN
    if more > 0:
        lines.append(f"  … and {more:,} more flips (--json has them all)")
    return lines + _shares_lines(ranking)


def _margin_lines(ranking: Ranking) -> list[str]:
    both = [
        ("faster", ranking.first_margin, ranking.first_faster),
        ("slower", ranking.second_margin, ranking.second_faster),
    ]
    found = [_margin(word, by, points) for word, by, points in both if by is not None]
    return [f"  {'; '.join(found)}"] if found else []


def _margin(word: str, margin: Margin, points: int) -> str:
    if points == 1:
        return f"{word} by {margin_text(margin.most_ppm)}"
    return (
        f"{word} by {margin_text(margin.median_ppm)} in the median,"
        f" {margin_text(margin.most_ppm)} at most"
    )


def margin_text(ppm: int) -> str:
    """How much longer something takes: a percentage, a factor from ten times as much longer on."""
    if ppm >= 10_000_000:
        return f"×{_decimal(ppm + 1_000_000, 1_000_000, 1)}"
    return percent_text(ppm)


def percent_text(ppm: int) -> str:
    """A percentage: to a tenth, below one to a hundredth."""
    if ppm >= 10_000 or ppm == 0:
        return f"{_decimal(ppm, 10_000, 1)} %" if ppm else "0 %"
    return f"{_decimal(ppm, 10_000, 2)} %" if ppm >= 50 else "under 0.01 %"


def _decimal(number: int, unit: int, decimals: int) -> str:
    """The quotient, a half rounded up, with thousands set apart."""
    scale: int = 10**decimals
    whole, rest = divmod((2 * number * scale + unit) // (2 * unit), scale)
    return f"{whole:,}.{rest:0{decimals}}"


def _violation_lines(ranking: Ranking) -> list[str]:
    both = [(ranking.first, ranking.first_violating), (ranking.second, ranking.second_violating)]
    found = [f"{count:,} of {name}" for name, count in both if count]
    return [f"  points with hazard violations: {', '.join(found)}"] if found else []


def _flip_text(flip: Flip) -> str:
    from ..replay.sweep.axes import written_out

    others = ", ".join(f"{path} {written_out(value)}" for path, value in flip.at)
    at = f", at {others}" if others else ""
    return (
        f"flips between {flip.path} {written_out(flip.low)} and {written_out(flip.high)}:"
        f" {flip.faster_below} below, {flip.faster_above} above{at}"
    )


def _shares_lines(ranking: Ranking) -> list[str]:
    """A line for each number that was sampled, the one that decides most first."""
    if not ranking.shares:
        return []
    rows = [[f"{ranking.first} is faster, by quarter", "", *QUARTERS]]
    rows += [_shares_row(each) for each in ranking.shares[:SHARES_SHOWN]]
    more = len(ranking.shares) - SHARES_SHOWN
    lines = aligned(rows, right=range(2, 2 + len(QUARTERS))).splitlines()
    lines += [f"{more:,} more (--json has all)"] if more > 0 else []
    return [f"  {line}" for line in lines]


def _shares_row(shares: Shares) -> list[str]:
    cells = [_percent(part.share) for part in shares.parts]
    return [shares.path, _range_text(shares), *cells, *[""] * (len(QUARTERS) - len(cells))]


def _range_text(shares: Shares) -> str:
    """The range, or the few values that it has."""
    from ..replay.sweep.axes import written_out

    if all(part.low == part.high for part in shares.parts):
        return ", ".join(written_out(part.low) for part in shares.parts)
    return f"{written_out(shares.parts[0].low)}..{written_out(shares.parts[-1].high)}"


def _percent(share: Fraction | None) -> str:
    """Whole per cents, a half rounded up; a dash where nothing could be compared."""
    if share is None:
        return "–"
    return f"{(200 * share.numerator + share.denominator) // (2 * share.denominator)} %"
