"""Which rows are on the screen."""

from dataclasses import replace

import pytest
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.viewer.model.idle_cells import idle_times
from kerntape.viewer.model.idleness import Idle
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.lanes import engine_title
from kerntape.viewer.model.look import Overlay, first_look, select, window
from kerntape.viewer.model.rows import (
    filter_rows,
    fold_to,
    idle_lanes,
    in_sight,
    lane_names,
    rows_height,
    scrolled,
    shown_rows,
    toggle_idle_rows,
    toggle_pin,
)
from timeline_builder import decode_like, timeline_of_intervals, topology, two_commands


@pytest.fixture(scope="module")
def index():
    """PE 0 (row 0) with rows CPU, SCHED, HBM, DMA read, TCM, GEMM, MATH, DMA write; PE 1 from row 9."""
    return TimelineIndex(decode_like(1, launched=2, machine=topology(pes=(2, 1))), "x")


def titles(index, look):
    return [index.tree.rows[key].title for key in shown_rows(index, look)]


def test_a_pinned_row_stays_at_the_top_whatever_is_scrolled(index):
    look = replace(first_look(index), row=6, folded=frozenset())
    pinned = toggle_pin(index, look)
    assert shown_rows(index, pinned)[:3] == (6, 0, 1)
    low = scrolled(index, replace(pinned, row=17), 5)
    assert in_sight(index, low, 5) == (6, 14, 15, 16, 17)
    assert toggle_pin(index, pinned).pinned == ()


def test_a_pinned_row_of_a_folded_group_is_shown_all_the_same(index):
    look = toggle_pin(index, replace(first_look(index), row=15, folded=frozenset()))
    assert shown_rows(index, replace(look, folded=frozenset({0, 9}))) == (15, 0, 9)


def test_folding_by_level_folds_every_group_of_it_and_what_is_below(index):
    look = first_look(index)
    assert titles(index, fold_to(index, look, 0)) == ["PE 0", "PE 1"]
    assert len(shown_rows(index, fold_to(index, look, 1))) == 18
    assert len(shown_rows(index, fold_to(index, look, 3))) == 18
    assert fold_to(index, look, 0).row == 0  # the cursor on the group of its lane


def test_levels_are_counted_from_the_outermost():
    machine = topology(cubes=(2, 1), pes=(2, 1))
    index = TimelineIndex(decode_like(1, launched=4, machine=machine), "x")
    look = first_look(index)
    assert titles(index, fold_to(index, look, 0)) == ["CUBE 0", "CUBE 1"]
    assert titles(index, fold_to(index, look, 1)) == [
        *("CUBE 0", "PE 0", "PE 1"),
        *("CUBE 1", "PE 0", "PE 1"),
    ]


def test_a_filter_keeps_lanes_whose_full_name_matches_and_the_groups_around_them(index):
    look = replace(first_look(index), folded=frozenset())
    assert lane_names(index)[5] == "PE 0 GEMM"
    assert titles(index, filter_rows(index, look, "pe 1 .*m.*r")) == [
        *("PE 1", "DMA read", "DMA write"),
    ]
    assert titles(index, filter_rows(index, look, "gemm|math")) == [
        *("PE 0", "GEMM", "MATH"),
        *("PE 1", "GEMM", "MATH"),
    ]
    assert filter_rows(index, filter_rows(index, look, "gemm"), "").hidden == frozenset()


def test_a_filter_that_would_hide_everything_hides_nothing(index):
    look = first_look(index)
    assert filter_rows(index, look, "nothing like it") == look


def test_the_cursor_moves_to_a_row_that_is_shown(index):
    look = filter_rows(index, first_look(index), "GEMM")
    assert index.tree.rows[look.row].title == "GEMM"
    assert look.row in shown_rows(index, look)


def test_selecting_a_stage_of_a_hidden_row_shows_that_row_again(index):
    look = filter_rows(index, replace(first_look(index), folded=frozenset()), "PE 0 GEMM")
    cpu = int(index.lane(0).ids[0])
    again = select(index, look, cpu)
    assert titles(index, again) == ["PE 0", "CPU", "GEMM"]


def test_lanes_that_do_nothing_in_the_window_are_hidden_until_all_are_shown_again():
    # in 0–10 only CPU works: dispatch 0–10; fetch from 10 on, GEMM from 30, MATH from 88
    index = TimelineIndex(two_commands().build(), "x")
    look = replace(window(index, first_look(index), 0, 9_000))
    hidden = toggle_idle_rows(index, look)
    assert titles(index, hidden) == ["PE 0", "CPU"]
    assert toggle_idle_rows(index, hidden).hidden == frozenset()


@pytest.mark.parametrize(
    ("from_ns", "rows"),
    [
        (40, ["PE 0", "TCM", "GEMM"]),  # 40–41: fetch 2 and GEMM 3; the hold begins at 58
        (57, ["PE 0", "CPU", "GEMM"]),  # 57–58.4
        (
            60,
            ["PE 0", "CPU", "GEMM"],
        ),  # in the middle of the hold: nothing of it begins or ends here
    ],
)
def test_a_lane_in_which_a_hazard_holds_something_is_not_hidden(from_ns, rows):
    # command 1 is dispatched by CPU at 78 after 20 ns of waiting: held from 58 to 78
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=20)
    index = TimelineIndex(builder.build(), "x")
    look = window(index, first_look(index), from_ns * 1000, 1400)
    assert titles(index, toggle_idle_rows(index, look)) == rows


def test_an_instant_at_the_very_start_of_the_window_is_something_done(index):
    sched = next(
        lane
        for lane in index.tree.row_of_lane
        if engine_title(index.timeline.engines[lane]) == "SCHED"
    )
    lane = index.lane(sched)
    assert lane.starts[0] == lane.ends[0]
    look = window(index, first_look(index), int(lane.starts[0]), 400)
    assert sched not in idle_lanes(index, look)
    assert sched in idle_lanes(index, window(index, look, int(lane.starts[0]) + 1, 400))


def test_overlays_take_their_lines_from_the_rows():
    index = TimelineIndex(two_commands().build(), "x")
    look = first_look(index)
    assert rows_height(index, look, 80, 20) == 19
    both = replace(look, overlays=frozenset(Overlay))
    assert rows_height(index, both, 80, 20) == 17
    idle_times(index).reasons.update(Idle)  # two lines of them
    assert rows_height(index, both, 80, 20) == 16
    assert rows_height(index, look, 80, 0) == 0


def test_an_empty_timeline_has_no_rows_to_pin_hide_or_fold():
    index = TimelineIndex(timeline_of_intervals([], []), "x")
    look = first_look(index)
    assert toggle_pin(index, look) == toggle_idle_rows(index, look) == look
    assert shown_rows(index, fold_to(index, look, 0)) == ()
