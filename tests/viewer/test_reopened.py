"""Where the cursor is in a file that was opened anew: exact cases, and what holds for every stage."""

from dataclasses import replace

import pytest
from kerntape.schemas.errors import FileError
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.look import Overlay, first_look, jump, window
from kerntape.viewer.model.reopened import check_same_kernel, look_again, nearest_stage
from kerntape.viewer.model.rows import filter_rows
from timeline_builder import decode_like, two_commands


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
