"""Text in terminal cells: spans, lines, and how to fit names of any script into a given width."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from .tones import TEXT

ELLIPSIS = "…"

MOST_QUOTED = 24
"""So many cells of what was typed are repeated in a message."""

HANGUL_MEDIAL_AND_FINAL = range(0x1160, 0x1200)


class Span(NamedTuple):
    """A run of text in one tone (tones.tone). A tuple, because a frame is made of thousands of them."""

    text: str
    tone: int = TEXT


Line = tuple[Span, ...]
"""One line of the screen, from left to right."""


@lru_cache(maxsize=4096)
def character_cells(character: str) -> int:
    """The cells a character takes: 2 for East Asian wide ones, 0 for combining marks, else 1."""
    if unicodedata.category(character) in ("Mn", "Mc", "Me"):
        return 0
    if ord(character) in HANGUL_MEDIAL_AND_FINAL:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cells(text: str) -> int:
    """The cells a printable text takes."""
    if text.isascii():
        return len(text)
    return sum(map(character_cells, text))


def printable(text: str) -> str:
    """The text with tabs as spaces and without what would move the cursor or the text direction."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text.expandtabs(4))


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Cf", "Zl", "Zp") or "\ufe00" <= character <= "\ufe0f":
        return ""
    return "·" if category in ("Cc", "Cs", "Cn", "Co") else character


def cut(text: str, width: int) -> str:
    """The text, shortened to at most `width` cells; an ellipsis stands for what is missing."""
    if cells(text) <= width:
        return text
    if width <= 0:
        return ""
    kept, used = [], 0
    for character in text:
        used += character_cells(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + ELLIPSIS


def fit(text: str, width: int) -> str:
    """The text in exactly `width` cells: cut, or filled with spaces."""
    shown = cut(text, width)
    return shown + " " * (width - cells(shown))


def quoted(text: str) -> str:
    """What was typed, in quotes, for a message of one line: of a long one its beginning."""
    return repr(cut(printable(text), MOST_QUOTED))


def line_cells(line: Iterable[Span]) -> int:
    """The cells a line takes."""
    return sum(cells(span.text) for span in line)


def is_blank(line: Line) -> bool:
    """Whether nothing is to be seen of a line."""
    return not any(span.text.strip() for span in line)


def fit_line(line: Line, width: int, tone: int = TEXT) -> Line:
    """The line in exactly `width` cells: cut with an ellipsis, or filled with spaces in `tone`."""
    fitted: list[Span] = []
    left = width
    for span in line:
        if left <= 0:
            break
        shown = cut(span.text, left)
        fitted.append(Span(shown, span.tone))
        left -= cells(shown)
        if shown != span.text:
            break
    if left > 0:
        fitted.append(Span(" " * left, tone))
    return tuple(fitted)


def spread(left: Line, right: Line, width: int) -> Line:
    """`left` at the left and `right` at the right end; where both do not fit, the left is cut."""
    room = max(0, width - line_cells(right))
    return fit_line((*fit_line(left, room), *right), width)


def wrap(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` cells, broken at spaces, inside a word only if it must."""
    lines: list[str] = []
    current = ""
    for word in text.split():
        candidate = f"{current} {word}" if current else word
        if cells(candidate) <= width:
            current = candidate
            continue
        if current:
            lines.append(current)
        pieces = _pieces(word, width)
        lines.extend(pieces[:-1])
        current = pieces[-1]
    return [*lines, current] if current else lines


def _pieces(word: str, width: int) -> list[str]:
    pieces = [""]
    for character in word:
        if pieces[-1] and cells(pieces[-1]) + character_cells(character) > width:
            pieces.append("")
        pieces[-1] += character
    return pieces
