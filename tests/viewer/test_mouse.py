"""The mouse in panels and on the other screens: a click selects, another chooses, the wheel scrolls."""

import asyncio
from dataclasses import replace

import pytest
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.topologies.loader import resolve_topology
from kerntape.viewer.app import Browser
from kerntape.viewer.model.comparing import LOWER, UPPER
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import first_look
from kerntape.viewer.model.machine import MachineLook, first_machine_look, load_of
from kerntape.viewer.model.machine_lines import map_lines, rank_under
from kerntape.viewer.model.machine_words import Drawn
from kerntape.viewer.screens.area import AreaPanel
from kerntape.viewer.screens.compare import HEAD_LINES, CompareScreen
from kerntape.viewer.screens.hazards import HazardPanel
from kerntape.viewer.screens.keys import KeysScreen
from kerntape.viewer.screens.machine import MachineScreen
from kerntape.viewer.widgets.painted import Painted
from painted_text import line_texts
from settling import settled
from timeline_builder import decode_like, topology, two_commands


def line_of(painted, words):
    """The line of a widget in which the words stand."""
    return next(at for at, line in enumerate(line_texts(painted.lines)) if words in line)


async def turn(pilot, screen, place, by):
    screen.post_message(Painted.Wheeled(place, 5, by, shift=False))
    await pilot.pause()


def many_hazards(count):
    builder = two_commands()
    for cost in range(count):
        builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=count - cost)
    return builder.build()


def test_in_the_list_of_hazards(drive):
    async def scenario(pilot, screen):
        await pilot.press("tab")
        panel = pilot.app.screen
        assert isinstance(panel, HazardPanel)
        # the title, the counts, the head of the columns, then the first places
        await pilot.click("#panel", offset=(5, 5))
        assert panel.place == 2
        await turn(pilot, panel, "panel", 1)
        assert panel.place == 5
        await turn(pilot, panel, "panel", -1)
        assert panel.place == 2
        await pilot.click("#panel", offset=(5, 2))  # the head of the columns
        assert panel.place == 2
        detail = panel.panel.size.height - 3
        await pilot.click("#panel", offset=(5, detail))  # what is said of the chosen one
        assert panel.place == 2
        await pilot.click("#panel", offset=(5, 5))
        assert pilot.app.screen is screen
        assert screen.look.trail == (0,)

    drive(many_hazards(50), scenario)


def test_in_the_steps_of_the_critical_path(drive):
    async def scenario(pilot, screen):
        await pilot.press("o")
        panel = pilot.app.screen
        at = line_of(panel.panel, "GEMM tile 2")
        await pilot.click("#panel", offset=(20, at))
        assert line_texts(panel.panel.lines)[at].startswith(" ›")
        await pilot.click("#panel", offset=(20, at))
        assert screen.look.stage == 4

    drive(two_commands().build(), scenario)


def test_in_the_calibration_panel(drive, opt2):
    async def scenario(pilot, screen):
        await pilot.press("c")
        await settled(pilot)
        panel = pilot.app.screen
        at = line_of(panel.panel, "pe_cpu.cycles_per_byte")
        await pilot.click("#panel", offset=(8, at))
        assert panel.row == "pe_cpu.cycles_per_byte"
        await pilot.click("#panel", offset=(8, line_of(panel.panel, "10 % more")))  # a head
        assert panel.row == "pe_cpu.cycles_per_byte"
        await turn(pilot, panel, "panel", 1)
        assert panel.row != "pe_cpu.cycles_per_byte"

    drive(opt2, scenario)


def test_the_figures_of_an_area_scroll(drive, decode):
    async def scenario(pilot, screen):
        screen.go(replace(screen.look, area=(0, 1_000_000)))
        await pilot.press("V")
        await settled(pilot)
        panel = pilot.app.screen
        assert isinstance(panel, AreaPanel)
        first = line_texts(panel.panel.lines)[1]
        await turn(pilot, panel, "panel", 1)
        assert line_texts(panel.panel.lines)[1] != first

    drive(decode, scenario, size=(80, 24))


def test_in_the_list_of_keys(drive):
    async def scenario(pilot, screen):
        span = screen.look.span_ps
        await pilot.press("question_mark")
        keys = pilot.app.screen
        assert isinstance(keys, KeysScreen)
        panel = keys.query_one("#panel", Painted)
        await pilot.press(*"zoom", "space", *"in")
        await pilot.click("#panel", offset=(8, line_of(panel, "zoom in")))
        assert pilot.app.screen is screen  # it was the chosen one
        assert screen.look.span_ps == span // 2
        await pilot.press("question_mark")
        keys = pilot.app.screen
        await turn(pilot, keys, "panel", 1)
        assert keys.place == 2

    drive(two_commands().build(), scenario)


