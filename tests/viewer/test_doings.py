"""What the main screen does besides moving, driven by its keys."""

from dataclasses import replace

import pytest
from kerntape.schemas.deadlock import BlockedCommand, Deadlock
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.schemas.timeline import Status
from kerntape.viewer.app import Browser
from kerntape.viewer.model.look import Overlay, select
from kerntape.viewer.screens.area import AreaPanel
from kerntape.viewer.screens.list_panel import ListPanel
from kerntape.viewer.typed import TypedError, speed_of
from kerntape.viewer.widgets.picture import Picture
from painted_text import last_line, line_texts
from pressed import type_in
from settling import settled
from textual import events
from timeline_builder import decode_like, topology, two_commands


def picture(screen):
    return line_texts(screen.query_one(Picture).lines)


def test_the_critical_path_is_laid_over_the_rows_and_taken_away(drive):
    async def scenario(pilot, screen):
        await pilot.press("p")
        assert screen.look.overlays == {Overlay.PATH}
        assert picture(screen)[-1].startswith("path  ")
        assert "━╸GEMM╺━" in picture(screen)[-1]
        await pilot.app.workers.wait_for_complete()
        await pilot.press("p")
        assert not picture(screen)[-1].startswith("path")

    drive(two_commands().build(), scenario)


def test_enter_in_the_steps_of_the_critical_path_goes_to_the_stage(drive):
    async def scenario(pilot, screen):
        await pilot.press("o")
        assert isinstance(pilot.app.screen, ListPanel)
        await pilot.press("down", "down", "down", "enter")
        assert screen.look.stage == 4
        await pilot.press("o")
        assert pilot.app.screen.place == 3  # it opens where the cursor is

    drive(two_commands().build(), scenario)


def test_idle_time_is_coloured_when_it_is_worked_out(drive):
    async def scenario(pilot, screen):
        await pilot.press("i")
        await settled(pilot)
        shown = picture(screen)
        assert shown[-1].startswith(" idle for   d░ data  p░ dispatch")
        assert any("GEMM" in line and "p░░" in line for line in shown)
        await pilot.press("i")
        assert "░" not in "".join(picture(screen))

    drive(two_commands().build(), scenario)


def held_twice():
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=20)
    return builder.build()


def test_one_steps_from_hazard_to_hazard(drive):
    async def scenario(pilot, screen):
        await pilot.press("z")
        assert screen.look.stage == 6
        assert last_line(screen) == "command 1 was held 20 ns for s, written by command 0"
        await pilot.press("z")
        assert (screen.look.stage, last_line(screen)) == (6, "no hazard in this direction")
        await pilot.press("end", "Z")
        await pilot.press("down", "down", "down", "Z")
        assert screen.look.stage == 6

    drive(held_twice(), scenario)


