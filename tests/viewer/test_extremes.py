"""Timelines at the edges of what there can be: all of them open, at any size, and can be walked."""

import asyncio
from dataclasses import replace
from functools import cache
from itertools import cycle

import numpy as np
import pytest
from kerntape.schemas.commands import CommandKind, OpForm
from kerntape.schemas.stages import StageKind
from kerntape.schemas.timeline import Status
from kerntape.schemas.trace import SourceLine
from kerntape.viewer.actions import on_timeline
from kerntape.viewer.app import Browser
from kerntape.viewer.model import frame, minimap
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import first_look
from kerntape.viewer.model.rows import scrolled
from kerntape.viewer.model.stage_box import box_lines, strip_lines
from kerntape.viewer.model.text import line_cells
from kerntape.viewer.screens.timeline import TimelineScreen
from settling import settled
from timeline_builder import (
    CPU,
    TimelineBuilder,
    decode_like,
    timeline_of_intervals,
    topology,
    two_commands,
)

OVERLAYS = ("p", "i", "v", "end", "v", "escape", "o", "enter", "m", "P", "I", "t", "backslash", "z")
KEYS = ("full_stop", "left_square_bracket", "W", "f", "0", "enter", "enter", "tab", "enter", "u")
SIZES = [(100, 30), (80, 24), (20, 6), (220, 60)]


def one_stage():
    return timeline_of_intervals([0], [1000])


def ends_at_the_largest_time():
    return timeline_of_intervals([0, 2**61, 2**62 - 1], [2**61, 2**62 - 1, 2**62])


def a_million_at_one_instant():
    return timeline_of_intervals([5] * 1_000_000, [5] * 1_000_000)


def any_script():
    builder = TimelineBuilder()
    names = ("커널🔥", "नमस्ते", "مرحبا", "a\x1b[2J\tb\r\n", "é" * 60, "")
    handles = [builder.handle(name, (8, 8)) for name in names]
    op = OpForm("softmax\x07합", tuple(names), False)
    builder.command(CommandKind.MATH, (op,), tuple(handles), text="x = 'é\x1b[0m 한국어'")
    builder.stage(StageKind.DISPATCH, CPU, 1000)
    timeline = builder.build()
    line = SourceLine("파일\n.py", 3, "f", "\t\x1b]0;title\x07 नमस्ते")
    return replace(timeline, trace=replace(timeline.trace, lines=(line,)))


def deadlocked():
    return replace(two_commands().build(), status=Status.DEADLOCK)


@cache
def many_pes():
    machine = topology(sips=4, cubes=(4, 4), pes=(4, 2))
    return decode_like(1, launched=512, machine=machine)


TIMELINES = [
    pytest.param(lambda: timeline_of_intervals([], []), id="empty"),
    pytest.param(one_stage, id="one stage"),
    pytest.param(lambda: timeline_of_intervals([0], [0]), id="one instant"),
    pytest.param(ends_at_the_largest_time, id="2^62 ps"),
    pytest.param(a_million_at_one_instant, id="1000000 at one instant"),
    pytest.param(any_script, id="any script"),
    pytest.param(deadlocked, id="deadlock"),
    pytest.param(many_pes, id="512 PEs"),
]


LESS_TELLING = ("one stage", "one instant", "1000000 at one instant", "deadlock")
"""Each is much like another of them on every screen; that they open is always tested."""

ON_EVERY_SCREEN = [
    pytest.param(*each.values, id=each.id, marks=[pytest.mark.slow] * (each.id in LESS_TELLING))
    for each in TIMELINES
]


@pytest.mark.parametrize("make", TIMELINES)
def test_every_move_leads_to_a_whole_screen_at_one_size_after_the_other(make):
    index = TimelineIndex(make(), "x")
    hazards, look = HazardIndex(index), first_look(index)
    for action, (width, height) in zip(on_timeline(), cycle(SIZES), strict=False):
        look = scrolled(index, action.move(index, look) if action.move else look, height)
        assert 0 <= look.from_ps < look.to_ps
        lines = [
            frame.header_line(index, width),
            *minimap.minimap_lines(index, hazards, look, width),
            frame.ruler_line(index, look, width),
            *frame.row_lines(index, hazards, look, width, height),
            *box_lines(index, hazards, look, width, height),
            *strip_lines(index, look, width),
            frame.why_line(index, hazards, look, width),
            frame.trail_line(index, look, width),
            frame.kernel_line(index, look, width),
            *frame.overlay_lines(index, look, width),
        ]
        assert {line_cells(line) for line in lines} == {width}, action.name


