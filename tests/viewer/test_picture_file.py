"""The screen as an SVG picture."""

from xml.etree import ElementTree

import pytest
from kerntape.schemas.errors import FileError
from kerntape.viewer.app import export_svg
from kerntape.viewer.model.text import Span
from kerntape.viewer.model.tones import GROUND, LABEL, TEXT, Paint, tone
from kerntape.viewer.picture_file import compose, free_name, svg
from kerntape.viewer.widgets.palette import DARK, LIGHT, Palette
from painted_text import last_line, prompt_line
from pressed import type_in

GEMM = tone(Paint.GEMM)
COLOURS = Palette(DARK)


def shapes(document):
    root = ElementTree.fromstring(document)
    return [(shape.tag.partition("}")[2], shape.attrib, shape.text) for shape in root][2:]


def test_bars_are_rectangles_of_their_height_and_text_is_text():
    # cells are 8.4 × 18 from (10, 10) on: ██ is whole, ▂ two eighths (4.5) at the bottom
    document = svg([(Span("██▂", GEMM), Span(" ab", TEXT))], 6, COLOURS)
    whole, low, text = shapes(document)
    assert whole[0] == low[0] == "rect"
    assert {name: whole[1][name] for name in ("x", "y", "width", "height", "fill")} == {
        "x": "10",
        "y": "10",
        "width": "16.8",
        "height": "18",
        "fill": "#009e73",
    }
    assert (low[1]["y"], low[1]["height"]) == ("23.5", "4.5")
    assert text[0] == "text"
    assert (text[1]["x"], text[2]) == ("43.6", "ab")


def test_a_label_stands_on_its_bar():
    ground, text = shapes(svg([(Span("#1", GEMM | LABEL),)], 2, COLOURS))
    assert (ground[0], ground[1]["fill"]) == ("rect", "#009e73")
    assert text[2] == "#1"


def test_a_bar_s_idle_part_has_the_ground_of_its_reason():
    ground, bar = shapes(svg([(Span("▂", GEMM + GROUND * (Paint.READ + 1)),)], 1, COLOURS))
    assert (ground[1]["height"], bar[1]["height"]) == ("18", "4.5")
    assert ground[1]["fill"] not in (DARK.ground, DARK.paints[Paint.READ])


def test_a_picture_has_the_colours_of_its_theme(decode, tmp_path):
    export_svg(decode, tmp_path / "x.svg", theme="light")
    assert f'fill="{LIGHT.ground}"' in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_what_svg_would_read_as_markup_is_escaped():
    ((_, _, text),) = shapes(svg([(Span("<a&b>", TEXT),)], 5, COLOURS))
    assert text == "<a&b>"


def test_nothing_is_fetched_from_elsewhere():
    document = svg([(Span("ab", TEXT),)], 2, COLOURS)
    assert document.count("http") == 1  # the namespace of SVG
    assert "@font-face" not in document


def test_later_patches_lie_over_earlier_ones():
    under = (0, 0, [(Span("aaaa"),), (Span("bbbb"),)])
    over = (1, 1, [(Span("X", GEMM), Span("Y")), (Span("outside"),)])
    lines = compose([under, over], 4, 2)
    assert lines == [(Span("aaaa"),), (Span("b"), Span("X", GEMM), Span("Yb"))]


def test_what_lies_outside_a_small_terminal_is_left_out():
    lines = [(Span(f"{row}bcd", TEXT),) for row in range(5)]
    last_but_one = compose([(-1, -3, lines)], 2, 1)  # line 3 of 5, its first cell outside
    assert last_but_one == [(Span("bc", TEXT),)]
    assert compose([(1, 0, lines)], 2, 2) == [(Span(" 0", TEXT),), (Span(" 1", TEXT),)]


def test_a_wide_character_takes_two_cells_and_a_combining_one_none():
    (line,) = compose([(0, 0, [(Span("커é|"),)])], 5, 1)
    assert line == (Span("커é| "),)


def test_the_same_timeline_and_keys_give_the_same_picture(decode, tmp_path):
    one, two = tmp_path / "one.svg", tmp_path / "two.svg"
    for path in (one, two):
        export_svg(decode, path, title="decode.ktrace", keys=("down", "full_stop", "s"))
    assert one.read_bytes() == two.read_bytes()
    assert ">decode.ktrace</text>" in one.read_text(encoding="utf-8")


def test_without_a_title_the_picture_has_the_kernel_s_name(decode, tmp_path):
    export_svg(decode, tmp_path / "x.svg", size=(80, 24))
    assert ">decode</text>" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_a_picture_that_cannot_be_written_is_an_error(decode, tmp_path):
    with pytest.raises(FileError, match="cannot be written: there is no folder"):
        export_svg(decode, tmp_path / "no" / "x.svg", title="x")


def test_a_free_name_is_made_of_the_title(tmp_path):
    assert free_name(tmp_path, "opt2.ktrace").name == "opt2.svg"
    assert free_name(tmp_path, "gqa decode/../opt2").name == "opt2.svg"
    assert free_name(tmp_path, "🔥").name == "screen.svg"
    (tmp_path / "opt2.svg").touch()
    (tmp_path / "opt2-2.svg").touch()
    assert free_name(tmp_path, "opt2.ktrace").name == "opt2-3.svg"


@pytest.mark.parametrize("title", ["x" * 255, "커" * 85, "x" * 250 + ".ktimeline"])
def test_a_free_name_is_no_longer_than_a_file_s_may_be(tmp_path, title):
    for _ in range(2):
        path = free_name(tmp_path, title, ".yaml", "critical-path")
        path.touch()
    assert path.name.endswith("-critical-path-2.yaml")


def test_a_name_of_another_kind_of_picture_is_refused_at_the_prompt(
    drive, decode, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    async def scenario(pilot, screen):
        await type_in(pilot, "picture pic.png")
        assert prompt_line(pilot.app.screen) == (
            " a picture must be saved as .svg, not .png: type pic.svg"
        )
        await pilot.press(*["backspace"] * 4, "enter")
        return last_line(screen)

    assert drive(decode, scenario) == "saved pic.svg"
    assert [path.name for path in tmp_path.iterdir()] == ["pic.svg"]