def test_one_plays_until_a_key_is_hit(drive):
    async def scenario(pilot, screen):
        await pilot.press("space")
        assert screen.player.is_playing
        screen.player.tick()
        assert screen.look.at_ps % (screen.player.speed // 20) == 0 < screen.look.at_ps
        await pilot.press("greater_than_sign")
        assert screen.player.is_playing  # another speed does not end it
        await pilot.press("space")
        assert not screen.player.is_playing
        await pilot.press("space", "m")
        assert not screen.player.is_playing
        assert screen.look.mark_ps >= 0  # the key did what it does
        await pilot.press("space", "f12")
        assert not screen.player.is_playing  # a key without an action ends it too

    drive(two_commands().build(), scenario)


def test_playing_ends_at_the_end_and_begins_anew_from_there(drive):
    async def scenario(pilot, screen):
        screen.player.set_speed(10**9)
        assert last_line(screen) == "Space plays: 1.000 ms a second · < slower · > faster"
        await pilot.press("space")
        screen.player.tick()
        assert not screen.player.is_playing
        assert screen.look.at_ps == 96_000
        await pilot.press("space")
        assert screen.look.at_ps < 96_000 or not screen.player.is_playing

    drive(two_commands().build(), scenario)


def test_a_speed_that_is_none_is_refused():
    assert speed_of("20ps") == 20
    for text in ("0", "19ps"):
        with pytest.raises(TypedError) as caught:
            speed_of(text)
        least = "a speed must be at least 20 ps a second"
        assert str(caught.value).replace("20.00", "20") == f"{least}, not '{text}'"


def test_the_speed_is_halved_doubled_and_typed(drive):
    async def scenario(pilot, screen):
        await type_in(pilot, "speed 1us")
        assert screen.player.speed == 10**6
        await pilot.press("greater_than_sign")
        assert screen.player.speed == 2 * 10**6
        await pilot.press("less_than_sign", "less_than_sign")
        assert screen.player.speed == 10**6 // 2

    drive(two_commands().build(), scenario)


def test_an_area_is_begun_ended_studied_and_taken_away(drive):
    async def scenario(pilot, screen):
        await pilot.press("V")
        assert (
            last_line(screen)
            == "no area yet: v begins one at the cursor, v ends it elsewhere; or drag the mouse"
        )
        await pilot.press("v")
        assert last_line(screen) == "area: go to its other end, v again ends it there"
        await pilot.press("end", "v")
        panel = pilot.app.screen
        assert isinstance(panel, AreaPanel)
        await settled(pilot)
        assert line_texts(panel.panel.lines)[1] == "  0 ps to 88 ns · 88 ns"
        await pilot.press("escape", "V")
        assert isinstance(pilot.app.screen, AreaPanel)
        await pilot.press("V", "V")
        assert isinstance(pilot.app.screen, AreaPanel)
        await pilot.press("v")
        assert pilot.app.screen is screen
        await pilot.press("v")
        assert (pilot.app.screen, screen.look.area) == (screen, None)

    drive(two_commands().build(), scenario)


def test_a_drag_of_the_mouse_chooses_an_area(drive):
    async def scenario(pilot, screen):
        before = screen.look.stage
        await pilot.mouse_down(Picture, offset=(20, 4))
        await pilot._post_mouse_events([events.MouseMove], Picture, offset=(40, 4), button=1)
        assert screen.look.area is not None
        await pilot.mouse_up(Picture, offset=(40, 4))
        await pilot.pause()
        assert isinstance(pilot.app.screen, AreaPanel)
        assert screen.look.stage == before

    drive(two_commands().build(), scenario)


def test_bookmarks_are_kept_beside_the_file_and_found_again(tmp_path, drive):
    timeline, opened = two_commands().build(), tmp_path / "x.ktimeline"

    async def keep(pilot, screen):
        screen.bookmarks._path = opened
        await pilot.press("b")
        assert last_line(screen) == "bookmark a kept: x.ktimeline.kernnotes · B lists them"
        screen.go(select(screen.index, screen.look, 4))
        await type_in(pilot, "note late GEMM")
        await type_in(pilot, "mark here")

    async def find(pilot, screen):
        screen.bookmarks._path = opened
        await pilot.press("B")
        shown = "\n".join(line_texts(pilot.app.screen.panel.lines))
        assert "late GEMM" in shown
        await pilot.press("down", "enter")
        assert (screen.look.stage, last_line(screen)) == (4, "b: late GEMM")
        await pilot.press("B", "home", "enter")
        assert last_line(screen) == "at the bookmark a"

    drive(timeline, keep)
    drive(timeline, find)


def test_the_browser_is_told_where_the_file_is(tmp_path):
    app = Browser(two_commands().build(), "x", path=tmp_path / "x.ktrace")
    assert app.get_default_screen().bookmarks._path == tmp_path / "x.ktrace"


def deadlocked():
    blocked = (
        BlockedCommand(0, 1, "recv E", "decode.py:8", "a message", 0, 0),
        BlockedCommand(9, 0, "recv W", "decode.py:8", "a message", 0, 1),
    )
    deadlock = Deadlock(cycle=blocked[:1], tail=blocked[1:], clearing_depth=2)
    return replace(two_commands().build(), status=Status.DEADLOCK, deadlock=deadlock)


def test_a_deadlock_s_graph_leads_to_where_each_command_stopped(drive):
    async def scenario(pilot, screen):
        await pilot.press("exclamation_mark")
        shown = "\n".join(line_texts(pilot.app.screen.panel.lines))
        assert "a queue depth of 2 clears it" in shown
        await pilot.press("enter")
        assert screen.look.stage == 7
        assert last_line(screen).startswith("PE 0 command 1 recv E (decode.py:8) waits for")
        await pilot.press("exclamation_mark", "down", "enter")  # a PE without a stage
        assert last_line(screen).startswith("PE 9 command 0")

    drive(deadlocked(), scenario)


def test_a_run_without_a_deadlock_says_so(drive):
    async def scenario(pilot, screen):
        await pilot.press("exclamation_mark")
        assert "no deadlock" in "\n".join(line_texts(pilot.app.screen.panel.lines))
        await pilot.press("enter")
        assert pilot.app.screen is screen

    drive(two_commands().build(), scenario)


def test_pins_filters_and_levels_work_on_a_large_machine(drive):
    machine = topology(sips=2, cubes=(2, 2), pes=(4, 2))
    timeline = decode_like(1, launched=64, machine=machine)

    async def scenario(pilot, screen):
        await pilot.press("1")
        assert [line[:9].strip("› ") for line in picture(screen)[1:4:2]] == ["▸ SIP 0", "▸ SIP 1"]
        await pilot.press("4", "P")
        assert screen.look.pinned == (screen.look.row,)
        await type_in(pilot, "pe 63")
        assert screen.index.engine(screen.look.stage).rank == 63
        await pilot.press("F", *"pe 3 gemm", "enter", "0", "p", "i")
        await pilot.app.workers.wait_for_complete()
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert picture(screen)

    drive(timeline, scenario)
