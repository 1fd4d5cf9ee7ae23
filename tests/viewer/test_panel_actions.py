"""The keys of the panels and screens over the timeline."""

import pytest
from kerntape.viewer.actions import EVERYWHERE, named, on_timeline
from kerntape.viewer.panel_actions import (
    BOOKMARKS,
    CALIBRATE,
    COMPARE,
    HAZARDS,
    LISTS,
    MACHINE,
    PANEL_ACTIONS,
    SUMMARY,
    in_section,
)
from kerntape.viewer.screens import compare, machine, summary
from kerntape.viewer.screens.bookmarks_panel import BookmarksPanel
from kerntape.viewer.screens.calibrate import CalibratePanel
from kerntape.viewer.screens.compare_keys import compare_moves
from kerntape.viewer.screens.hazards import HazardPanel
from kerntape.viewer.screens.panel import Panel

SCREENS = {
    "summary": summary.OWN,
    "list": Panel.OWN,
    "bookmarks": BookmarksPanel.OWN,
    "calibrate": CalibratePanel.OWN,
    "hazards": HazardPanel.OWN,
    "compare": compare.OWN,
    "machine": machine.OWN,
}


@pytest.mark.parametrize("actions", SCREENS.values(), ids=SCREENS)
def test_no_key_does_two_things_on_the_same_screen(actions):
    keys = [key for action in actions for key in action.keys]
    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize("actions", [on_timeline(), *SCREENS.values()])
def test_help_export_and_colours_are_on_the_same_keys_everywhere(actions):
    assert set(EVERYWHERE) <= {action.name for action in actions}


def test_every_action_belongs_to_one_of_the_screens_and_is_in_the_one_table():
    sections = (SUMMARY, LISTS, BOOKMARKS, CALIBRATE, HAZARDS, COMPARE, MACHINE)
    assert [one for section in sections for one in in_section(section)] == list(PANEL_ACTIONS)
    assert all(named(action.name) is action for action in PANEL_ACTIONS)


def test_the_keys_that_open_a_view_close_it():
    assert set(named("compare").keys) <= set(named("leave_comparison").keys)
    assert set(named("machine").keys) <= set(named("leave_machine").keys)
    assert set(named("summary").keys) <= set(named("leave_summary").keys)


def test_zooming_panning_and_stepping_work_side_by_side_as_on_the_timeline():
    names = {action.name for action in compare_moves()}
    assert {"zoom_in", "zoom_out", "pan_left", "pan_right", "show_all"} <= names
    assert {"next_stage", "previous_stage", "row_down", "row_up", "fold", "cause"} <= names
    assert names <= {action.name for action in on_timeline()}
