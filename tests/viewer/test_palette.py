"""Colours that everybody can read and tell apart, on dark and on light, in 256 colours and in none."""

import asyncio
from itertools import combinations
from math import dist

import pytest
from kerntape.viewer.app import Browser
from kerntape.viewer.model.tones import GROUND, LABEL, Paint, Shade, tone
from kerntape.viewer.widgets.palette import DARK, LIGHT, Palette, contrast, theme_of_terminal
from rich.color import Color, ColorSystem
from rich.color_triplet import ColorTriplet

THEMES = [pytest.param(DARK, id="dark"), pytest.param(LIGHT, id="light")]
KINDS = (Paint.DISPATCH, Paint.READ, Paint.FETCH, Paint.GEMM, Paint.MATH, Paint.MESSAGE)
WORDS = (
    Paint.TEXT,
    Paint.MUTED,
    Paint.STRONG,
    Paint.ACCENT,
    Paint.HELD,
    Paint.VIOLATED,
    Paint.POTENTIAL,
    Paint.CONTROL,
)
"""The paints that sentences are written in."""

# WCAG 2.2: text needs 4.5 (1.4.3), what is drawn 3 (1.4.11)
READABLE, VISIBLE = 4.5, 3.0

SEEN_BY = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no L cones": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no M cones": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
"""What linear red, green and blue become (Machado, Oliveira and Fernandes 2009, severity 1)."""

XYZ = (
    (0.4124 / 0.95047, 0.3576 / 0.95047, 0.1805 / 0.95047),
    (0.2126, 0.7152, 0.0722),
    (0.0193 / 1.08883, 0.1192 / 1.08883, 0.9505 / 1.08883),
)
"""Linear sRGB to XYZ over the white of D65."""

LEAST_DIFFERENCE = 15.0
"""CIE 1976; 2 to 3 can just be seen, and Okabe and Ito's own least is 17 (orange and yellow, no M cones)."""


def ink(theme, paint, shade=Shade.PLAIN):
    return Palette(theme).style(tone(paint, shade)).color.get_truecolor()


def triplet(hexadecimal):
    return Color.parse(hexadecimal).get_truecolor()


def in_256_colours(colour):
    """What a terminal of 256 colours shows for a colour."""
    number = Color.from_triplet(colour).downgrade(ColorSystem.EIGHT_BIT).number
    return Color.from_ansi(number).get_truecolor()


def times(matrix, column):
    return tuple(sum(a * b for a, b in zip(row, column, strict=True)) for row in matrix)


