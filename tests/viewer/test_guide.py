"""docs/browser.md shows what the browser shows. `KERNTAPE_WRITE_SNAPSHOTS=1` makes its pictures anew."""

import os
import re
from pathlib import Path

import pytest
from kerntape.capture.capture import capture
from kerntape.replay.replay import replay
from kerntape.topologies.loader import resolve_topology
from kerntape.viewer.app import export_svg

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = DOCS / "pictures"

IN_THE_LOOP = ("colon", *"7.4us", "enter", *("down",) * 4, *("W",) * 6)

SHOWN = {
    "browser-first": ((100, 30), ()),
    "browser-causes": ((100, 30), (*IN_THE_LOOP, "full_stop", *("left_square_bracket",) * 2)),
    "browser-hazards": ((100, 30), (*IN_THE_LOOP, "tab", "down")),
    "browser-summary": ((100, 36), ("u",)),
}


@pytest.fixture(scope="module")
def opt2():
    arguments = {"variant": "opt2"}
    machine = resolve_topology("single_pe")
    return replay(capture("gqa_decode", machine, arguments, with_data=False).trace)


@pytest.mark.parametrize("name", SHOWN)
def test_the_pictures_are_what_the_browser_shows(name, opt2, tmp_path):
    size, keys = SHOWN[name]
    made = tmp_path / f"{name}.svg"
    export_svg(opt2, made, title="opt2.ktrace", size=size, keys=keys)
    if os.environ.get("KERNTAPE_WRITE_SNAPSHOTS"):
        (PICTURES / made.name).write_bytes(made.read_bytes())
    assert without_kernel_lines(made) == without_kernel_lines(PICTURES / made.name)


def without_kernel_lines(picture):
    """A kernel's source may be edited without a new picture of the browser."""
    shapes = picture.read_text(encoding="utf-8").splitlines()
    heights = {found[1] for shape in shapes if (found := re.search(r' y="(\S+)".*\.py:\d', shape))}
    return [shape for shape in shapes if not any(f' y="{y}"' in shape for y in heights)]


def test_every_picture_of_the_guide_is_there_and_used():
    linked = re.findall(r"\]\(pictures/([^)]+)\)", (DOCS / "browser.md").read_text("utf-8"))
    assert sorted(linked) == sorted(f"{name}.svg" for name in SHOWN)
    assert all((PICTURES / name).is_file() for name in linked)
