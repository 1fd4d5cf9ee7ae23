"""The keys of the panels and screens over the timeline."""

import pytest
from kerntape.viewer.actions import in_lists, named, on_timeline
from kerntape.viewer.panel_actions import (
    CALIBRATE,
    COMPARE,
    HAZARDS,
    MACHINE,
    PANEL_ACTIONS,
    in_section,
)
from kerntape.viewer.screens.compare import compare_moves


@pytest.mark.parametrize(
    "actions",
    [
        (*in_lists(), *in_section(CALIBRATE)),
        (*in_lists(), *in_section(HAZARDS)),
        (*in_section(COMPARE), *compare_moves()),
        in_section(MACHINE),
    ],
    ids=["calibrate", "hazards", "compare", "machine"],
)
def test_no_key_does_two_things_on_the_same_screen(actions):
    keys = [key for action in actions for key in action.keys]
    assert sorted(keys) == sorted(set(keys))


def test_every_action_belongs_to_one_of_the_screens_and_is_in_the_one_table():
    sections = (CALIBRATE, HAZARDS, COMPARE, MACHINE)
    assert [one for section in sections for one in in_section(section)] == list(PANEL_ACTIONS)
    assert all(named(action.name) is action for action in PANEL_ACTIONS)


def test_the_keys_that_open_a_view_close_it():
    assert set(named("compare").keys) <= set(named("leave_comparison").keys)
    assert set(named("machine").keys) <= set(named("leave_machine").keys)


def test_zooming_panning_and_stepping_work_side_by_side_as_on_the_timeline():
    names = {action.name for action in compare_moves()}
    assert {"zoom_in", "zoom_out", "pan_left", "pan_right", "show_all"} <= names
    assert {"next_stage", "previous_stage", "row_down", "row_up", "fold", "cause"} <= names
    assert names <= {action.name for action in on_timeline()}
