"""Only the rows whose name matches a pattern: asking for it, and what there is to say of it."""

from functools import partial

from ..model.matching import PatternError
from ..model.rows import filter_rows
from .ask import AskLine
from .finder import pattern_complaint
from .host import Host


def ask_rows(screen: Host) -> None:
    """Asks for it, with the pattern that is in force, which gives way to what is typed."""
    prompt = "only rows like (a regular expression; empty: all): "
    line = AskLine(prompt, pattern_complaint, screen.look.rows_like)
    screen.app.push_screen(line, partial(_filtered, screen))


def _filtered(screen: Host, pattern: str | None) -> None:
    if pattern is not None:
        filter_by(screen, pattern)


def filter_by(screen: Host, pattern: str) -> None:
    """Shows only rows like that; where none is, or that takes too long, nothing changes."""
    try:
        look = filter_rows(screen.index, screen.look, pattern)
    except PatternError as error:
        screen.say(str(error))
        return
    if look is screen.look and pattern:
        screen.say(f"no row is like {pattern}")
    elif look.rows_like:
        screen.go(look)
    else:
        screen.go(look, f"every row is like {pattern}" if pattern else "all rows are shown")
