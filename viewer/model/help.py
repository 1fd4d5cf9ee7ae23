"""The key help: the action table in two columns."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from .text import Line, Span, fit, fit_line, line_cells
from .tones import FAINT, MUTED, STRONG, TEXT

KEY_CELLS = 11
TWO_COLUMNS_FROM = 96
GLYPHS = (
    "▁▃█ how busy a column was",
    "◆ admission  ╵ no length",
    "◇ held  ! violated  ? potential",
    "▼ [ ] the selected stage",
)


class Listed(Protocol):
    """What help needs of an action."""

    @property
    def shown(self) -> str: ...
    @property
    def words(self) -> str: ...


def help_lines(sections: Iterable[tuple[str, Sequence[Listed]]], width: int) -> list[Line]:
    """Every key and what it does, in one column or two."""
    blocks = [_block(title, actions) for title, actions in sections]
    blocks.append([(Span("Glyphs", STRONG),), *((Span(text, MUTED),) for text in GLYPHS)])
    if width < TWO_COLUMNS_FROM:
        return [fit_line((Span("  "), *line), width) for block in blocks for line in (*block, ())]
    half = width // 2
    left, right = _halves(blocks)
    rows = max(len(left), len(right))
    left, right = left + [()] * (rows - len(left)), right + [()] * (rows - len(right))
    return [
        fit_line((*fit_line((Span("  "), *one), half), *other), width)
        for one, other in zip(left, right, strict=True)
    ]


def hint_line(hints: tuple[tuple[str, str], ...], width: int) -> Line:
    """Keys and words, as many as fit: the first ones, and always the last two."""
    first, last = list(hints[:-2]), hints[-2:]
    while first and line_cells(_hinted((*first, *last))) > width:
        first.pop()
    return fit_line(_hinted((*first, *last)), width)


def _hinted(hints: tuple[tuple[str, str], ...]) -> Line:
    spans = ((Span(keys, MUTED), Span(f" {words}  ", FAINT)) for keys, words in hints)
    return (Span(" "), *(span for pair in spans for span in pair))


def _block(title: str, actions: Sequence[Listed]) -> list[Line]:
    return [
        (Span(title, STRONG),),
        *(
            (Span(fit(action.shown, KEY_CELLS), FAINT), Span(action.words, TEXT))
            for action in actions
        ),
    ]


def _halves(blocks: list[list[Line]]) -> tuple[list[Line], list[Line]]:
    """The blocks in two columns of about the same length, an empty line between blocks."""
    total = sum(len(block) + 1 for block in blocks)
    left: list[Line] = []
    right: list[Line] = []
    for block in blocks:
        column = right if right or 2 * (len(left) + len(block)) > total + len(block) else left
        column += [*block, ()]
    return left, right