def lab(colour: ColorTriplet, cones):
    """L*a*b* of a colour as somebody with these cones sees it."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in colour)
    ]
    seen = [min(max(part, 0), 1) for part in times(cones, linear)]
    x, y, z = (
        part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in times(XYZ, seen)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_black_on_white_has_the_largest_contrast_and_grey_on_itself_none():
    black, white, grey = (triplet(name) for name in ("#000000", "#ffffff", "#777777"))
    assert contrast(black, white) == contrast(white, black) == 21
    assert contrast(grey, grey) == 1
    assert round(contrast(grey, white), 2) == 4.48  # the value that WCAG's authors give for #777


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("shown", [lambda colour: colour, in_256_colours], ids=["true", "256"])
def test_words_can_be_read_and_bars_be_seen(theme, shown):
    ground = shown(triplet(theme.ground))
    for paint in Paint:
        least = READABLE if paint in WORDS else VISIBLE
        assert contrast(shown(ink(theme, paint)), ground) >= least, paint
    for paint in KINDS:
        assert contrast(shown(ink(theme, paint, Shade.MARKED)), ground) >= VISIBLE
        assert contrast(shown(ink(theme, paint, Shade.SELECTED)), ground) >= READABLE


@pytest.mark.parametrize("theme", THEMES)
def test_a_label_can_be_read_on_its_bar_in_every_shade(theme):
    palette = Palette(theme)
    for paint in KINDS:
        for shade in Shade:
            style = palette.style(tone(paint, shade) | LABEL)
            assert contrast(style.color.get_truecolor(), style.bgcolor.get_truecolor()) >= READABLE


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("cones", SEEN_BY)
def test_the_kinds_of_work_can_be_told_apart_whatever_cones_one_has(theme, cones):
    colours = [lab(ink(theme, paint), SEEN_BY[cones]) for paint in KINDS]
    assert min(dist(*pair) for pair in combinations(colours, 2)) > LEAST_DIFFERENCE


@pytest.mark.parametrize("theme", THEMES)
def test_the_kinds_of_work_can_be_told_apart_in_256_colours(theme):
    assert len({in_256_colours(ink(theme, paint)) for paint in KINDS}) == len(KINDS)


@pytest.mark.parametrize("theme", THEMES)
def test_no_two_shades_that_must_be_told_apart_look_alike(theme):
    for paint in KINDS:
        colours = {ink(theme, paint, shade) for shade in Shade}
        assert len(colours) == len(Shade)
        assert triplet(theme.ground) not in colours


@pytest.mark.parametrize("theme", THEMES)
def test_a_bar_stands_out_from_the_ground_of_its_idle_part(theme):
    palette = Palette(theme)
    for paint in KINDS:
        style = palette.style(tone(paint) + GROUND * (paint + 1))
        assert contrast(style.color.get_truecolor(), style.bgcolor.get_truecolor()) >= 1.5
        assert style.bgcolor.get_truecolor() != triplet(theme.ground)


def test_on_dark_the_colours_are_those_of_okabe_and_ito():
    okabe_ito = {"#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"}
    paints = (*KINDS, Paint.WRITE, Paint.HELD, Paint.VIOLATED, Paint.POTENTIAL)
    assert {ink(DARK, paint).hex for paint in paints} == okabe_ito


def test_without_colours_no_style_has_any():
    palette = Palette(DARK, has_colours=False)
    for paint in Paint:
        for shade in Shade:
            for label in (0, LABEL):
                style = palette.style((tone(paint, shade) | label) + GROUND)
                assert (style.color, style.bgcolor) == (None, None)


def test_without_colours_what_must_stand_out_is_bold_or_reversed():
    palette = Palette(DARK, has_colours=False)
    plain, selected = (
        palette.style(tone(Paint.GEMM, one)) for one in (Shade.PLAIN, Shade.SELECTED)
    )
    assert (plain.bold, selected.bold) == (False, True)
    assert palette.style(tone(Paint.GEMM) | LABEL).reverse
    assert palette.style(tone(Paint.VIOLATED)).bold
    assert palette.style(tone(Paint.FAINT)).dim


@pytest.mark.parametrize(
    ("environment", "theme"),
    [
        ({}, DARK),
        ({"COLORFGBG": "15;0"}, DARK),
        ({"COLORFGBG": "0;15"}, LIGHT),
        ({"COLORFGBG": "0;default;7"}, LIGHT),
        ({"COLORFGBG": "odd"}, DARK),
    ],
)
def test_the_terminal_says_whether_its_ground_is_light(environment, theme):
    assert theme_of_terminal(environment) is theme


def colours_on_screen(app):
    """The colours of every cell that is on the terminal."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    styles = [segment.style for strip in strips for segment in strip if segment.style]
    assert (len(strips), width > 0) == (height, True)
    return {colour.name for style in styles for colour in (style.color, style.bgcolor) if colour}


def test_with_no_color_set_the_whole_screen_has_the_terminal_s_own_colours(monkeypatch, decode):
    monkeypatch.setenv("NO_COLOR", "1")

    async def go():
        app = Browser(decode, "x")
        async with app.run_test(size=(100, 30)) as pilot:
            found = set()
            for keys in (("escape",), ("p", "i"), ("tab",), ("escape", "slash", "a")):
                await pilot.press(*keys)
                await app.workers.wait_for_complete()
                found |= colours_on_screen(app)
            return found

    assert asyncio.run(go()) <= {"default"}


def test_c_changes_to_light_colours_and_back(drive, decode):
    async def scenario(pilot, screen):
        app = pilot.app
        await pilot.press("C")
        await pilot.pause()
        light = colours_on_screen(app)
        await pilot.press("tab", "C")
        await pilot.pause()
        return light, colours_on_screen(app)

    light, dark = drive(decode, scenario)
    assert LIGHT.ground in light
    assert DARK.ground not in light
    assert DARK.ground in dark
    assert LIGHT.ground not in dark
