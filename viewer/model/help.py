"""The keys as a list that filters as one types: the action table by section, and the glyphs below it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .text import Line, Span, fit, fit_line, line_cells
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT

KEY_CELLS = 18
GLYPHS = (
    "▁▃█ how busy a column was",
    "◆ admission  ╵ no length",
    "◇ held  ! violated  ? potential",
    "▼ [ ] the selected stage",
    "▾ ▸ a group, folded  ┬ a pinned row",
)
HEAD = "type to find · ↑ ↓ Enter: do it · Esc: close"


class Listed(Protocol):
    """What help needs of an action."""

    @property
    def name(self) -> str: ...
    @property
    def shown(self) -> str: ...
    @property
    def words(self) -> str: ...


Sections = Iterable[tuple[str, Sequence[Listed]]]


@dataclass(frozen=True)
class KeyLines:
    """The list: per line the place of its action among those found, −1 for a title."""

    lines: tuple[Line, ...]
    places: tuple[int, ...]
    blank: Line


def fits(action: Listed, typed: str) -> bool:
    """Whether every word that was typed is in the action's keys, name or words, whatever the case."""
    text = f"{action.shown} {action.name} {action.name.replace('_', ' ')} {action.words}".lower()
    return all(word in text for word in typed.lower().split())


def found_actions(sections: Sections, typed: str) -> list[Listed]:
    """The actions that fit what was typed, in the order of the table."""
    return [action for _, actions in sections for action in actions if fits(action, typed)]


def help_title(width: int) -> Line:
    """The head of the panel."""
    words = f"── keys ── {HEAD} "
    return fit_line((Span(words, STRONG), Span("─" * max(width - len(words), 0), FAINT)), width)


def key_lines(sections: Sections, typed: str, chosen: int, width: int) -> KeyLines:
    """Every action that fits what was typed, under the titles of their sections."""
    lines: list[Line] = []
    places: list[int] = []
    count = 0
    for title, actions in sections:
        found = [action for action in actions if fits(action, typed)]
        if not found:
            continue
        lines.append((Span(f"  {title}", STRONG),))
        lines += [_listed(one, count + i == chosen) for i, one in enumerate(found)]
        places += [-1, *range(count, count + len(found))]
        count += len(found)
    if not typed:
        lines += [(Span("  Glyphs", STRONG),), *((Span(f"    {g}", MUTED),) for g in GLYPHS)]
    elif not count:
        lines.append((Span("  nothing fits", MUTED),))
    places += [-1] * (len(lines) - len(places))
    blank = fit_line((), width)
    return KeyLines(tuple(fit_line(line, width) for line in lines), tuple(places), blank)


def _listed(action: Listed, is_chosen: bool) -> Line:
    mark, looks = ("  › ", STRONG) if is_chosen else ("    ", TEXT)
    keys = fit(action.shown, KEY_CELLS)
    return (Span(mark, ACCENT), Span(keys, MUTED), Span(action.words, looks))


def hint_line(hints: tuple[tuple[str, str], ...], width: int) -> Line:
    """Keys and words, as many as fit: the first ones, and always the last two."""
    first, last = list(hints[:-2]), hints[-2:]
    while first and line_cells(_hinted((*first, *last))) > width:
        first.pop()
    return fit_line(_hinted((*first, *last)), width)


def _hinted(hints: tuple[tuple[str, str], ...]) -> Line:
    spans = ((Span(keys, MUTED), Span(f" {words}  ", FAINT)) for keys, words in hints)
    return (Span(" "), *(span for pair in spans for span in pair))
