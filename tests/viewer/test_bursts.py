"""Any keys in any order, as quick as they come: the browser goes on, and what it shows is painted.

Keys are posted without a pause between them, so that they find screens that are not there yet, and
threads find screens that are gone.
"""

import asyncio
import random

import pytest
from kerntape.viewer.actions import ACTIONS
from kerntape.viewer.app import Browser
from kerntape.viewer.screens.ask import AskLine
from kerntape.viewer.screens.compare import CompareScreen
from kerntape.viewer.screens.hazards import HazardPanel
from kerntape.viewer.screens.list_panel import ListPanel
from kerntape.viewer.screens.machine import MachineScreen
from kerntape.viewer.screens.summary import SummaryScreen
from kerntape.viewer.screens.timeline import TimelineScreen
from settling import settled
from textual import events

CHARACTERS = {"slash": "/", "colon": ":", "question_mark": "?", "space": " ", "enter": "\r"}

LEAVES = {"q", "ctrl+c", "ctrl+q", "ctrl+z"}

KEYS = sorted({key for action in ACTIONS for key in action.keys} - LEAVES)

OPENING = ["tab", "c", "o", "B", "u", "g", "x", "V", "question_mark", "colon", "slash", "F"]
CLOSING = ["escape", "enter", "tab", "e", "E"]


def event_of(key):
    """A key by its name; another event is one already."""
    if not isinstance(key, str):
        return key
    return events.Key(key, CHARACTERS.get(key, key if len(key) == 1 else None))


def post(app, keys):
    for key in keys:
        app.post_message(event_of(key))


async def taken(pilot):
    """All that was posted has had its turn, and what it began is done."""
    for _ in range(4):
        await pilot.pause()
    await settled(pilot)


def after(timeline, *bursts, other=None):
    """The screen in front after each burst of keys on the timeline, and what is painted in the end."""

    async def go():
        app = Browser(timeline, "decode.ktrace", other)
        async with app.run_test(size=(100, 30)) as pilot:
            await taken(pilot)
            fronts = []
            for burst in bursts:
                post(app, ["escape"] * 3)
                await taken(pilot)
                post(app, burst)
                await taken(pilot)
                fronts.append(app.screen)
            return fronts, app.screen_lines()

    return asyncio.run(go())


def keys_of(seed):
    """40 keys of the action table; those that open and close screens come more often."""
    dice = random.Random(seed)
    among = [KEYS, KEYS, OPENING, CLOSING]
    return [dice.choice(dice.choice(among)) for _ in range(40)]


@pytest.mark.parametrize(
    ("burst", "front"),
    [
        ("tab e tab", TimelineScreen),
        ("o e q", TimelineScreen),
        ("B e q", TimelineScreen),
        ("c e c", TimelineScreen),
        ("u e u", TimelineScreen),
        ("g e g", TimelineScreen),
        ("question_mark enter o o o end", ListPanel),
        ("question_mark o enter tab down", HazardPanel),
        ("F enter question_mark escape M w", MachineScreen),
        ("c escape c down c", TimelineScreen),
        ("tab a tab", TimelineScreen),
    ],
)
def test_keys_that_come_before_a_screen_or_after_it(opt2, burst, front, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fronts, _ = after(opt2, burst.split())
    assert isinstance(fronts[0], front)


@pytest.mark.parametrize("typed", [[events.Paste("gemm")], [*"gemm"]], ids=["pasted", "typed"])
def test_a_line_that_opens_as_the_terminal_is_left_takes_what_comes(opt2, typed):
    _, lines = after(opt2, ["slash", events.AppBlur(), *typed, "enter", "n", "n"])
    assert "".join(span.text for span in lines[-1]).startswith(" match 3 of ")


def test_two_files_side_by_side_take_keys_before_they_are_lined_up(opt2, opt3):
    fronts, _ = after(opt2, ["x", "n", "g", "tab", "full_stop"], other=(opt3, "opt3"))
    assert isinstance(fronts[0], CompareScreen)


@pytest.mark.parametrize("more", ["", "enter", "enter escape enter"])
def test_a_key_behind_one_that_closes_a_panel_is_for_what_the_panel_leads_to(opt2, opt3, more):
    keys = f"x c tab question_mark enter x F {more}".split()

    async def go():
        app = Browser(opt2, "opt2.ktrace", (opt3, "opt3.ktrace"))
        async with app.run_test(size=(80, 24)) as pilot:
            await taken(pilot)
            post(app, keys)
            await taken(pilot)
            return [type(screen) for screen in app.screen_stack]

    # F is none of the compare screen's keys, Enter neither; Escape closes it, Enter folds nothing then
    there = [TimelineScreen] if "escape" in more else [TimelineScreen, CompareScreen]
    assert asyncio.run(go()) == there


def test_a_line_that_is_answered_or_covered_takes_no_enter(opt2):
    async def go():
        app = Browser(opt2, "decode.ktrace")
        async with app.run_test(size=(100, 30)) as pilot:
            await taken(pilot)
            post(app, ["escape", "F"])
            await taken(pilot)
            asked = app.screen
            await app.push_screen(AskLine("again:", lambda text: ""))
            asked.line.post_message(event_of("enter"))
            asked.line.post_message(event_of("enter"))
            await taken(pilot)
            return len(app.screen_stack)

    assert asyncio.run(go()) == 3  # the timeline and both lines, the upper one unanswered


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 12))]
)
def test_forty_keys_at_once_three_times_over(opt2, opt3, seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = (opt3, "opt3") if seed % 3 == 2 else None
    _, lines = after(opt2, *(keys_of(10 * seed + time) for time in range(3)), other=other)
    assert len(lines) == 30
    assert {sum(len(span.text) for span in line) for line in lines} == {100}


def test_the_summary_takes_keys_before_it_is_there(opt2):
    async def go():
        app = Browser(opt2, "decode.ktrace")
        async with app.run_test(size=(100, 30)) as pilot:
            post(app, ["down", "enter", "u", "end", "down"])
            await taken(pilot)
            return app.screen

    assert isinstance(asyncio.run(go()), SummaryScreen)
