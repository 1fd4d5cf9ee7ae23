"""Every key that `?` lists is done where it is chosen, or it is said right why not."""

from collections.abc import Iterator

import pytest
from kerntape.replay.replay import replay
from kerntape.viewer.action import Action
from kerntape.viewer.actions import ACTIONS, named, on_timeline
from kerntape.viewer.panel_actions import PANEL_ACTIONS
from kerntape.viewer.screens import compare_keys, machine, summary
from kerntape.viewer.screens.calibrate import CalibratePanel
from kerntape.viewer.screens.hazards import HazardPanel
from kerntape.viewer.screens.keys import OF_TIMELINE, SCREENS, KeysScreen, why_not_here
from kerntape.viewer.screens.panel import OPENERS, Panel
from kerntape.viewer.typed_actions import TYPED
from kerntape.viewer.widgets.painted import Painted
from message_kernels import captured
from painted_text import line_texts

OWNS = {
    "summary": summary.OWN,
    "timeline": (*on_timeline(), *TYPED),
    "panel": Panel.OWN,
    "hazards": HazardPanel.OWN,
    "calibrate": CalibratePanel.OWN,
    "compare": compare_keys.OWN,
    "machine": machine.OWN,
}
"""The actions of every screen."""


def others(own: tuple[Action, ...]) -> Iterator[Action]:
    return (action for action in ACTIONS if action not in own)


@pytest.mark.parametrize("screen", OWNS)
def test_no_key_that_means_something_on_a_screen_is_said_to_be_one_of_another(screen):
    own = OWNS[screen]
    mine = {key: action for action in own for key in action.keys}
    for action in others(own):
        said = why_not_here(action, own)
        works = [mine[key] for key in action.keys if key in mine]
        if works:
            assert said in [f"{action.shown} means here: {one.words}" for one in works]
        else:
            assert "means here" not in said


@pytest.mark.parametrize("screen", OWNS)
def test_a_section_of_the_table_is_not_told_as_a_screen(screen):
    for action in others(OWNS[screen]):
        said = why_not_here(action, OWNS[screen])
        if " is a key " in said:
            assert said.removeprefix(f"{action.shown} is a key ") in {
                OF_TIMELINE,
                *SCREENS.values(),
            }
            assert said.endswith(OF_TIMELINE) == (action not in PANEL_ACTIONS)


def test_every_section_of_other_screens_has_a_name():
    assert {action.section for action in PANEL_ACTIONS} == set(SCREENS)


@pytest.mark.parametrize(
    ("name", "screen", "said"),
    [
        ("summary", "summary", "u means here: to the timeline as it was"),
        ("fold", "summary", "Enter means here: to the timeline: what the chosen line is about"),
        ("regroup", "panel", "g is a key of two timelines side by side"),
        ("turn_up", "hazards", "→ l is a key of the calibration panel"),
        ("next_hazard", "machine", "z is a key of the timeline"),
        ("path_steps", "hazards", "o means here: only violated, potential, held, at no cost; all"),
        ("line", "summary", "type :line 118"),
        ("line", "machine", ":line 118 is typed on the timeline"),
    ],
)
def test_it_is_said_in_a_sentence(name, screen, said):
    assert why_not_here(named(name), OWNS[screen]) == said


def words_of(screen):
    painted = screen.query(Painted)
    return " ".join(text for one in painted for text in line_texts(one.lines))


async def chosen(pilot, name):
    """Chooses that action in the list of keys."""
    screen = pilot.app.screen
    await pilot.press("question_mark")
    keys = pilot.app.screen
    assert isinstance(keys, KeysScreen)
    keys.dismiss(name)
    await pilot.pause()
    return screen


def test_u_chosen_on_the_summary_is_said_to_lead_to_the_timeline(drive, decode):
    async def scenario(pilot, screen):
        await pilot.press("u")
        shown = await chosen(pilot, "summary")
        assert pilot.app.screen is shown
        assert "u means here: to the timeline as it was" in words_of(shown)
        await chosen(pilot, "leave_summary")
        assert pilot.app.screen is screen

    drive(decode, scenario)


@pytest.mark.parametrize("opener", [opener.name for opener in OPENERS])
def test_what_opens_a_panel_is_answered_in_a_panel_as_by_its_key(drive, opener):
    stopped = replay(captured("all_send_first", with_data=False, messages=13).trace)

    async def scenario(pilot, screen):
        await pilot.press("exclamation_mark")
        panel = await chosen(pilot, opener)
        if opener == "deadlock":
            assert pilot.app.screen is screen
        else:
            said = f"Esc closes this, then {named(opener).shown} opens that"
            assert said in words_of(panel)

    drive(stopped, scenario)


@pytest.mark.slow
def test_whatever_the_summary_does_not_do_it_says_why_when_it_is_chosen(drive, decode):
    async def scenario(pilot, screen):
        await pilot.press("u")
        for action in others((*summary.OWN, named("suspend"))):
            shown = await chosen(pilot, action.name)
            assert pilot.app.screen is shown
            assert words_of(shown).endswith(f" {why_not_here(action, summary.OWN)}"), action.name

    drive(decode, scenario, (120, 40))


@pytest.mark.parametrize(
    "keys",
    ["", "u", "O", "o", "tab", "c", "g", "B", "colon", "slash", "F", "question_mark", "tab slash"],
)
def test_control_q_leaves_the_browser_from_every_screen(drive, opt2, keys):
    async def scenario(pilot, screen):
        await pilot.press(*keys.split())
        assert (pilot.app.screen is screen) is (not keys)
        await pilot.press("ctrl+q")
        assert pilot.app._exit

    drive(opt2, scenario)
