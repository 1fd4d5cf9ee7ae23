"""Where the cursor is in a file that was opened anew: exact cases, and what holds for every stage."""

from dataclasses import replace
from decimal import Decimal

import pytest
from kerntape.schemas.errors import FileError
from kerntape.viewer.model.calibrating import unchanged
from kerntape.viewer.model.carried import same_stage
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.jumps import to_time
from kerntape.viewer.model.look import NO_TIME, Overlay, first_look, jump, window
from kerntape.viewer.model.marking import set_mark
from kerntape.viewer.model.reopened import (
    check_same_kernel,
    dropped_words,
    look_again,
    nearest_stage,
)
from kerntape.viewer.model.rows import filter_rows
from timeline_builder import decode_like, topology, two_commands


@pytest.fixture
def longer():
    """A decode of four tiles, `decode-like`: the one before had two."""
    return TimelineIndex(decode_like(2), "x"), TimelineIndex(decode_like(4), "x")


def commands(index):
    return {(index.pe(stage), index.command(stage)) for stage in range(len(index))}


@pytest.mark.parametrize("is_shorter", [False, True])
def test_every_stage_leads_to_its_command_or_the_nearest_of_its_pe(longer, is_shorter):
    old, new = reversed(longer) if is_shorter else longer
    there = commands(new)
    for stage in range(len(old)):
        found = nearest_stage(old, new, stage)
        pe, command = old.pe(stage), old.command(stage)
        assert new.pe(found) == pe
        nearest = min(abs(other - command) for of, other in there if of == pe)
        assert abs(new.command(found) - command) == nearest
        if nearest == 0:
            kinds = {new.kind(one) for one in range(len(new)) if new.command(one) == command}
            assert new.kind(found) is old.kind(stage) or old.kind(stage) not in kinds


def test_a_stage_of_the_same_timeline_is_itself():
    index, again = (TimelineIndex(two_commands().build(), "x") for _ in range(2))
    assert [nearest_stage(index, again, stage) for stage in range(8)] == [*range(8)]
    assert nearest_stage(index, again, NO_STAGE) == NO_STAGE


def test_the_whole_stays_the_whole_and_a_part_stays_as_long(longer):
    old, new = longer
    stage = len(old) - 1
    whole = look_again(old, new, jump(old, first_look(old), stage))
    assert (whole.from_ps, whole.span_ps) == (0, new.span_ps)
    start = old.start(stage)
    part = window(old, jump(old, first_look(old), stage), start - 30_000, 80_000)
    before = start - part.from_ps  # 30 ns, unless the end of the timeline is nearer
    after = look_again(old, new, part)
    assert after.span_ps == 80_000
    assert new.start(after.stage) - after.from_ps == before


@pytest.fixture
def everything():
    """A look with all that one can have, at a bare time in the middle of a stage."""
    index = TimelineIndex(decode_like(4), "x")
    look = window(index, jump(index, first_look(index), 100), 300_000, 200_000)
    look = to_time(index, filter_rows(index, look, "gemm|math|cpu"), 402_345)
    look = replace(look, trail=(3, 5), area=(1_000, 2_000), area_from_ps=7, top=1, pinned=(2,))
    return index, set_mark(index, look)


def test_the_look_is_as_it_is_where_nothing_has_changed(everything):
    index, look = everything
    again = TimelineIndex(decode_like(4), "x")
    for one in (look, replace(look, stage=NO_STAGE, mark_stage=NO_STAGE)):
        assert look_again(index, again, one) == one


def test_where_no_stage_is_selected_the_time_and_the_window_stay(longer):
    old, new = longer
    look = window(old, replace(first_look(old), stage=NO_STAGE, at_ps=9_000), 5_000, 50_000)
    after = look_again(old, new, look)
    assert (after.stage, after.at_ps, after.from_ps, after.span_ps) == (
        NO_STAGE,
        9_000,
        5_000,
        50_000,
    )


@pytest.mark.parametrize("has_equal_rows", [True, False])
def test_the_mark_and_the_area_stay_where_the_cursor_s_command_is_gone(has_equal_rows):
    old, new = TimelineIndex(decode_like(4), "x"), TimelineIndex(decode_like(2), "x")
    if not has_equal_rows:
        new = TimelineIndex(decode_like(2, launched=2, machine=topology(pes=(2, 1))), "x")
    assert (old.tree.rows == new.tree.rows) is has_equal_rows
    marked = set_mark(old, jump(old, first_look(old), 20))
    look = jump(old, marked, len(old) - 1)  # of the last command, which two tiles do not have
    after = look_again(old, new, replace(look, area=(1_000, 2_000)))
    assert same_stage(old, new, look.stage) == NO_STAGE
    assert after.mark_stage == same_stage(old, new, 20) != NO_STAGE
    assert (after.mark_ps, after.area) == (new.start(after.mark_stage), (1_000, 2_000))
    # a mark on a command that is gone is gone too; a bare time stays one, up to the last instant
    assert look_again(old, new, set_mark(old, look)).mark_ps == NO_TIME
    late = replace(look, mark_ps=10**9, mark_stage=NO_STAGE)
    assert look_again(old, new, late).mark_ps == new.timeline.makespan_ps


@pytest.fixture
def opened():
    """A timeline's numbers and policy, and others."""
    timeline = two_commands().build()
    other = timeline.calibration.model_copy(update={"name": "other"})
    return timeline, other, timeline.policy.model_copy(update={"name": "other"})


def test_what_was_turned_is_dropped_where_it_was_turned_from_something_else(opened):
    timeline, calibration, policy = opened
    same = unchanged(timeline.calibration, timeline.policy)
    turned = replace(same, changes={"clock_ghz": Decimal(2)})
    words = " · what was turned is dropped: {} changed"
    for settings, now, said in (
        (turned, timeline, ""),
        (same, replace(timeline, calibration=calibration), ""),
        (
            turned,
            replace(timeline, calibration=calibration),
            words.format("the calibration has"),
        ),
        (
            replace(same, policy=policy),
            replace(timeline, policy=policy),
            words.format("the hazard policy has"),
        ),
        (
            turned,
            replace(timeline, calibration=calibration, policy=policy),
            words.format("the calibration and the hazard policy have"),
        ),
    ):
        assert dropped_words(settings, now) == said


def test_what_lies_over_the_rows_and_which_are_shown_stays(longer):
    old, new = longer
    look = filter_rows(old, first_look(old), "gemm|cpu")
    look = replace(look, overlays=frozenset({Overlay.PATH}))
    after = look_again(old, new, look)
    assert after.overlays == {Overlay.PATH}
    assert after.rows_like == "gemm|cpu"
    shown = {row.title for row in new.tree.rows if row.key not in after.hidden}
    assert shown == {"PE 0", "CPU", "GEMM"}


def test_another_kernel_is_refused():
    timeline = two_commands().build()
    header = replace(timeline.trace.header, kernel="other")
    other = replace(timeline, trace=replace(timeline.trace, header=header))
    check_same_kernel(timeline, timeline, "x")
    with pytest.raises(FileError) as caught:
        check_same_kernel(timeline, other, "x.ktrace")
    assert str(caught.value) == (
        f"x.ktrace: must be of the kernel {timeline.trace.header.kernel} still, not of other:"
        " leave, and view it anew"
    )
