"""The cursor carried to another timeline of the same trace: nothing jumps."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.replay.replay import replay
from kerntape.viewer.model.carried import carried, same_stage
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.look import first_look, select, window
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
    look = carried(old, new, first_look(old))
    assert (look.from_ps, look.to_ps) == (0, new.span_ps)


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
