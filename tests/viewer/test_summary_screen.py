"""The screen that the browser opens on, driven by its keys and by the mouse."""

import asyncio
import csv
from pathlib import Path

import pytest
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.viewer.app import Browser
from kerntape.viewer.panel_actions import SUMMARY, in_section
from kerntape.viewer.screens.calibrate import CalibratePanel
from kerntape.viewer.screens.hazards import HazardPanel
from kerntape.viewer.screens.keys import KeysScreen
from kerntape.viewer.screens.summary import NOTHING, SummaryScreen
from kerntape.viewer.screens.timeline import TimelineScreen
from kerntape.viewer.widgets.painted import Painted
from settling import settled
from timeline_builder import decode_like, two_commands


def held():
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=20)
    return builder.build()


def opened(timeline, scenario, size=(100, 30)):
    """Runs a scenario from the first screen on, when all is added up."""

    async def go():
        app = Browser(timeline, "decode.ktrace")
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            assert isinstance(app.screen, SummaryScreen)
            return await scenario(pilot, app.screen)

    return asyncio.run(go())


def lines(screen):
    painted = screen.query_one("#summary", Painted).lines
    return ["".join(span.text for span in line).rstrip() for line in painted]


def test_the_browser_opens_on_the_summary():
    async def scenario(pilot, screen):
        shown = lines(screen)
        assert shown[0].split()[:2] == ["decode.ktrace", "single_pe"]
        assert shown[2] == "  96.00 ns makespan · 8 stages · 2 commands · 1 PE"
        assert any(line.startswith("  GEMM  ") for line in shown)
        assert shown[-1].startswith(" Enter timeline")

    opened(two_commands().build(), scenario)


@pytest.mark.parametrize("key", ["enter", "escape", "u"])
def test_enter_escape_and_u_go_on_to_the_timeline(key):
    async def scenario(pilot, screen):
        await pilot.press(key)
        assert isinstance(pilot.app.screen, TimelineScreen)
        assert pilot.app.screen.look.stage == 0
        await pilot.press("u")
        assert isinstance(pilot.app.screen, SummaryScreen)

    opened(two_commands().build(), scenario)


def test_any_key_of_the_timeline_leads_to_it_and_is_done_there():
    async def scenario(pilot, screen):
        await pilot.press("full_stop")
        timeline = pilot.app.screen
        assert isinstance(timeline, TimelineScreen)
        assert timeline.look.stage == 5  # the next one of PE_CPU's row
        await pilot.press("u", "tab")
        assert isinstance(pilot.app.screen, HazardPanel)
        await pilot.press("escape", "u", "c")
        assert isinstance(pilot.app.screen, CalibratePanel)

    opened(two_commands().build(), scenario)


def test_q_quits_at_first_and_later_leads_back_to_the_timeline():
    async def scenario(pilot, screen):
        await pilot.press("escape", "u", "q")
        assert isinstance(pilot.app.screen, TimelineScreen)
        assert not pilot.app._exit

    async def at_first(pilot, screen):
        await pilot.press("q")
        await pilot.pause()
        assert pilot.app._exit

    opened(two_commands().build(), scenario)
    opened(two_commands().build(), at_first)


@pytest.mark.parametrize(
    ("down", "stage"),
    [
        (1, 0),  # CPU: its first stage
        (3, 3),  # GEMM
        (5, 6),  # the hazard: the command that was held
        (7, 0),  # CPU on the path
        (9, 7),  # MATH on the path
    ],
)
def test_enter_on_a_line_goes_to_what_it_is_about(down, stage):
    async def scenario(pilot, screen):
        await pilot.press(*["down"] * down)
        assert sum(line.startswith("›") for line in lines(screen)) == 1
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, TimelineScreen)
        return pilot.app.screen.look.stage

    assert opened(held(), scenario) == stage


def test_every_key_of_the_summary_does_what_the_table_says():
    count = 9  # four engines, a hazard, four parts of the path
    expected = {
        "line_down": 5,
        "line_up": 3,
        "page_of_lines_down": count - 1,
        "page_of_lines_up": 0,
        "first_line": 0,
        "last_line": count - 1,
    }

    async def scenario(pilot, screen):
        for action in in_section(SUMMARY):
            for key in action.keys if action.name in expected else ():
                screen.place = 4
                await pilot.press(key)
                assert screen.place == expected[action.name], key
        screen.place = 0
        await pilot.press("up")
        assert screen.place == NOTHING

    opened(held(), scenario)


def test_a_click_chooses_a_line_another_goes_there_and_the_wheel_scrolls():
    async def scenario(pilot, screen):
        at = next(i for i, line in enumerate(lines(screen)) if line.startswith("  GEMM  "))
        await pilot.click("#summary", offset=(5, at))
        assert lines(screen)[at].startswith("› GEMM")
        await pilot.click("#summary", offset=(5, 0))  # no line
        assert lines(screen)[at].startswith("› GEMM")
        screen.post_message(Painted.Wheeled("summary", 3, 1, shift=False))
        await pilot.pause()
        assert lines(screen)[at - 3].startswith("  GEMM")
        screen.post_message(Painted.Wheeled("summary", 3, -1, shift=False))
        await pilot.pause()
        await pilot.click("#summary", offset=(5, at))
        await pilot.click("#summary", offset=(5, at))
        assert pilot.app.screen.look.stage == 3

    opened(held(), scenario, size=(100, 16))


def test_keys_picture_and_table_are_there_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def scenario(pilot, screen):
        await pilot.press("question_mark")
        assert isinstance(pilot.app.screen, KeysScreen)
        await pilot.press("escape", "e")
        await pilot.pause()
        assert lines(screen)[-1] == " saved decode-summary.svg"
        await pilot.press("E")
        await settled(pilot)
        assert lines(screen)[-1] == " saved the engines' times as decode-summary.csv"

    opened(two_commands().build(), scenario)
    with Path("decode-summary.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["engine"] for row in rows] == ["CPU", "TCM", "GEMM", "MATH"]
    assert (rows[2]["busy_ps"], rows[2]["data_ps"], rows[2]["done_ps"]) == (
        "48000",
        "20000",
        "18000",
    )


def test_a_key_of_another_screen_is_said_to_be_one():
    async def scenario(pilot, screen):
        await pilot.press("question_mark", *"reset_row", "enter")
        return lines(screen)[-1]

    said = opened(two_commands().build(), scenario)
    assert said == " r is a key of the calibration panel"


def test_the_timeline_below_is_not_computed_before_it_is_seen(monkeypatch):
    painted = []
    header = TimelineScreen._header
    monkeypatch.setattr(
        TimelineScreen, "_header", lambda *given: painted.append(1) or header(*given)
    )

    async def scenario(pilot, screen):
        await pilot.resize_terminal(120, 40)
        await pilot.pause()
        assert painted == []
        await pilot.press("enter")
        assert painted

    opened(two_commands().build(), scenario)


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (20, 3), (10, 2), (200, 60)])
def test_it_fits_any_terminal(size):
    async def scenario(pilot, screen):
        await pilot.press("end", "up")
        assert len(screen.query_one("#summary", Painted).lines) == size[1]

    opened(decode_like(2), scenario, size)


def test_a_summary_left_at_once_leaves_nothing_behind():
    async def scenario(pilot, screen):
        await pilot.press("escape")
        timeline = pilot.app.screen
        for _ in range(5):
            await pilot.press("u", "escape")
        await pilot.app.workers.wait_for_complete()
        assert pilot.app.screen is timeline

    opened(decode_like(2), scenario)
