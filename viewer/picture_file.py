"""The screen as an SVG picture: text as text, bars as rectangles, nothing fetched from elsewhere.

Block glyphs are drawn as the rectangles they stand for, so that bars join whatever font a reader has.
"""

import os
import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import count, groupby
from pathlib import Path

from ..schemas.atomic_file import write_whole
from .model.text import Line, Span, cells, character_cells
from .model.tones import TEXT
from .new_file import check_new, typed_path
from .widgets.palette import Palette

CELL_WIDTH = 8.4
CELL_HEIGHT = 18
BASELINE = 13.5
MARGIN = 10
FONT_SIZE = 14
FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
BLOCKS = "▁▂▃▄▅▆▇█"
LEFT_BLOCKS = "▏▎▍▌▋▊▉"

MOST_STEM_BYTES = 230
"""With a number and a suffix behind it, it still is a file's name. Its end says more than its beginning."""

Patch = tuple[int, int, list[Line]]
"""Lines and where their top left cell lies: (column, line, lines)."""


def compose(patches: Iterable[Patch], width: int, height: int) -> list[Line]:
    """The patches laid over each other, later ones on top, as `height` lines of `width` cells. What of
    them lies outside, on a terminal too small for them, is left out.
    """
    canvas = [[(" ", TEXT)] * width for _ in range(height)]
    for left, top, lines in patches:
        for y, line in enumerate(lines, start=top):
            if 0 <= y < height:
                _lay(canvas[y], left, line)
    return [_joined(row) for row in canvas]


def _lay(row: list[tuple[str, int]], column: int, line: Line) -> None:
    for span in line:
        for character in span.text:
            wide = character_cells(character)
            if wide == 0 and 0 < column <= len(row):
                before, tone = row[column - 1]
                row[column - 1] = (before + character, tone)
            for offset in range(wide):
                if 0 <= column + offset < len(row):
                    row[column + offset] = ("" if offset else character, span.tone)
            column += wide


def _joined(row: list[tuple[str, int]]) -> Line:
    runs = groupby(row, key=lambda cell: cell[1])
    return tuple(Span("".join(text for text, _ in run), tone) for tone, run in runs)


def write_picture(path: Path, lines: list[Line], width: int, palette: Palette) -> None:
    """Writes the lines as an SVG, whole or not at all. Raises FileError."""
    with write_whole(path) as file:
        file.write(svg(lines, width, palette).encode("utf-8"))


def svg(lines: list[Line], width: int, palette: Palette) -> str:
    """The lines, each of `width` cells, as an SVG document in the palette's colours. The same lines
    give the same text.
    """
    pixels = (width * CELL_WIDTH + 2 * MARGIN, len(lines) * CELL_HEIGHT + 2 * MARGIN)
    size = f'width="{_number(pixels[0])}" height="{_number(pixels[1])}"'
    view = f"0 0 {_number(pixels[0])} {_number(pixels[1])}"
    shapes = (shape for y, line in enumerate(lines) for shape in _line_shapes(y, line, palette))
    body = "\n".join(shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="{view}">\n'
        f"<style>text {{ font: {FONT_SIZE}px {FONTS}; white-space: pre; }}"
        " .b { font-weight: bold; }</style>\n"
        f'<rect width="100%" height="100%" rx="6" fill="{palette.theme.ground}"/>\n'
        f"{body}\n</svg>\n"
    )


def _line_shapes(y: int, line: Line, palette: Palette) -> Iterator[str]:
    column, usual = 0, palette.theme.ground
    for span in line:
        style = palette.style(span.tone)
        ground = style.bgcolor.name if style.bgcolor else usual
        if ground != usual:
            yield _rectangle(column, y, cells(span.text), 8, ground)
        ink = style.color.name if style.color else usual
        for kind, run in groupby(span.text, key=_drawn_as):
            text = "".join(run)
            if kind in BLOCKS:
                yield _rectangle(column, y, len(text), BLOCKS.index(kind) + 1, ink)
            elif kind in LEFT_BLOCKS:
                yield _rectangle(column, y, (LEFT_BLOCKS.index(kind) + 1) / 8, 8, ink)
            elif kind != " ":
                yield _text(column, y, text, ink, bold=bool(style.bold))
            column += cells(text)


def _drawn_as(character: str) -> str:
    """A block or a space stands for itself; everything else is text."""
    return character if character in f"{BLOCKS}{LEFT_BLOCKS} " else "text"


def _rectangle(column: int, y: int, width: float, eighths: int, fill: str) -> str:
    height = CELL_HEIGHT * eighths / 8
    left, top = MARGIN + column * CELL_WIDTH, MARGIN + (y + 1) * CELL_HEIGHT - height
    place = f'x="{_number(left)}" y="{_number(top)}"'
    size = f'width="{_number(width * CELL_WIDTH)}" height="{_number(height)}"'
    return f'<rect {place} {size} fill="{fill}" shape-rendering="crispEdges"/>'


def _text(column: int, y: int, text: str, fill: str, *, bold: bool) -> str:
    left, base = MARGIN + column * CELL_WIDTH, MARGIN + y * CELL_HEIGHT + BASELINE
    length = f'textLength="{_number(cells(text) * CELL_WIDTH)}" lengthAdjust="spacingAndGlyphs"'
    weight = ' class="b"' if bold else ""
    place = f'x="{_number(left)}" y="{_number(base)}"'
    return f'<text {place} {length} fill="{fill}"{weight}>{escape(text)}</text>'


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def picture_name(chosen: str, title: str, view: str) -> Path:
    """The file for a picture: the chosen name, or a free one made of the title and the view.

    FileError where a file of the chosen name exists, or none can be called so.
    """
    if not chosen:
        return free_name(Path(), title, view=view)
    path = picture_path(chosen)
    check_new(path)
    return path


def picture_path(name: str) -> Path:
    """The file for a typed name, with `.svg` behind it. FileError where it is that of another picture."""
    return typed_path(name, ".svg", "picture")


def free_name(folder: Path, title: str, suffix: str = ".svg", view: str = "") -> Path:
    """`title-view.svg` in the folder, or `title-view-2.svg` … where that is taken."""
    words = f"{Path(title).stem} {view}"
    stem = re.sub(r"[^\w.-]+", "-", words).strip(".-") or "screen"
    while len(os.fsencode(stem)) > MOST_STEM_BYTES:
        stem = stem[1:]
    names = (f"{stem}{suffix}" if n == 1 else f"{stem}-{n}{suffix}" for n in count(1))
    return next(folder / name for name in names if not os.path.lexists(folder / name))
