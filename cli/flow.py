"""Lays text out on lines that are no wider than a terminal and move no cursor. Knows no terminal."""

from collections.abc import Iterable

WIDTH = 100


def flowed(indent: str, pieces: Iterable[str], hanging: str = "  ") -> list[str]:
    """The pieces on as few lines as hold them, none broken but cut where WIDTH is too little.

    Every line begins with `indent`, every line but the first with `hanging` too.
    """
    lines: list[str] = []
    current = indent
    for piece in map(printable, pieces):
        if len(current) + 1 + len(piece) > WIDTH and current.strip():
            lines.append(current)
            current = indent + hanging
        current += piece if not current.strip() else f" {piece}"
    return [cut(line) for line in (*lines, current)]


def cut(text: str) -> str:
    """Each line shortened to WIDTH; an ellipsis stands for what is missing."""
    return "\n".join(
        line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in text.split("\n")
    )


def printable(text: str) -> str:
    """The text without what could move a terminal's cursor: such characters are spelled out."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )


def counted(count: int, thing: str) -> str:
    """For example `1 image`, `2 images`."""
    return f"{count:,} {thing}" + ("" if count == 1 else "s")
