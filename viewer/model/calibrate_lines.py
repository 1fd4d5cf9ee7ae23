"""The calibration panel line by line: every number in use, what it is worth, and faster engines."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ...replay.what_if import Effect
from ...schemas.stages import Block
from . import times
from .calibrating import POLICY, Settings
from .changes import signed_percent
from .lanes import BLOCK_TITLES
from .text import Line, Span, cells, fit, fit_line, printable
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT, Paint, tone

Row = str | Block
"""A number by its path, the policy (POLICY), or a block that is tried faster."""

PATH_CELLS = 32
VALUE_CELLS = 11
WORTH_CELLS = 11
UNKNOWN = "…"
CHANGED = "*"
"""Before what is not as it was opened."""

NO_PLACE = -1


@dataclass(frozen=True)
class Calibrating:
    """All that the panel shows. `makespan_ps` is the one under these settings, worths are against it."""

    settings: Settings
    parameters: tuple[str, ...]
    effects: Mapping[str, Effect]
    blocks: tuple[Block, ...]
    factors: tuple[Fraction, ...]
    sped_up_ps: Mapping[tuple[Block, Fraction], int]
    makespan_ps: int

    @property
    def rows(self) -> tuple[Row, ...]:
        """What one can choose, from top to bottom."""
        return (POLICY, *self.parameters, *self.blocks)


def calibrate_lines(
    shown: Calibrating, chosen: int, width: int
) -> tuple[list[Line], tuple[int, ...]]:
    """All lines, and per line the place of its row, NO_PLACE for a head."""
    lines: list[Line] = []
    places: list[int] = []
    for place, row in enumerate(shown.rows):
        head = _head_above(shown, row)
        mark = Span(" ›" if place == chosen else "  ", ACCENT)
        star = Span(CHANGED if _is_changed(shown, row) else " ", tone(Paint.DISPATCH))
        lines += [*head, (mark, star, *_row(shown, row, place == chosen))]
        places += [*([NO_PLACE] * len(head)), place]
    return [fit_line(line, width) for line in lines], tuple(places)


def _is_changed(shown: Calibrating, row: Row) -> bool:
    return not isinstance(row, Block) and shown.settings.is_changed(row)


def changes_line(settings: Settings, width: int) -> Line:
    """What differs from the calibration and the policy that the timeline came with: whole entries, as
    many as fit, and how many more there are.
    """
    rows = settings.changed_rows
    if not rows:
        words = f"   as it was opened: {settings.base.name}, {settings.base_policy.name}"
        return fit_line((Span(printable(words), MUTED),), width)
    entries = [f"{row} {settings.base_words(row)} → {settings.words(row)}" for row in rows]
    count = len(entries)
    while count > 1 and cells(_changes(entries, count)) > width:
        count -= 1
    return fit_line((Span(printable(_changes(entries, count)), tone(Paint.DISPATCH)),), width)


def _changes(entries: list[str], count: int) -> str:
    more = len(entries) - count
    rest = f" · {more} more" if more else ""
    return f"  {CHANGED}{len(entries)} changed: {' · '.join(entries[:count])}{rest}"


def _head_above(shown: Calibrating, row: Row) -> list[Line]:
    """The heads of the two tables: before the first number, and before the first block."""
    if shown.parameters and row == shown.parameters[0]:
        head = f"   {'number':{PATH_CELLS}}{'value':<{VALUE_CELLS}}{'was':<{VALUE_CELLS}}"
        return [(Span(f"{head}{'10 % more':>{WORTH_CELLS}}{'10 % less':>{WORTH_CELLS}}", FAINT),)]
    if shown.blocks and row is shown.blocks[0]:
        factors = "".join(f"{factor_words(factor):>{WORTH_CELLS}}" for factor in shown.factors)
        return [(), (Span(f"   {'engine, if it were as fast as':{PATH_CELLS}}{factors}", FAINT),)]
    return []


def _row(shown: Calibrating, row: Row, is_chosen: bool) -> Line:
    looks = STRONG if is_chosen else TEXT
    if isinstance(row, Block):
        return (Span(fit(BLOCK_TITLES[row], PATH_CELLS), looks), *_faster(shown, row))
    settings = shown.settings
    now, changed = settings.words(row), settings.is_changed(row)
    line: Line = (
        Span(fit(row, PATH_CELLS), looks),
        Span(fit(now, VALUE_CELLS), tone(Paint.DISPATCH) if changed else looks),
        Span(fit(settings.base_words(row) if changed else "", VALUE_CELLS), MUTED),
    )
    return line if row == POLICY else (*line, *_effect(shown, row))


def _effect(shown: Calibrating, path: str) -> Line:
    found = shown.effects.get(path)
    if found is None:
        return (Span(f"{UNKNOWN:>{WORTH_CELLS}}" * 2, FAINT),)
    return tuple(_worth(change, shown.makespan_ps) for change in (found.more_ps, found.less_ps))


def _faster(shown: Calibrating, block: Block) -> Line:
    """Per factor, how the makespan changes; a run that gets longer stands out."""
    spans = []
    for factor in shown.factors:
        faster_ps = shown.sped_up_ps.get((block, factor))
        if faster_ps is None:
            spans.append(Span(f"{UNKNOWN:>{WORTH_CELLS}}", FAINT))
            continue
        change = faster_ps - shown.makespan_ps
        span = _worth(change, shown.makespan_ps)
        spans.append(Span(span.text, tone(Paint.VIOLATED)) if change > 0 else span)
    return tuple(spans)


def _worth(change_ps: int | None, makespan_ps: int) -> Span:
    words = "not allowed" if change_ps is None else signed_percent(change_ps, makespan_ps)
    return Span(f"{words:>{WORTH_CELLS}}", TEXT if change_ps else FAINT)


def factor_words(factor: Fraction) -> str:
    """`1.25×`."""
    return f"{float(factor):g}×"


def row_words(shown: Calibrating, row: Row) -> str:
    """What the chosen row is worth, in a sentence."""
    if isinstance(row, Block):
        return _block_words(shown, row)
    if row == POLICY:
        return shown.settings.policy.summary
    found = shown.effects.get(row)
    if found is None:
        return "measuring what this number is worth …"
    more = _change_words("10 % more", found.more_ps)
    return f"{more}; {_change_words('10 % less', found.less_ps)}"


def _change_words(what: str, change_ps: int | None) -> str:
    if change_ps is None:
        return f"{what} is not allowed"
    if not change_ps:
        return f"{what} changes nothing"
    way = "longer" if change_ps > 0 else "shorter"
    return f"{what} makes the run {times.exact(abs(change_ps))} {way}"


def _block_words(shown: Calibrating, block: Block) -> str:
    """An anomaly first; else what the largest factor gains."""
    known = [
        (factor, shown.sped_up_ps[block, factor] - shown.makespan_ps)
        for factor in shown.factors
        if (block, factor) in shown.sped_up_ps
    ]
    if not known:
        return "measuring what a faster engine is worth …"
    title = BLOCK_TITLES[block]
    for factor, change in known:
        if change > 0:
            longer = f"{title} {factor_words(factor)} as fast makes the run"
            return (
                f"{longer} {times.exact(change)} longer: a scheduling anomaly; the faster stages"
                " reach other queues earlier and are served in another order"
            )
    factor, change = known[-1]
    return _change_words(f"{title} {factor_words(factor)} as fast", change)
