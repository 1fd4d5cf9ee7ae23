"""Cells to draw on: one code point and one tone a column, and the runs of one tone that they become."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Int64s
from .text import Line, Span

LEVELS = np.array([ord(glyph) for glyph in " ▁▂▃▄▅▆▇█"], dtype=np.uint32)


@dataclass(frozen=True)
class Cells:
    """A row under construction: one code point and one tone a column."""

    glyphs: npt.NDArray[np.uint32]
    tones: Int64s

    def put(self, column: int, text: str, tone_number: int) -> None:
        """Writes characters that take one cell each."""
        codes = np.array([ord(character) for character in text], dtype=np.uint32)
        self.glyphs[column : column + len(codes)] = codes
        self.tones[column : column + len(codes)] = tone_number


def spans(picture: Cells) -> Line:
    """The cells as runs of one tone. Made without Span's own checks: a frame has thousands of them."""
    text = picture.glyphs.astype("<u4").tobytes().decode("utf-32-le")
    changes = np.flatnonzero(picture.tones[1:] != picture.tones[:-1]) + 1
    starts = [0, *changes.tolist()][: len(text)]
    tones = picture.tones[starts].tolist()
    ends = [*starts[1:], len(text)]
    new = tuple.__new__
    runs = zip(starts, ends, tones, strict=True)
    return tuple([new(Span, (text[start:end], tone)) for start, end, tone in runs])
