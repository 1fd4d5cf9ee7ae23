"""The cursor carried to another timeline of the same trace: nothing jumps."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.replay.replay import replay
from kerntape.viewer.model.carried import carried, same_stage
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.look import NO_TIME, first_look, select, window
from kerntape.viewer.model.marking import delta_words, set_mark
from kerntape.viewer.model.steps import focus
from timeline_builder import two_commands


@pytest.fixture
def pair():
    """two_commands, and the same twice as slow."""
    one = two_commands().build()
    columns = {name: getattr(one, name) * 2 for name in ("ready_ps", "start_ps", "end_ps")}
    return TimelineIndex(one, "a"), TimelineIndex(replace(one, **columns), "b")


def test_what_was_shown_whole_is_shown_whole(pair):
    old, new = pair
    look = carried(old, new, select(old, first_look(old), 3))  # a GEMM at 30 ns, now at 60
    assert (look.from_ps, look.to_ps) == (0, new.span_ps)
    assert (look.stage, look.at_ps) == (3, 60_000)


def test_the_stage_stays_where_it_was_on_the_screen(pair):
    old, new = pair
    look = window(old, select(old, first_look(old), 3), 20_000, 40_000)  # GEMM 30–54, 10 ns in
    there = carried(old, new, look)
    assert there.stage == 3
    assert (there.from_ps, there.span_ps) == (50_000, 40_000)  # now it begins at 60
    assert there.at_ps == 60_000
    assert there.row == look.row


def test_the_trail_and_the_mark_go_along(pair):
    old, new = pair
    look = replace(select(old, first_look(old), 4), trail=(1, 2), mark_stage=7)
    there = carried(old, new, focus(old, look))
    assert (there.trail, there.mark_stage) == ((1, 2), 7)


def test_the_mark_is_where_its_stage_is_now(pair):
    # marked at GEMM 3, 30 ns; the cursor at GEMM 4, 54 ns. Twice as slow: 60 and 108, so Δ is 48 ns
    old, new = pair
    marked = set_mark(old, select(old, first_look(old), 3))
    there = carried(old, new, select(old, marked, 4))
    assert (there.mark_stage, there.mark_ps, there.at_ps) == (3, 60_000, 108_000)
    assert delta_words(there) == "Δ +48 ns"


def test_the_mark_is_found_by_its_work_and_gone_where_that_never_ran():
    # the new run has no FETCH 1, so GEMM 4 is stage 3 there, at its own 54 ns
    builder = two_commands()
    old = TimelineIndex(builder.build(), "a")
    del builder.stages[1]
    new = TimelineIndex(builder.build(), "b")
    on_a_gemm = set_mark(old, select(old, first_look(old), 4))
    there = carried(old, new, select(old, on_a_gemm, 0))
    assert (there.mark_stage, there.mark_ps) == (3, 54_000)
    builder = two_commands()
    del builder.stages[5:]
    stopped = TimelineIndex(builder.build(), "c")
    on_an_exp = set_mark(old, select(old, first_look(old), 7))
    there = carried(old, stopped, select(old, on_an_exp, 0))
    assert (there.mark_stage, there.mark_ps) == (NO_STAGE, NO_TIME)


def test_a_mark_at_a_bare_time_stays_where_it_is(pair):
    old, new = pair
    look = replace(first_look(old), mark_ps=5_000)
    assert (carried(old, new, look).mark_stage, carried(old, new, look).mark_ps) == (
        NO_STAGE,
        5_000,
    )


def test_a_bare_time_past_the_new_end_is_at_that(pair):
    slow, quick = reversed(pair)  # 192 ns, and half of it
    look = replace(first_look(slow), mark_ps=150_000, area_from_ps=190_000)
    there = carried(slow, quick, look)
    assert (there.mark_ps, there.area_from_ps) == (96_000, 96_000)


@pytest.mark.parametrize(
    ("at_ps", "there_ps"),
    [
        (30_000, 60_000),  # its start
        (35_000, 65_000),  # 5 ns behind its start
        (54_000, 84_000),  # its old end lies within it now
        (59_000, 113_000),  # 5 ns behind its end, which is at 108 now
        (20_000, 50_000),  # 10 ns before its start
    ],
)
def test_a_time_beside_a_stage_stays_as_far_from_it(pair, at_ps, there_ps):
    # GEMM 3 runs from 30 to 54 ns, twice as slow from 60 to 108
    old, new = pair
    look = replace(select(old, first_look(old), 3), at_ps=at_ps)
    there = carried(old, new, set_mark(old, look))
    assert (there.at_ps, there.mark_ps, there.mark_stage) == (there_ps, there_ps, 3)
    assert delta_words(there) == "Δ +0 ps"


def test_a_time_in_a_stage_that_got_shorter_is_at_most_at_its_end(pair):
    # 40 ns behind the start of a GEMM of 48 ns, which is one of 24 then
    slow, quick = reversed(pair)
    look = replace(select(slow, first_look(slow), 3), at_ps=100_000)
    assert carried(slow, quick, look).at_ps == 54_000


def test_an_area_is_the_same_range_of_time_as_far_as_that_lies_in_the_timeline(pair):
    slow, quick = reversed(pair)
    for area, there in (
        ((10_000, 20_000), (10_000, 20_000)),
        ((90_000, 150_000), (90_000, 96_001)),  # up to the last instant, at 96 ns
        ((100_000, 150_000), None),
    ):
        look = replace(select(slow, first_look(slow), 3), area=area)
        assert carried(slow, quick, look).area == there


def test_a_stage_is_found_by_its_work_where_numbers_differ():
    builder = two_commands()
    old = TimelineIndex(builder.build(), "a")
    del builder.stages[5:]  # a run that stopped: no finish, no command 1
    new = TimelineIndex(builder.build(), "b")
    assert same_stage(old, new, 4) == 4
    assert same_stage(old, new, 7) == NO_STAGE
    assert same_stage(old, new, 5) == NO_STAGE
    assert same_stage(old, new, NO_STAGE) == NO_STAGE
    assert carried(old, new, select(old, first_look(old), 7)) == first_look(new)


def test_every_stage_is_found_again_under_another_policy(opt2):
    old = TimelineIndex(opt2, "a")
    new = TimelineIndex(replay(opt2.trace, policy="serial"), "b")
    found = np.array([same_stage(old, new, stage) for stage in range(len(old))])
    assert np.array_equal(found, np.arange(len(old)))
