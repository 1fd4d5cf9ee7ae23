"""What is painted, as text: lines without the spaces at their ends."""

from collections.abc import Iterable

from kerntape.viewer.model.text import Line
from kerntape.viewer.widgets.painted import Painted
from textual.screen import Screen


def line_text(line: Line) -> str:
    """One painted line's."""
    return "".join(span.text for span in line).rstrip()


def line_texts(lines: Iterable[Line]) -> list[str]:
    """Each painted line's."""
    return [line_text(line) for line in lines]


def prompt_line(screen: Screen[None]) -> str:
    """What the line in which one types says below what is typed."""
    return line_text(screen.query_one("#prompt", Painted).lines[0])


def last_line(screen: Screen[None]) -> str:
    """What the timeline's last line says."""
    return line_text(screen.query_one("#last", Painted).lines[-1]).strip()
