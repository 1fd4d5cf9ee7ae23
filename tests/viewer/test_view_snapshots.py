"""The other views as text. `KERNTAPE_WRITE_SNAPSHOTS=1` writes them anew; read them before you commit."""

import asyncio
import os
from pathlib import Path

import pytest
from kerntape.topologies.loader import resolve_topology
from kerntape.viewer.app import Browser
from settling import settled
from timeline_builder import decode_like

SNAPSHOTS = Path(__file__).parent / "snapshots"
SIZES = [(100, 30), (80, 24)]


def shown(timeline, keys, size, other=None):
    """The screen's text after the keys; WAIT waits for what goes on in threads."""

    async def go():
        app = Browser(timeline, "decode.ktrace", other)
        async with app.run_test(size=size) as pilot:
            to_timeline = () if other else ("escape",)
            for key in (*to_timeline, *keys, "WAIT"):
                if key == "WAIT":
                    await settled(pilot)
                else:
                    await pilot.press(key)
            lines = app.screen_lines()
        return "".join("".join(span.text for span in line).rstrip() + "\n" for line in lines)

    return asyncio.run(go())


def check(name, size, text):
    file = SNAPSHOTS / f"{name}-{size[0]}x{size[1]}.txt"
    if os.environ.get("KERNTAPE_WRITE_SNAPSHOTS"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("size", SIZES)
def test_the_calibration_panel_is_as_it_was(size, opt2):
    keys = ("c", "WAIT", "down", "down", "right", "WAIT")
    check("calibrate", size, shown(opt2, keys, size))


@pytest.mark.parametrize("size", SIZES)
def test_the_faster_engines_are_as_they_were(size, opt2):
    check("faster", size, shown(opt2, ("c", "WAIT", "end"), size))


@pytest.mark.parametrize("size", SIZES)
def test_the_comparison_by_tiles_is_as_it_was(size, opt2, opt3):
    other = (opt3, "opt3.ktrace")
    check("compare_tiles", size, shown(opt2, ("WAIT", "n"), size, other))


@pytest.mark.parametrize("size", SIZES)
def test_the_comparison_of_one_trace_with_itself_is_as_it_was(size, decode):
    check("compare_same", size, shown(decode, ("WAIT", "v"), size, (decode, "again.ktrace")))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["single_pe", "one_cube", "llama70b_4sip"])
def test_the_machine_is_as_it_was(size, name):
    machine = resolve_topology(name)
    timeline = decode_like(1, launched=machine.pe_count, machine=machine)
    check(f"machine_{name}", size, shown(timeline, ("g", "right", "down"), size))


@pytest.mark.parametrize("size", SIZES)
def test_a_cube_of_many_is_as_it_was(size):
    machine = resolve_topology("llama70b_4sip")
    timeline = decode_like(1, launched=16, machine=machine)
    check("machine_near", size, shown(timeline, ("g", "w", *["right"] * 4, "n"), size))


@pytest.mark.parametrize("size", SIZES)
def test_the_filtered_hazards_are_as_they_were(size, decode):
    check("hazards_filtered", size, shown(decode, ("tab", "o", "o", "o", "f", "down"), size))
