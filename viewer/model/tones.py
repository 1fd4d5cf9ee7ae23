"""How a piece of text is meant to look, as one small integer: a paint, a shade of it, bar or label.

The model speaks of tones; only viewer/widgets/palette.py knows colours.
"""

from enum import IntEnum

import numpy as np

from ...schemas.columns import Int64s
from ...schemas.stages import StageKind


class Paint(IntEnum):
    """What a colour stands for."""

    TEXT = 0
    MUTED = 1
    FAINT = 2
    STRONG = 3
    ACCENT = 4
    HELD = 5
    VIOLATED = 6
    POTENTIAL = 7
    CONTROL = 8
    DISPATCH = 9
    READ = 10
    FETCH = 11
    GEMM = 12
    MATH = 13
    WRITE = 14
    MESSAGE = 15


class Shade(IntEnum):
    """PLAIN and OTHER alternate, so that stages that touch stay apart. MARKED is on the trail."""

    PLAIN = 0
    OTHER = 1
    MARKED = 2
    SELECTED = 3


LABEL = 4
"""Added to a tone: text on a bar of that paint, instead of the bar itself."""

TONES_PER_PAINT = 8

GROUND = 1 << 8
"""Times a paint and 1, added to a tone: on a ground of that paint, darkened, instead of the usual one."""


def tone(paint: Paint, shade: Shade = Shade.PLAIN) -> int:
    """The tone of a paint in a shade."""
    return paint * TONES_PER_PAINT + shade


def on_ground(paints: Int64s) -> Int64s:
    """What to add to tones so that their ground is of these paints."""
    grounds: Int64s = (paints + 1) * GROUND
    return grounds


TEXT = tone(Paint.TEXT)
MUTED = tone(Paint.MUTED)
FAINT = tone(Paint.FAINT)
STRONG = tone(Paint.STRONG)
ACCENT = tone(Paint.ACCENT)

KIND_PAINTS = {
    StageKind.DISPATCH: Paint.DISPATCH,
    StageKind.ADMIT: Paint.CONTROL,
    StageKind.PLAN: Paint.CONTROL,
    StageKind.HBM_READ: Paint.READ,
    StageKind.DMA_READ: Paint.READ,
    StageKind.FETCH: Paint.FETCH,
    StageKind.GEMM: Paint.GEMM,
    StageKind.MATH: Paint.MATH,
    StageKind.DMA_WRITE: Paint.WRITE,
    StageKind.HBM_WRITE: Paint.WRITE,
    StageKind.FINISH: Paint.CONTROL,
    StageKind.RETIRE: Paint.CONTROL,
    StageKind.ACCEPT: Paint.CONTROL,
    StageKind.SEND: Paint.MESSAGE,
    StageKind.LINK: Paint.MESSAGE,
    StageKind.RECV: Paint.MESSAGE,
}

PAINT_OF_KIND = np.zeros(max(StageKind) + 1, dtype=np.int16)
"""Paint numbers, indexed by StageKind."""

PAINT_OF_KIND[list(KIND_PAINTS)] = list(KIND_PAINTS.values())