def test_a_click_beside_a_panel_closes_it(drive):
    async def scenario(pilot, screen):
        await pilot.press("tab")
        await pilot.click(offset=(30, 2))
        assert pilot.app.screen is screen

    drive(two_commands().build(), scenario)


def test_a_click_on_the_minimap_goes_to_that_time(drive, decode):
    async def scenario(pilot, screen):
        await pilot.press("w", "w")
        span = screen.look.span_ps
        # 100 columns: the strip has 69 from the second on; its 35th is the middle of the run
        await pilot.click("#minimap", offset=(35, 0))
        middle = (screen.look.from_ps + screen.look.to_ps) // 2
        assert screen.look.span_ps == span
        assert abs(middle - screen.index.span_ps // 2) <= screen.index.span_ps // 60
        await turn(pilot, screen, "minimap", 1)
        assert screen.look.from_ps > middle - span // 2  # it pans

    drive(decode, scenario)


def compared(upper, lower, scenario):
    async def go():
        app = Browser(upper, "upper.ktrace", (lower, "lower.ktrace"))
        async with app.run_test(size=(100, 40)) as pilot:
            await settled(pilot)
            assert isinstance(app.screen, CompareScreen)
            return await scenario(pilot, app.screen)

    return asyncio.run(go())


def test_side_by_side_a_click_selects_on_either_side_and_in_the_table(decode):
    other = decode_like(4)

    async def scenario(pilot, screen):
        painted = screen.query_one("#compare", Painted)
        shown = enumerate(line_texts(painted.lines))
        first, second, *_ = (at for at, line in shown if line.strip("› ").startswith("GEMM  "))
        await pilot.click("#compare", offset=(60, first))
        assert screen.pair.active == UPPER
        assert screen.index.tree.rows[screen.look.row].title == "GEMM"
        await pilot.click("#compare", offset=(60, second))
        assert screen.pair.active == LOWER
        assert screen.index.tree.rows[screen.look.row].title == "GEMM"
        table = line_of(painted, "critical paths by")
        await pilot.click("#compare", offset=(10, table + 2))
        assert screen.pair.chosen == 1
        before = screen.pair
        await pilot.click("#compare", offset=(10, HEAD_LINES + screen._rows + 1))  # who is ahead
        assert screen.pair == before

    compared(decode, other, scenario)


def test_side_by_side_the_wheel_zooms_both(decode):
    async def scenario(pilot, screen):
        span = screen.look.span_ps
        await turn(pilot, screen, "compare", -1)
        assert {look.span_ps for look in screen.pair.looks} == {span // 2}

    compared(decode, decode_like(4), scenario)


MACHINE = topology(sips=2, cubes=(2, 2), pes=(4, 2))


@pytest.mark.parametrize("is_near", [False, True], ids=["far", "near"])
@pytest.mark.parametrize("size", [(100, 25), (40, 8)])
def test_every_pe_of_the_map_is_found_where_it_is_drawn(is_near, size):
    timeline = decode_like(1, launched=64, machine=MACHINE)
    index = TimelineIndex(timeline, "x")
    look = first_look(index)
    shown = replace(first_machine_look(index, look), rank=13, is_near=is_near)
    load = load_of(index, look, MachineLook(13))
    drawn = Drawn(MACHINE, load, shown, None)
    found = {
        rank_under(drawn, (column, line), size)
        for column in range(size[0])
        for line in range(size[1])
    }
    lines = line_texts(map_lines(drawn, *size))
    chosen = [
        (column, line)
        for line in range(size[1])
        for column in range(size[0])
        if rank_under(drawn, (column, line), size) == 13
    ]
    assert chosen
    if is_near:
        assert "›PE 5" in lines[chosen[0][1]]
        assert found - {None} <= set(range(8, 16))
    else:
        column, line = chosen[0]
        assert lines[line][column - 2 : column + 4].count("[") == 1
        assert len(found - {None}) <= 64


def test_on_the_machine_a_click_chooses_a_pe_another_goes_to_its_lanes():
    machine = resolve_topology("llama70b_4sip")
    timeline = decode_like(1, launched=machine.pe_count, machine=machine)

    async def go():
        app = Browser(timeline, "x")
        async with app.run_test(size=(100, 30)) as pilot:
            await pilot.press("g")
            screen = app.screen
            assert isinstance(screen, MachineScreen)
            # one cell a PE, four in a row: the first CUBE's second row begins in the map's third line
            await pilot.click("#machine", offset=(3, 3))
            assert screen.shown.rank == 6
            await pilot.click("#machine", offset=(3, 29))  # the hints
            assert screen.shown.rank == 6
            await turn(pilot, screen, "machine", -1)
            assert screen.shown.is_near
            await turn(pilot, screen, "machine", 1)
            await pilot.click("#machine", offset=(3, 3))
            index, look = app.screen.index, app.screen.look
            assert index.timeline.engines[index.lane_of(look.stage)].rank == 6

    asyncio.run(go())
