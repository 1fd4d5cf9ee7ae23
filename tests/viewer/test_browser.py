"""The application, driven by its keys and by the mouse."""

from dataclasses import replace
from pathlib import Path

import pytest
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.viewer.actions import named, on_timeline
from kerntape.viewer.model.look import select, window
from kerntape.viewer.panel_actions import LISTS, in_section
from kerntape.viewer.screens.ask import AskLine
from kerntape.viewer.screens.command_line import CommandLine
from kerntape.viewer.screens.hazards import HazardPanel
from kerntape.viewer.screens.keys import KeysScreen
from kerntape.viewer.screens.list_panel import ListPanel
from kerntape.viewer.screens.summary import SummaryScreen
from kerntape.viewer.widgets.painted import Painted
from kerntape.viewer.widgets.picture import Picture
from painted_text import line_texts
from textual import events
from timeline_builder import decode_like, topology, two_commands

MOVING = [action for action in on_timeline() if action.move is not None]


def painted(screen, name):
    return line_texts(screen.query_one(f"#{name}", Painted).lines)


def test_every_key_of_every_move_does_what_the_table_says(drive):
    machine = topology(pes=(2, 1))
    timeline = decode_like(2, launched=2, machine=machine)

    async def scenario(pilot, screen):
        index = screen.index
        # a GEMM in the middle of the loop of PE 0, come to by way of its fetch, half of it in sight
        stage = int(index.lane(5).ids[8])
        look = window(index, select(index, screen.look, stage), 200_000, 400_000)
        usual = replace(select(index, look, stage), trail=(stage - 1,), mark_ps=5)
        # the dispatch of the first command lets two stages start: its read, and the next dispatch
        starts = {"next_released": select(index, look, 1)}
        for action in MOVING:
            start = starts.get(action.name, usual)
            for key in action.keys:
                screen.go(start)
                await pilot.press(key)
                expected = action.move(index, start)
                assert expected != start, f"{action.name} must lead somewhere from here"
                assert replace(screen.look, top=0) == replace(expected, top=0), key

    drive(timeline, scenario)


@pytest.mark.parametrize(
    ("opener", "panel"),
    [
        ("hazards", HazardPanel),
        ("summary", SummaryScreen),
        ("help", KeysScreen),
        ("path_steps", ListPanel),
        ("bookmarks", ListPanel),
        ("deadlock", ListPanel),
        ("command_line", CommandLine),
        ("find", CommandLine),
        ("filter", AskLine),
    ],
)
def test_every_key_that_opens_a_panel_opens_it_and_escape_closes_it(drive, decode, opener, panel):
    async def scenario(pilot, screen):
        for key in named(opener).keys:
            await pilot.press(key)
            assert isinstance(pilot.app.screen, panel), key
            await pilot.press("escape")
            assert pilot.app.screen is screen

    drive(decode, scenario)


@pytest.mark.parametrize("opener", ["hazards", "summary", "path_steps", "bookmarks", "deadlock"])
def test_the_key_that_opened_a_panel_closes_it_and_so_does_q(drive, decode, opener):
    async def scenario(pilot, screen):
        for key in named(opener).keys:
            await pilot.press(key, key)
            assert pilot.app.screen is screen
            await pilot.press(key, "q")
            assert pilot.app.screen is screen
            await pilot.press(key, "ctrl+c")
            assert pilot.app.screen is screen

    drive(decode, scenario)


def test_q_quits(drive, decode):
    async def scenario(pilot, screen):
        assert pilot.app.is_running
        await pilot.press("q")
        await pilot.pause()
        return pilot.app.return_code, pilot.app._exit

    assert drive(decode, scenario) == (0, True)


def test_ctrl_c_quits_too(drive, decode):
    async def scenario(pilot, screen):
        await pilot.press("ctrl+c")
        await pilot.pause()
        return pilot.app._exit

    assert drive(decode, scenario)


def many_hazards(count):
    builder = two_commands()
    for cost in range(count):
        builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=count - cost)
    return builder.build()


def test_every_key_of_a_list_moves_as_the_table_says(drive):
    timeline = many_hazards(100)

    async def scenario(pilot, screen):
        await pilot.press("tab")
        panel = pilot.app.screen
        page = panel.panel.size.height - 3
        expected = {
            "list_down": 51,
            "list_up": 49,
            "list_page_down": 50 + page,
            "list_page_up": 50 - page,
            "list_first": 0,
            "list_last": 99,
        }
        for action in in_section(LISTS):
            for key in action.keys if action.name in expected else ():
                panel.place = 50
                await pilot.press(key)
                assert panel.place == expected[action.name], key

    drive(timeline, scenario)


def test_enter_in_the_list_of_hazards_shows_both_stages(drive):
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=20)

    async def scenario(pilot, screen):
        await pilot.press("tab", "enter")
        assert pilot.app.screen is screen
        assert (screen.look.stage, screen.look.trail) == (6, (0,))
        assert (
            painted(screen, "last")[-1] == " command 1 was held 20 ns for s, written by command 0"
        )
        await pilot.press("f")
        assert painted(screen, "last")[-1].endswith("q quit")  # said until the next move

    drive(builder.build(), scenario)


