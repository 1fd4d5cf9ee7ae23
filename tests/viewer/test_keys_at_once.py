"""Keys that come in one burst, as over a slow link, mean what they do one by one."""

import asyncio
import threading

import pytest
from kerntape.viewer import recalibration
from kerntape.viewer.screens.calibrate import CalibratePanel
from kerntape.viewer.screens.hazards import HazardPanel
from kerntape.viewer.screens.timeline import TimelineScreen
from painted_text import last_line, line_texts, prompt_line
from textual import events

NAMES = {
    "/": "slash",
    ":": "colon",
    "#": "number_sign",
    "?": "question_mark",
    ".": "full_stop",
    " ": "space",
    "(": "left_parenthesis",
    ")": "right_parenthesis",
}


async def burst(pilot, *keys, steps=0):
    """Posts all keys before the first is taken, or lets everything at work go so many steps on between
    them; and waits until all are taken.
    """
    for key in keys:
        character = key if len(key) == 1 else {"enter": "\r"}.get(key)
        pilot.app.post_message(events.Key(NAMES.get(key, key), character))
        for _ in range(steps):
            await asyncio.sleep(0)
    for _ in range(8):
        await pilot.pause()


def test_what_is_behind_a_pattern_goes_along_what_it_finds(drive, decode):
    async def scenario(pilot, screen):
        await burst(pilot, "/", *"fetch", "enter", "n", "n", "N")
        return last_line(screen)

    assert drive(decode, scenario) == "match 2 of 32 for fetch, in its kind"


@pytest.mark.parametrize("key", ["tab", "c", "o", "B", "exclamation_mark"])
@pytest.mark.parametrize("closing", ["same", "q", "escape"])
def test_a_panel_is_opened_and_closed_and_the_key_behind_is_the_timeline_s(
    drive, decode, key, closing
):
    async def scenario(pilot, screen):
        await burst(pilot, key, key if closing == "same" else closing, "w")
        await pilot.app.workers.wait_for_complete()
        assert pilot.app.screen is screen
        return screen.look.span_ps

    assert drive(decode, scenario) == (decode.makespan_ps + 1) // 2


@pytest.mark.parametrize(
    "steps",
    [
        steps if steps % 4 == 1 else pytest.param(steps, marks=pytest.mark.slow)
        for steps in range(1, 30)
    ],
)
def test_a_key_that_comes_while_another_is_at_work_is_for_what_that_one_opens(drive, decode, steps):
    async def scenario(pilot, screen):
        # the summary, closed for the hazards; their next line; closed; half of the time
        await burst(pilot, "u", "tab", "down", "escape", "tab", steps=steps)
        await pilot.app.workers.wait_for_complete()
        assert isinstance(pilot.app.screen, HazardPanel)
        place = pilot.app.screen.place
        await burst(pilot, "escape", "w", steps=steps)
        return place, screen.look.span_ps

    assert drive(decode, scenario) == (1, (decode.makespan_ps + 1) // 2)


@pytest.fixture
def gate(monkeypatch):
    """Nothing is lowered before it is opened."""
    lowered, opened = recalibration.prepare, threading.Event()

    def late(*arguments):
        assert opened.wait(20)
        return lowered(*arguments)

    monkeypatch.setattr(recalibration, "prepare", late)
    return opened


def test_the_numbers_take_keys_when_they_are_there(drive, decode, gate):
    async def scenario(pilot, screen):
        await burst(pilot, "c", "down", "down", "right", "escape", "w")
        panel = pilot.app.screen
        assert isinstance(panel, CalibratePanel)
        assert panel.count() == 1  # the policy, which is known before
        assert "finding the numbers" in " ".join(line_texts(panel.panel.lines))
        gate.set()
        await pilot.app.workers.wait_for_complete()
        await burst(pilot)
        assert pilot.app.screen is screen
        await pilot.app.workers.wait_for_complete()
        return screen.others.recalibration.settings.changed_rows, screen.left_off.number

    number = "pe_cpu.fixed_cycles"  # policy, clock, this one
    assert drive(decode, scenario) == ((number,), number)


@pytest.mark.parametrize("key", ["escape", "q", "c"])
def test_the_numbers_are_left_before_they_are_there(drive, decode, gate, key):
    async def scenario(pilot, screen):
        await burst(pilot, "c")
        assert isinstance(pilot.app.screen, CalibratePanel)
        await burst(pilot, key, "w")
        span_ps, front = screen.look.span_ps, pilot.app.screen
        gate.set()
        return span_ps, front is screen

    assert drive(decode, scenario) == ((decode.makespan_ps + 1) // 2, True)


def test_shift_alone_is_no_key_that_ends_playing_or_is_told_to_be_none(drive, decode):
    async def scenario(pilot, screen):
        await burst(pilot, "left_shift")
        before = last_line(screen)
        await burst(pilot, " ", "left_shift")
        is_playing = screen.player.is_playing
        screen.player.stop()
        return "does nothing" in before, is_playing

    assert drive(decode, scenario) == (False, True)


def test_a_line_that_is_wrong_is_kept_and_typed_on(drive, decode):
    async def scenario(pilot, screen):
        await burst(pilot, ":", *"#", "enter", "3", "enter", "tab")
        assert isinstance(pilot.app.screen, HazardPanel)
        return screen.index.command(screen.look.stage)

    assert drive(decode, scenario) == 3


@pytest.mark.parametrize(
    ("keys", "wrong", "hint"),
    [
        ("/(", "must be a regular expression: ", "find (a regular expression)"),
        (":foo", "no action is called 'foo'", "7.4us"),
    ],
)
def test_what_is_wrong_with_a_line_typed_at_once_is_said_until_it_is_typed_on(
    drive, decode, keys, wrong, hint
):
    async def scenario(pilot, screen):
        await burst(pilot, *keys, "enter")
        said = prompt_line(pilot.app.screen)
        await burst(pilot, ")")
        return said, prompt_line(pilot.app.screen)

    said, after = drive(decode, scenario)
    assert said.startswith(f" {wrong}")
    assert after.startswith(f" {hint}")


def test_a_line_that_is_emptied_shows_again_what_can_be_typed(drive, decode):
    async def scenario(pilot, screen):
        await pilot.press("colon", "z")
        offered = prompt_line(pilot.app.screen)
        await pilot.press("backspace")
        return offered, prompt_line(pilot.app.screen)

    offered, empty = drive(decode, scenario)
    assert offered.startswith(" zoom_in  zoom_out")
    assert empty.startswith(" 7.4us · #31")


def test_a_key_chosen_by_typing_is_done_before_what_is_behind_it(drive, decode):
    async def scenario(pilot, screen):
        await burst(pilot, "?", *"zoom in", "enter", "w")
        assert isinstance(pilot.app.screen, TimelineScreen)
        return screen.look.span_ps

    assert drive(decode, scenario) == (decode.makespan_ps + 1) // 2 // 2
