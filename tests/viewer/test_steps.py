"""Steps of the cursor: in a row, a PE, the machine, by command, along causes, between rows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.stages import StageKind
from kerntape.viewer.model import steps
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import first_look, select, window
from kerntape.viewer.model.words import kind_words
from timeline_builder import (
    CPU,
    GEMM,
    MATH,
    SCHED,
    TCM,
    TimelineBuilder,
    decode_like,
    timeline_of_intervals,
    topology,
    two_commands,
)


@pytest.fixture
def index():
    """0 dispatch 0 · 1, 2 fetch 10, 30 · 3, 4 GEMM 30, 54 · 5 finish 78 · 6 dispatch 78 · 7 MATH 88."""
    return TimelineIndex(two_commands().build(), "x")


def at(index, stage):
    return select(index, first_look(index), stage)


def window_of(look):
    return look.from_ps, look.to_ps


def walk(index, stage, step, times=20):
    """The stages passed through until the step leads nowhere."""
    look, passed = at(index, stage), [stage]
    for _ in range(times):
        after = step(index, look)
        if after.stage == look.stage:
            return passed
        look = after
        passed.append(look.stage)
    return passed


def test_steps_in_a_row_follow_its_lane(index):
    assert walk(index, 0, lambda i, k: steps.step_row(i, k, 1)) == [0, 5, 6]
    assert walk(index, 6, lambda i, k: steps.step_row(i, k, -1)) == [6, 5, 0]


def test_steps_in_a_pe_follow_the_order_of_start_and_stage_id(index):
    # 2 and 3 start at 30, 5 and 6 at 78: the lower stage id first
    order = [0, 1, 2, 3, 4, 5, 6, 7]
    assert walk(index, 0, lambda i, k: steps.step_pe(i, k, 1)) == order
    assert walk(index, 7, lambda i, k: steps.step_pe(i, k, -1)) == order[::-1]


def test_steps_in_a_pe_stay_in_it_and_steps_in_the_machine_do_not():
    timeline = decode_like(1, launched=2, machine=topology(pes=(2, 1)))
    index = TimelineIndex(timeline, "x")
    half = len(index) // 2
    look = at(index, 0)
    assert steps.step_machine(index, look, 1).stage == half  # the other PE's dispatch, also at 0
    assert steps.step_pe(index, look, 1).stage == 1
    assert steps.step_pe(index, at(index, half), -1).stage == half


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.data())
def test_every_stage_is_met_once_on_the_way_through_the_machine(starts, data):
    timeline = timeline_of_intervals(starts, [start + 1 for start in starts])
    index = TimelineIndex(timeline, "x")
    order = sorted(range(len(starts)), key=lambda stage: (starts[stage], stage))
    forward = walk(index, order[0], lambda i, k: steps.step_machine(i, k, 1))
    assert forward == order
    assert walk(index, order[0], lambda i, k: steps.step_row(i, k, 1)) == order
    back = walk(index, order[-1], lambda i, k: steps.step_pe(i, k, -1))
    assert back == order[::-1]


def test_home_and_end_are_the_ends_of_the_row(index):
    look = at(index, 5)
    assert steps.first_in_row(index, look).stage == 0
    assert steps.last_in_row(index, look).stage == 6


def test_a_group_s_row_steps_through_all_lanes_below_it(index):
    look = replace(at(index, 0), row=0)
    for stage in (1, 2, 3, 4):
        look = steps.step_row(index, look, 1)
        assert (look.stage, look.row) == (stage, 0)
    assert steps.last_in_row(index, look).stage == 7


def test_commands_are_stepped_by_their_dispatches(index):
    assert steps.step_command(index, at(index, 4), 1).stage == 6
    assert steps.step_command(index, at(index, 7), -1).stage == 0
    assert steps.step_command(index, at(index, 7), 1).stage == 7  # there is no command 2


def test_commands_are_stepped_within_the_pe():
    timeline = decode_like(1, launched=2, machine=topology(pes=(2, 1)))
    index = TimelineIndex(timeline, "x")
    half = len(index) // 2
    assert steps.step_command(index, at(index, half), -1).stage == half
    assert steps.step_command(index, at(index, half - 1), 1).stage == half - 1


def test_the_cause_is_walked_back_and_the_trail_leads_home(index):
    look = at(index, 7)
    for cause in (6, 5, 4, 3, 1, 0):
        look = steps.cause_back(index, look)
        assert look.stage == cause
    assert look.trail == (7, 6, 5, 4, 3, 1)
    assert steps.cause_back(index, look) == look  # nothing caused the first stage
    look = steps.trail_back(index, steps.trail_back(index, look))
    assert (look.stage, look.trail) == (3, (7, 6, 5, 4))


def test_walking_on_leads_to_what_started_first(index):
    # stage 0 let fetch 1 start at 10; fetch 2 waited for the engine, so fetch 1 let it start
    assert index.released_by(0).tolist() == [1]
    assert index.released_by(1).tolist() == [2, 3]
    look = steps.cause_forward(index, at(index, 1))
    assert (look.stage, look.trail) == (2, (1,))
    assert steps.cause_forward(index, at(index, 7)).stage == 7


def test_any_other_step_ends_the_trail(index):
    look = steps.cause_back(index, at(index, 4))
    assert steps.step_row(index, look, 1).trail == ()
    assert steps.trail_back(index, steps.step_row(index, look, 1)).stage == 4


def test_moving_down_goes_to_the_stage_that_runs_then(index):
    # rows: PE 0, CPU, TCM, GEMM, MATH. At 54 (stage 4 of GEMM): MATH's only stage is the nearest
    look = steps.move_rows(index, at(index, 4), 1)
    assert (index.tree.rows[look.row].title, look.stage) == ("MATH", 7)


def test_moving_there_and_back_comes_back_to_the_same_stage(index):
    look = at(index, 3)  # at 30
    away = steps.move_rows(index, look, -1)
    assert away.stage == 2
    assert steps.move_rows(index, away, 1).stage == 3


def test_moving_stops_at_the_first_and_the_last_row(index):
    assert steps.move_rows(index, at(index, 0), -10).row == 0
    assert steps.move_rows(index, at(index, 0), 10).row == 4


def test_a_group_s_row_keeps_the_stage_that_is_below_it(index):
    look = steps.to_row(index, at(index, 4), 0)
    assert (look.row, look.stage) == (0, 4)


def test_folding_puts_the_cursor_on_the_group(index):
    look = steps.toggle_fold(index, at(index, 4))
    assert (look.folded, look.row, look.stage) == ({0}, 0, 4)
    assert steps.toggle_fold(index, look).folded == frozenset()


def test_walking_along_the_causes_unfolds_the_way(index):
    look = steps.toggle_fold(index, at(index, 4))
    back = steps.cause_back(index, look)  # GEMM 4 waited for GEMM 3
    assert (back.folded, index.tree.rows[back.row].title) == (frozenset(), "GEMM")
    home = steps.trail_back(index, replace(back, folded=look.folded))
    assert (home.stage, index.tree.rows[home.row].title) == (4, "GEMM")


def test_stepping_through_a_folded_group_leaves_it_folded():
    timeline = decode_like(1, launched=2, machine=topology(pes=(2, 1)))
    index = TimelineIndex(timeline, "x")
    look = first_look(index)  # the second PE is folded
    there = steps.step_machine(index, look, 1)
    assert (there.stage, there.folded) == (len(index) // 2, look.folded)
    assert index.tree.rows[there.row].title == "PE 1"


def test_the_same_work_in_the_next_tile_is_the_next_of_its_kind_with_another_tile(index):
    assert walk(index, 1, lambda i, k: steps.step_tile(i, k, 1)) == [1, 2]
    assert walk(index, 4, lambda i, k: steps.step_tile(i, k, -1)) == [4, 3]
    assert walk(index, 0, lambda i, k: steps.step_tile(i, k, 1)) == [0, 6]  # the next command's


def test_a_math_stage_steps_to_the_same_op_of_the_next_composite(decode_index):
    kinds = decode_index.timeline.stages.kind
    maths = [int(s) for s in np.flatnonzero(kinds == StageKind.MATH)]
    rmax = [s for s in maths if kind_words(decode_index, s) == "MATH rmax"]
    assert len(rmax) == 4
    assert walk(decode_index, rmax[0], lambda i, k: steps.step_tile(i, k, 1)) == rmax


def test_the_stages_that_one_stage_let_start_are_gone_round(index):
    # dispatch 0 lets fetch 1 start; fetch 2 queued behind 1. GEMM 3 lets GEMM 4 start only
    assert steps.next_released(index, at(index, 1)).stage == 1
    timeline = decode_like(2)
    wide = TimelineIndex(timeline, "x")
    alike = wide.released_by(0).tolist()
    assert len(alike) == 2
    look = replace(at(wide, alike[0]), trail=(0,))
    assert steps.next_released(wide, look).stage == alike[1]
    assert steps.next_released(wide, look).trail == (0,)
    assert steps.next_released(wide, at(wide, alike[1])).stage == alike[0]
    assert steps.next_released(index, at(index, 0)).stage == 0  # nothing let it start


def test_the_nearest_of_several_lanes_is_found(index):
    group = index.tree.rows[0]
    assert steps.nearest_in_row(index, group, 15_000) == 1
    assert steps.nearest_in_row(index, group, 90_000) == 7


STEPS = [
    lambda i, k: steps.step_row(i, k, 1),
    lambda i, k: steps.step_pe(i, k, -1),
    lambda i, k: steps.step_machine(i, k, 1),
    lambda i, k: steps.step_command(i, k, 1),
    steps.first_in_row,
    steps.last_in_row,
    steps.cause_back,
    steps.cause_forward,
    steps.trail_back,
    lambda i, k: steps.move_rows(i, k, 1),
    steps.toggle_fold,
    lambda i, k: steps.step_tile(i, k, 1),
    steps.next_released,
]


@pytest.mark.parametrize("step", STEPS)
def test_no_step_leads_anywhere_in_an_empty_timeline(step):
    index = TimelineIndex(timeline_of_intervals([], []), "x")
    look = first_look(index)
    assert step(index, look) == look


def test_a_hundred_thousand_stages_at_one_instant_are_stepped_one_by_one():
    count = 100_000
    timeline = timeline_of_intervals([7] * count, [7] * count)
    index = TimelineIndex(timeline, "x")
    look = at(index, 50_000)
    assert steps.step_row(index, look, 1).stage == 50_001
    assert steps.step_machine(index, look, -1).stage == 49_999
    assert steps.last_in_row(index, look).stage == count - 1


def test_the_lanes_that_the_tests_speak_of_are_where_they_think(index):
    lanes = np.array([CPU, TCM, TCM, GEMM, GEMM, CPU, CPU, MATH])
    assert index.timeline.stages.engine.tolist() == lanes.tolist()


def test_focus_gives_the_stage_a_quarter_of_the_width_in_the_middle(index):
    # stage 3: 30–54 ns, 24 long: 96 ns wide, from 42 − 48 on, kept inside the timeline
    look = steps.focus(index, select(index, first_look(index), 3))
    assert window_of(look) == (0, 96_000)
    # stage 7: 88–96 ns, 8 long: 32 ns wide, 92 − 16 = 76 on, but 32 ns fit only from 64.001 on
    look = steps.focus(index, select(index, first_look(index), 7))
    assert window_of(look) == (64_001, 96_001)


def test_focus_on_a_stage_of_no_length_shows_its_neighbours_in_the_lane(index):
    # PE_CPU: dispatch 0–10, finish 5 at 78, dispatch 6 from 78 on. The end at 10 is 68 ns away, the
    # start at 78 none: 4 × 68 = 272 ns would be shown, and all there is are 96.001
    assert steps.neighbours_span_ps(index, 5) == 272_000
    assert window_of(steps.focus(index, select(index, first_look(index), 5))) == (0, 96_001)
    # 10 ps after one stage's end and 30 before the next one's start: 4 × 30, but never below 400
    starts, ends = [0, 5_000, 5_030], [4_990, 5_000, 9_000]
    near = TimelineIndex(timeline_of_intervals(starts, ends), "x")
    assert steps.neighbours_span_ps(near, 1) == 400
    assert window_of(steps.focus(near, at(near, 1))) == (4_800, 5_200)
    # 1 ns and 3 ns: 12 ns, the neighbours' edges within the middle half
    far = TimelineIndex(timeline_of_intervals([0, 50_000, 53_000], [49_000, 50_000, 99_000]), "x")
    assert window_of(steps.focus(far, at(far, 1))) == (44_000, 56_000)


def test_focus_on_the_only_stage_of_a_lane_that_has_no_length_only_brings_it_to_the_middle():
    builder = TimelineBuilder()
    builder.command(CommandKind.LOAD)
    builder.stage(StageKind.ADMIT, SCHED)
    wide = builder.stage(StageKind.DISPATCH, CPU, 100)
    finish = builder.stage(StageKind.FINISH, GEMM)
    builder.release(finish, wide)
    index = TimelineIndex(builder.build(), "x")
    look = window(index, select(index, first_look(index), finish), 0, 20_000)
    assert steps.neighbours_span_ps(index, finish) == 0
    assert steps.focus(index, look).span_ps == 20_000


def test_focus_finds_a_stage_that_was_chosen_wherever_one_looks(index):
    look = window(index, at(index, 7), 0, 20_000)
    assert steps.focus(index, look).stage == 7


def test_focus_before_anything_was_chosen_takes_what_is_in_the_middle_of_the_row(index):
    # all of 96 ns is shown, its middle is 48: of PE_CPU's row the finish at 78 is nearer than the
    # dispatch that ended at 10; of 0–20 ns the dispatch is
    fresh = first_look(index)
    assert (fresh.stage, steps.focus(index, fresh).stage) == (0, 5)
    assert steps.focus(index, window(index, fresh, 0, 20_000)).stage == 0
    nothing = TimelineIndex(timeline_of_intervals([], []), "x")
    assert steps.focus(nothing, first_look(nothing)) == first_look(nothing)
