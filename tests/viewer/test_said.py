"""What is said of a move: why a key led nowhere, and what is not seen at once where it did."""

from dataclasses import replace

import pytest
from kerntape.viewer.actions import named, on_timeline
from kerntape.viewer.model import marking
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.look import first_look, select, window
from kerntape.viewer.model.said import NOTHING_RAN, REASONS, REMARKS, WHOLE, said
from kerntape.viewer.model.steps import toggle_fold
from timeline_builder import decode_like, timeline_of_intervals, topology, two_commands

MOVES = [action for action in on_timeline() if action.move is not None]
ALWAYS_SEEN = {"path", "idle", "set_mark"}
"""The moves that change something wherever one looks: overlays on and off, the mark."""


@pytest.fixture(scope="module")
def index():
    """0 dispatch 0 · 1, 2 fetch 10, 30 · 3, 4 GEMM 30, 54 · 5 finish 78 · 6 dispatch 78 · 7 MATH 88."""
    return TimelineIndex(two_commands().build(), "x")


def at(index, stage):
    return select(index, first_look(index), stage)


def words(index, name, look):
    """What is said of that action from a look on."""
    return said(name, index, look, named(name).move(index, look))


def test_every_move_that_can_lead_nowhere_says_why():
    assert {action.name for action in MOVES} - ALWAYS_SEEN == set(REASONS)


def test_no_move_of_the_table_is_silent_where_nothing_ran():
    index = TimelineIndex(timeline_of_intervals([], []), "x")
    look = first_look(index)
    for action in MOVES:
        if action.name not in ALWAYS_SEEN:
            assert words(index, action.name, look), action.name
    assert words(index, "next_stage", look) == NOTHING_RAN


@pytest.mark.parametrize(
    ("name", "stage", "said"),
    [
        ("next_stage", 6, "no later stage in this row"),
        ("previous_stage", 0, "no earlier stage in this row"),
        ("next_in_pe", 7, "no later stage on this PE"),
        ("previous_in_pe", 0, "no earlier stage on this PE"),
        ("next_in_machine", 7, "no later stage in the whole machine"),
        ("previous_in_machine", 0, "no earlier stage in the whole machine"),
        ("next_command", 7, "no later command on this PE"),
        ("previous_command", 3, "no earlier command on this PE"),
        ("next_tile", 2, "no later tile or composite does the same work"),
        ("previous_tile", 1, "no earlier tile or composite does the same work"),
        ("first_stage", 0, "this is the first stage of the row"),
        ("last_stage", 6, "this is the last stage of the row"),
        ("cause", 0, "nothing let this one start: it waited for nothing"),
        ("released", 7, "this one let no other start"),
        ("next_released", 0, "nothing let this one start: it waited for nothing"),
        ("next_released", 7, "dispatch let only this one start"),
        ("trail_back", 3, "no trail to go back on: [ and ] make one"),
        ("row_down", 7, "this is the last row"),
        ("page_down", 7, "this is the last row"),
        ("idle_rows", 0, "every row does something here: there is none to hide"),
        ("zoom_out", 3, WHOLE),
        ("show_all", 3, WHOLE),
        ("pan_left", 3, WHOLE),
        ("pan_right", 3, WHOLE),
        ("to_mark", 3, "no mark yet: m sets one"),
        ("fold_4", 3, "the rows are folded like this already"),
    ],
)
def test_a_key_that_cannot_act_says_why(index, name, stage, said):
    assert words(index, name, at(index, stage)) == said


def test_a_move_that_is_seen_says_nothing(index):
    moved = ("next_stage", "cause", "row_down", "zoom_in", "fold", "fold_1")
    assert [words(index, name, at(index, 3)) for name in moved] == [""] * len(moved)


