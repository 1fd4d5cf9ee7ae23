"""The keys as a list that filters as one types: the action table by section, and the glyphs below it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .lists import ALL_SEEN, Unseen
from .text import Line, Span, cells, cut, fit, fit_line, line_cells, spread, wrap
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT

KEY_CELLS = 18
GLYPHS = (
    ("▁ ▃ █", "how busy a row was in a column"),
    ("◆", "the admission of a composite"),
    ("╵", "a stage of no length"),
    ("◇── ! ?", "a hazard: held for so long, violated, potential"),
    ("▼ [ ] m", "the selected stage; the mark"),
    ("▾ ▸", "a group; one that is folded"),
    ("┬", "a row that P pinned to the top"),
    ("╌ ━", "on the critical path's strip: latency, an engine"),
)
KEYS_OF_EVERY_PANEL = ("? keys", "Esc close")
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
    name = action.name.replace("_", " ")
    return _holds(f"{action.shown} {action.name} {name} {action.words}", typed)


def _holds(text: str, typed: str) -> bool:
    return all(word in text.lower() for word in typed.lower().split())


def found_actions(sections: Sections, typed: str) -> list[Listed]:
    """The actions that fit what was typed, in the order of the table."""
    return [action for _, actions in sections for action in actions if fits(action, typed)]


def help_title(width: int, unseen: Unseen = ALL_SEEN) -> Line:
    """The head of the panel; what is listed above and below what is shown stands at its end."""
    words = f"── keys ── {HEAD} "
    more = f" {unseen.words} ─" if unseen.words else ""
    rule = "─" * max(width - cells(words) - cells(more), 0)
    return fit_line((Span(words, STRONG), Span(rule, FAINT), Span(more, MUTED)), width)


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
    glyphs = [one for one in GLYPHS if _holds(f"{one[0]} {one[1]} glyph", typed)]
    if glyphs:
        lines += [(Span("  Glyphs", STRONG),), *(_glyph(*one) for one in glyphs)]
    elif not count:
        lines.append((Span("  nothing fits", MUTED),))
    places += [-1] * (len(lines) - len(places))
    blank = fit_line((), width)
    return KeyLines(tuple(fit_line(line, width) for line in lines), tuple(places), blank)


def _glyph(glyph: str, words: str) -> Line:
    return (Span("    "), Span(fit(glyph, KEY_CELLS), MUTED), Span(words, TEXT))


def _listed(action: Listed, is_chosen: bool) -> Line:
    mark, looks = ("  › ", STRONG) if is_chosen else ("    ", TEXT)
    keys = fit(action.shown, KEY_CELLS)
    return (Span(mark, ACCENT), Span(keys, MUTED), Span(action.words, looks))


def panel_title(words: str, keys: str, width: int, *, is_said: bool) -> Line:
    """A panel's first line: its title, then its keys (` · ` between them), as many of the first ones as
    fit, and those of every panel. A title gives way to these; what is said (`is_said`) goes first.
    """
    shown = [*keys.split(" · "), *KEYS_OF_EVERY_PANEL]
    while (
        len(shown) > len(KEYS_OF_EVERY_PANEL) and width - cells(_joined(shown)) < cells(words) + 4
    ):
        shown.pop(len(shown) - len(KEYS_OF_EVERY_PANEL) - 1)
    left = width - cells(_joined(shown))
    if is_said and left < cells(words) + 4:
        said = f"── {words} "
        rule = "─" * max(width - cells(said), 0)
        return fit_line((Span(said, STRONG), Span(rule, FAINT)), width)
    words = f"── {cut(words, max(left - 3, 0))}"
    rule = f" {'─' * (left - cells(words) - 1)}" if left > cells(words) else ""
    return fit_line((Span(words, STRONG), Span(rule, FAINT), Span(_joined(shown), MUTED)), width)


def _joined(keys: list[str]) -> str:
    return f" {' · '.join(keys)} ─"


def offers_line(offers: tuple[str, ...], width: int) -> Line:
    """How a typed text could go on: as many as fit, and how many more there are."""
    shown = list(offers)
    while len(shown) > 1 and cells(_offered(shown, len(offers))) > width:
        shown.pop()
    return fit_line((Span(_offered(shown, len(offers)), ACCENT),), width)


def _offered(shown: list[str], count: int) -> str:
    more = f"  … {count - len(shown):,} more" if len(shown) < count else ""
    return f" {'  '.join(shown)}{more}"


MODIFIER_KEYS = frozenset(
    f"{side}_{key}"
    for side in ("left", "right")
    for key in ("shift", "control", "alt", "super", "hyper", "meta")
) | {"iso_level3_shift", "iso_level5_shift"}
"""Textual's names of the keys that only change what another key means."""


def no_key_words(key: str, character: str | None) -> str:
    """What to say of a key that does nothing where it was typed."""
    is_written = character is not None and character.isprintable() and "+" not in key
    shown = character if is_written else key
    return f"{shown} does nothing here: ? lists the keys"


SAID_LINES = 3
"""So many lines a message takes at most."""


def said_lines(message: str, width: int) -> list[Line]:
    """A message in as few lines as it fits, SAID_LINES at most; none for ''."""
    lines = wrap(message, max(width - 1, 1)) if cells(message) > width - 1 else [message]
    kept = [*lines[: SAID_LINES - 1], " ".join(lines[SAID_LINES - 1 :])]
    return [fit_line((Span(f" {line}", STRONG),), width) for line in kept if line]


def entries_line(entries: str, width: int) -> Line:
    """Entries with ` · ` between them, as many as fit: the first ones."""
    shown = entries.split(" · ")
    while len(shown) > 1 and cells(" · ".join(shown)) > width - 2:
        shown.pop()
    return fit_line((Span(f" {' · '.join(shown)}", MUTED),), width)


def hint_line(hints: tuple[tuple[str, str], ...], width: int, unseen: Unseen = ALL_SEEN) -> Line:
    """Keys and words, as many as fit: the first ones, and always the last two. What a list has above
    and below what is shown stands at the end.
    """
    first, last = list(hints[:-2]), hints[-2:]
    room = width - line_cells(_more(unseen))
    while first and line_cells(_hinted((*first, *last))) > room:
        first.pop()
    return spread(_hinted((*first, *last)), _more(unseen), width)


def more_line(unseen: Unseen, width: int) -> Line:
    """What a list has above and below what is shown, at the end of an empty line."""
    return spread((), _more(unseen), width)


def _more(unseen: Unseen) -> Line:
    return (Span(f"{unseen.words} ", ACCENT),) if unseen.words else ()


def _hinted(hints: tuple[tuple[str, str], ...]) -> Line:
    spans = ((Span(keys, MUTED), Span(f" {words}  ", FAINT)) for keys, words in hints)
    return (Span(" "), *(span for pair in spans for span in pair))
