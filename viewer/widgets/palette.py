"""Tones as terminal styles, in the Okabe–Ito colours, which colour-blind people can tell apart.

Without colours (NO_COLOR) everything is still told apart by glyph, bold or reverse.
"""

from functools import cache

from rich.color import Color
from rich.color_triplet import ColorTriplet
from rich.style import Style

from ..model.tones import LABEL, TONES_PER_PAINT, Paint, Shade

BACKGROUND = "#12161c"
PANEL = "#1a2029"

PAINTS = {
    Paint.TEXT: "#c9d1d9",
    Paint.MUTED: "#8b949e",
    Paint.FAINT: "#4d5663",
    Paint.STRONG: "#f0f3f6",
    Paint.ACCENT: "#56b4e9",
    Paint.HELD: "#f0e442",
    Paint.VIOLATED: "#d55e00",
    Paint.POTENTIAL: "#f0e442",
    Paint.CONTROL: "#a8b1bc",
    Paint.DISPATCH: "#e69f00",
    Paint.READ: "#56b4e9",
    Paint.FETCH: "#0072b2",
    Paint.GEMM: "#009e73",
    Paint.MATH: "#cc79a7",
    Paint.WRITE: "#0072b2",
    Paint.MESSAGE: "#f0e442",
}

BOLD = {Paint.STRONG, Paint.HELD, Paint.VIOLATED, Paint.POTENTIAL}
SELECTED = "#ffffff"
TRAIL_SHARE_OF_WHITE = 0.55
OTHER_SHARE_OF_GROUND = 0.28


@cache
def style_of(tone: int) -> Style:
    """The style of a tone (model.tones)."""
    paint = Paint(tone // TONES_PER_PAINT)
    shade = Shade(tone % LABEL)
    ink = _shaded(_triplet(PAINTS[paint]), shade)
    if tone & LABEL:
        return Style(color=_colour(_triplet(BACKGROUND)), bgcolor=_colour(ink), bold=True)
    emphasised = paint in BOLD or shade is Shade.SELECTED
    return Style(color=_colour(ink), bgcolor=_colour(_triplet(BACKGROUND)), bold=emphasised)


def _shaded(ink: ColorTriplet, shade: Shade) -> ColorTriplet:
    match shade:
        case Shade.PLAIN:
            return ink
        case Shade.OTHER:
            return _mixed(ink, _triplet(BACKGROUND), OTHER_SHARE_OF_GROUND)
        case Shade.MARKED:
            return _mixed(ink, _triplet(SELECTED), TRAIL_SHARE_OF_WHITE)
        case Shade.SELECTED:
            return _triplet(SELECTED)


def _mixed(ink: ColorTriplet, other: ColorTriplet, share: float) -> ColorTriplet:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(ink, other, strict=True))
    return ColorTriplet(red, green, blue)


def _triplet(hexadecimal: str) -> ColorTriplet:
    return Color.parse(hexadecimal).get_truecolor()


def _colour(triplet: ColorTriplet) -> Color:
    return Color.from_triplet(triplet)