def test_the_edges_of_the_timeline_and_of_zooming_are_told(index):
    # 96 ns and the last instant: the window of 20 ns may begin at 76 001 ps at the latest
    look = window(index, at(index, 0), 0, 20_000)
    assert words(index, "pan_left", look) == "the timeline begins here"
    late = window(index, look, 76_001, 20_000)
    assert words(index, "pan_right", late) == "the timeline ends here"
    close = window(index, look, 0, 400)
    assert words(index, "zoom_in", close) == "400 ps is as close as it gets"


def test_the_first_row_and_the_mark_at_the_cursor_are_told(index):
    top = toggle_fold(index, at(index, 0))
    assert words(index, "row_up", top) == "this is the first row"
    assert words(index, "page_up", top) == "this is the first row"
    marked = marking.set_mark(index, at(index, 3))
    assert words(index, "to_mark", marked) == "the mark is here"
    there = "at the mark, which is now where you were: ' swaps back"
    assert words(index, "to_mark", replace(marked, at_ps=0, stage=0)) == there


def test_rows_that_all_do_nothing_are_not_hidden_and_that_is_told():
    # nothing runs between 10 and 90 ns
    timeline = timeline_of_intervals([0, 90_000], [10_000, 99_000])
    index = TimelineIndex(timeline, "x")
    look = window(index, first_look(index), 40_000, 10_000)
    assert words(index, "idle_rows", look) == (
        "no row does anything here: hiding them would leave none"
    )


def test_how_many_rows_are_hidden_is_told(index):
    # 60–70 ns: only GEMM runs, so CPU, TCM and MATH are hidden; shown again, nothing is said
    look = window(index, at(index, 4), 60_000, 10_000)
    assert words(index, "idle_rows", look) == "3 rows do nothing here: hidden until I again"
    assert words(index, "idle_rows", named("idle_rows").move(index, look)) == ""


def test_the_mark_says_what_became_of_it(index):
    look = at(index, 3)
    assert words(index, "set_mark", look) == "marked: Δ counts from here, ' comes back"
    assert words(index, "set_mark", marking.set_mark(index, look)) == "the mark is taken away"


def test_focus_says_what_is_around_a_stage_of_no_length(index):
    assert words(index, "focus", at(index, 5)) == (
        "a stage of no length: shown with the stages before and after it in its lane"
    )
    assert words(index, "focus", at(index, 3)) == ""
    focused = named("focus").move(index, at(index, 3))
    assert words(index, "focus", focused) == "the selected stage is in the middle already"
    alone = TimelineIndex(timeline_of_intervals([7], [7]), "x")
    away = window(alone, at(alone, 0), 0, 400)
    assert REMARKS["focus"](alone, away) == "a stage of no length, the only one of its lane"


def test_what_is_not_seen_does_not_count_as_a_change(index):
    # Home on the first stage puts the cursor's time to its start, and marks it as put there
    look = replace(at(index, 0), at_ps=5_000, is_placed=False, top=3)
    assert words(index, "first_stage", look) == "this is the first stage of the row"
    # and what is scrolled to is worked out when it is painted
    assert words(index, "idle_rows", look) == (
        "every row does something here: there is none to hide"
    )


def test_nothing_is_said_of_a_row_without_a_stage(index):
    look = replace(at(index, 3), stage=NO_STAGE)
    assert words(index, "cause", look) == NOTHING_RAN


def test_every_key_that_cannot_act_says_so_on_the_screen(drive):
    """At the last stage of all, everything shown: what cannot act from there, by its keys."""
    timeline = decode_like(1, launched=2, machine=topology(pes=(2, 1)))

    async def scenario(pilot, screen):
        index = screen.index
        last = select(index, screen.look, int(index.by_start[-1]))
        for action in MOVES:
            for key in action.keys:
                screen.go(last)
                await pilot.press(key)
                after = action.move(index, last)
                expected = said(action.name, index, last, after)
                assert screen._message == expected, key
                assert expected or replace(screen.look, top=0) != replace(last, top=0), key

    drive(timeline, scenario)