@pytest.mark.parametrize("make", ON_EVERY_SCREEN)
def test_overlays_areas_and_lists_hold_at_the_edges_too(make, drive):
    async def scenario(pilot, screen):
        await pilot.press(
            *OVERLAYS, "slash", "a", "enter", "n", "colon", *"time", "space", "5", "enter"
        )
        await pilot.app.workers.wait_for_complete()
        await pilot.press("escape", "exclamation_mark", "enter", "b", "B", "enter", "1", "4")
        await pilot.press("space", "space", "question_mark", "down", "escape")
        assert pilot.app.screen is screen
        await pilot.resize_terminal(20, 6)

    drive(make(), scenario)


@pytest.mark.parametrize("make", TIMELINES)
def test_it_opens_and_can_be_walked(make, drive):
    async def scenario(pilot, screen):
        await pilot.press(*KEYS)
        await pilot.app.workers.wait_for_complete()
        await pilot.press("escape")
        assert pilot.app.screen is screen
        await pilot.resize_terminal(20, 6)

    drive(make(), scenario)


def test_a_deadlock_is_said_on_the_screen(screen_text):
    assert "DEADLOCK  96.00 ns makespan" in screen_text(deadlocked(), (), (100, 30))
    shown = screen_text(deadlocked(), ("enter",), (100, 30))
    assert "DEADLOCK after 96.00 ns" in shown
    assert "! shows who waits for whom" in shown


def test_no_control_character_reaches_the_screen(screen_text):
    shown = screen_text(any_script(), ("enter",), (100, 30))
    assert not [c for c in shown if c != "\n" and not c.isprintable() and c != "\u0300"]
    assert "커널🔥" in shown


def test_every_row_of_a_large_machine_can_be_reached(drive):
    async def scenario(pilot, screen):
        screen.go(replace(screen.look, folded=frozenset()))
        rows = len(screen.index.tree.rows)
        for _ in range(3):
            await pilot.press("pagedown")
        assert screen.look.row == 33  # three groups and CPU above it at first
        screen.go(replace(screen.look, row=rows - 2))
        await pilot.press("down")
        assert screen.look.row == rows - 1
        assert screen.look.top > rows - 40

    drive(many_pes(), scenario)


def test_columns_that_are_mapped_from_a_file_are_only_read(tmp_path, screen_text, decode):
    from kerntape.schemas.timeline_file import read_timeline, write_timeline

    path = tmp_path / "decode.ktimeline"
    write_timeline(path, decode)
    mapped = read_timeline(path)
    assert not mapped.start_ps.flags.writeable
    assert np.array_equal(mapped.start_ps, decode.start_ps)
    assert screen_text(mapped, ("u",), (100, 30)) == screen_text(decode, ("u",), (100, 30))


BESIDE = ("n", "N", "v", "tab", "g", "m", "apostrophe", "j", "full_stop", "w", "0", "f", "p", "C")
ON_THE_MACHINE = ("g", "n", "t", "w", "right", "down", "s", "E", "e", "question_mark", "escape")


@pytest.mark.parametrize("make", ON_EVERY_SCREEN)
def test_side_by_side_with_itself_and_on_the_machine_too(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    timeline = make()

    async def go():
        app = Browser(timeline, "x", (timeline, "y"))
        async with app.run_test(size=(100, 30)) as pilot:
            await settled(pilot)
            await pilot.press(*BESIDE, "slash", "a", "enter", "greater_than_sign")
            await app.workers.wait_for_complete()
            await pilot.click("#compare", offset=(50, 8))
            await pilot.click("#compare", offset=(5, 26))
            await pilot.press("x")
            await pilot.resize_terminal(20, 6)
            await pilot.press(*ON_THE_MACHINE)
            await pilot.click("#machine", offset=(3, 2))
            await pilot.press("escape", "u", "down", "down", "enter")
            assert isinstance(app.screen, TimelineScreen)

    asyncio.run(go())