def test_enter_in_an_empty_list_closes_it(drive):
    async def scenario(pilot, screen):
        for opener in ("tab", "question_mark", "B", "exclamation_mark"):
            await pilot.press(opener, "enter")
            assert pilot.app.screen is screen

    drive(two_commands().build(), scenario)


def test_help_scrolls_where_it_is_longer_than_its_panel(drive, decode):
    async def scenario(pilot, screen):
        await pilot.press("question_mark")
        panel = pilot.app.screen.query_one("#panel", Painted)
        assert line_texts(panel.lines)[1] == "  Stages"
        await pilot.press(*["pagedown"] * 20)
        assert "› Esc q" in "".join(line_texts(panel.lines)) or pilot.app.screen.place > 40

    drive(decode, scenario, size=(80, 24))


@pytest.mark.parametrize(
    ("typed", "stage", "at_ps"), [("60ns", 4, 60_000), ("0.03us", 3, 30_000), ("#1", 6, 78_000)]
)
def test_one_jumps_to_a_time_or_a_command(drive, typed, stage, at_ps):
    async def scenario(pilot, screen):
        screen.go(select(screen.index, screen.look, 3))
        await pilot.press("colon", *["number_sign" if c == "#" else c for c in typed], "enter")
        assert pilot.app.screen is screen
        return screen.look.stage, screen.look.at_ps

    assert drive(two_commands().build(), scenario) == (stage, at_ps)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("7.4xs", " a time must be like 7.4us, 12345ns or 3ms, not '7.4xs'"),
        ("zoom", " no action is called 'zoom'; did you mean 'zoom_in'?"),
        ("#9", " command 9 has no stage on this PE"),
    ],
)
def test_what_cannot_be_jumped_to_is_said_and_can_be_typed_again(drive, typed, said):
    async def scenario(pilot, screen):
        await pilot.press("colon", *["number_sign" if c == "#" else c for c in typed], "enter")
        line = pilot.app.screen
        assert isinstance(line, CommandLine)
        assert painted(line, "prompt") == [said]
        await pilot.press("escape")
        assert pilot.app.screen is screen

    drive(two_commands().build(), scenario)


def test_the_screen_is_saved_as_a_picture_never_over_another_file(
    drive, decode, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    async def scenario(pilot, screen):
        await pilot.press("e")
        await pilot.pause()
        assert painted(screen, "last")[-1] == " saved decode-timeline.svg"
        await pilot.press("e")
        await pilot.pause()
        assert painted(screen, "last")[-1] == " saved decode-timeline-2.svg"

    drive(decode, scenario)
    assert Path("decode-timeline.svg").read_text(encoding="utf-8").startswith("<svg xmlns=")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "decode-timeline-2.svg",
        "decode-timeline.svg",
    ]


def test_a_folder_that_cannot_be_written_to_is_said_and_nothing_ends(
    drive, decode, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()

    async def scenario(pilot, screen):
        await pilot.press("e")
        await pilot.pause()
        assert "decode-timeline.svg: cannot be written" in painted(screen, "last")[-1]
        await pilot.press("full_stop")
        assert screen.look.stage > 0

    drive(decode, scenario)


def test_a_click_selects_and_the_wheel_zooms(drive):
    async def scenario(pilot, screen):
        picture = screen.query_one(Picture)
        span = screen.look.span_ps
        await pilot.click(Picture, offset=(40, 7))  # the ruler, then rows two lines apart: GEMM
        assert screen.index.tree.rows[screen.look.row].title == "GEMM"
        await pilot.click(Picture, offset=(3, 1))
        assert screen.look.folded == {0}
        picture.post_message(Picture.Wheeled("picture", 30, -1, shift=False))
        await pilot.pause()
        assert screen.look.span_ps == span // 2
        from_ps = screen.look.from_ps
        picture.post_message(Picture.Wheeled("picture", 30, 1, shift=True))
        await pilot.pause()
        assert screen.look.from_ps > from_ps

    drive(two_commands().build(), scenario)


def test_a_turn_of_the_wheel_on_the_picture_is_told_by_cell(drive):
    async def scenario(pilot, screen):
        span = screen.look.span_ps
        await pilot._post_mouse_events([events.MouseScrollUp], Picture, offset=(30, 3))
        assert screen.look.span_ps == span // 2
        await pilot._post_mouse_events([events.MouseScrollDown], Picture, offset=(30, 3))
        assert screen.look.span_ps == span // 2 * 2

    drive(two_commands().build(), scenario)


def test_only_lines_that_changed_are_painted_again(drive, decode, monkeypatch):
    async def scenario(pilot, screen):
        header = screen.query_one("#header", Painted)
        refreshed = []
        monkeypatch.setattr(header, "refresh", lambda *regions: refreshed.append(regions))
        await pilot.press("full_stop", "W", "down")
        assert refreshed == []

    drive(decode, scenario)


def test_a_narrow_terminal_has_two_lines_instead_of_the_box(drive, decode):
    async def scenario(pilot, screen):
        assert screen.query_one("#box").display
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert not screen.query_one("#box").display
        assert painted(screen, "strip")[0] == " dispatch · command 0 load"
        await pilot.resize_terminal(160, 50)
        await pilot.pause()
        assert screen.query_one("#box").size.width == 40
        assert {len(line) for line in painted(screen, "box")} >= {40}

    drive(decode, scenario)
