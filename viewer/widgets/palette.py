"""Tones as terminal styles: dark, light, and without colours.

The colours are those of Okabe and Ito, which colour-blind people can tell apart. On a light ground
those that would not be read there are darker. Without colours (NO_COLOR) everything is still told
apart by glyph, bold, dim or reverse, on whatever ground the terminal has.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rich.color import Color
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style

from ..model.text import Span
from ..model.tones import GROUND, LABEL, TONES_PER_PAINT, Paint, Shade

TRAIL_SHARE = 0.55
"""How far a marked stage's colour is from its own on the way to the selected one's."""

OTHER_SHARE = 0.28
"""How far every other stage's colour is on the way to the ground."""

IDLE_SHARE = 0.68
"""How far the ground of an idle part is from its reason's colour on the way to the usual ground."""


@dataclass(frozen=True)
class Theme:
    """Colours. `panel` is the ground of what one types into, `selected` the selected stage's."""

    name: str
    is_dark: bool
    ground: str
    panel: str
    selected: str
    paints: Mapping[Paint, str]


DARK = Theme(
    name="kerntape-dark",
    is_dark=True,
    ground="#12161c",
    panel="#1a2029",
    selected="#ffffff",
    paints={
        Paint.TEXT: "#c9d1d9",
        Paint.MUTED: "#8b949e",
        Paint.FAINT: "#5f6a78",
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
    },
)

LIGHT = Theme(
    name="kerntape-light",
    is_dark=False,
    ground="#fbfbfa",
    panel="#eceeef",
    selected="#000000",
    paints={
        Paint.TEXT: "#24292f",
        Paint.MUTED: "#57606a",
        Paint.FAINT: "#7f8892",
        Paint.STRONG: "#000000",
        Paint.ACCENT: "#0072b2",
        Paint.HELD: "#736d20",
        Paint.VIOLATED: "#bf5400",
        Paint.POTENTIAL: "#736d20",
        Paint.CONTROL: "#59636e",
        Paint.DISPATCH: "#805800",
        Paint.READ: "#4998c5",
        Paint.FETCH: "#00649d",
        Paint.GEMM: "#006e50",
        Paint.MATH: "#a66388",
        Paint.WRITE: "#00649d",
        Paint.MESSAGE: "#9b932b",
    },
)

LIGHT_GROUNDS = ("7", "15")
"""The numbers of white among a terminal's sixteen colours."""

BOLD = {Paint.STRONG, Paint.HELD, Paint.VIOLATED, Paint.POTENTIAL}
DIM = {Paint.FAINT}


def theme_of_terminal(environment: Mapping[str, str]) -> Theme:
    """Light on a terminal that says that its ground is (COLORFGBG: `0;15`), else dark."""
    ground = environment.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if ground in LIGHT_GROUNDS else DARK


class Palette:
    """The styles of a theme, or those that need no colours."""

    def __init__(self, theme: Theme, *, has_colours: bool = True) -> None:
        self.theme = theme
        self._style_of = self._coloured if has_colours else _plain
        self.style = lru_cache(maxsize=None)(self._style)
        self.segment = lru_cache(maxsize=1 << 14)(self._segment)

    def _style(self, tone: int) -> Style:
        """The style of a tone (model.tones)."""
        ground, ink = divmod(tone, GROUND)
        paint, look = divmod(ink, TONES_PER_PAINT)
        return self._style_of(Paint(paint), Shade(look % LABEL), bool(look & LABEL), ground - 1)

    def _segment(self, span: Span) -> Segment:
        """A span as the terminal's. Kept: most spans of a dense picture are the same few glyphs."""
        return Segment(span.text, self.style(span.tone))

    def _coloured(self, paint: Paint, shade: Shade, is_label: bool, ground: int) -> Style:
        ink = self._shaded(_triplet(self.theme.paints[paint]), shade)
        if is_label:
            return Style(color=_colour(label_ink(ink)), bgcolor=_colour(ink), bold=True)
        behind = _triplet(self.theme.ground)
        if ground >= 0:
            behind = _mixed(_triplet(self.theme.paints[Paint(ground)]), behind, IDLE_SHARE)
        emphasised = paint in BOLD or shade is Shade.SELECTED
        return Style(color=_colour(ink), bgcolor=_colour(behind), bold=emphasised)

    def _shaded(self, ink: ColorTriplet, shade: Shade) -> ColorTriplet:
        match shade:
            case Shade.PLAIN:
                return ink
            case Shade.OTHER:
                return _mixed(ink, _triplet(self.theme.ground), OTHER_SHARE)
            case Shade.MARKED:
                return _mixed(ink, _triplet(self.theme.selected), TRAIL_SHARE)
            case Shade.SELECTED:
                return _triplet(self.theme.selected)


def _plain(paint: Paint, shade: Shade, is_label: bool, _: int) -> Style:
    """Without colours."""
    if is_label:
        return Style(reverse=True, bold=shade is Shade.SELECTED, underline=shade is Shade.MARKED)
    return Style(
        bold=paint in BOLD or shade in (Shade.SELECTED, Shade.MARKED),
        dim=paint in DIM or shade is Shade.OTHER,
        underline=shade is Shade.MARKED,
    )


def label_ink(bar: ColorTriplet) -> ColorTriplet:
    """Black or white, whichever is read better on a bar of that colour: one of them always is, since
    their contrasts with it multiply to 21 and the larger is at least √21 = 4.58.
    """
    black, white = _triplet("#000000"), _triplet("#ffffff")
    return max(black, white, key=lambda ink: contrast(ink, bar))


def contrast(one: ColorTriplet, other: ColorTriplet) -> float:
    """The contrast of two colours from 1 to 21, as WCAG 2.2 defines it (relative luminance)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: ColorTriplet) -> float:
    red, green, blue = (_linear(part / 255) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _mixed(ink: ColorTriplet, other: ColorTriplet, share: float) -> ColorTriplet:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(ink, other, strict=True))
    return ColorTriplet(red, green, blue)


def _triplet(hexadecimal: str) -> ColorTriplet:
    return Color.parse(hexadecimal).get_truecolor()


def _colour(triplet: ColorTriplet) -> Color:
    return Color.from_triplet(triplet)
