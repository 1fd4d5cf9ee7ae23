"""Jumps to a time, a command, a PE, a kernel line."""

import pytest
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.jumps import (
    JumpError,
    beyond_words,
    to_command,
    to_line,
    to_pe,
    to_time,
)
from kerntape.viewer.model.look import first_look, select
from timeline_builder import decode_like, timeline_of_intervals, topology, two_commands


@pytest.fixture(scope="module")
def index():
    return TimelineIndex(two_commands().build(), "x")


def at(index, stage):
    return select(index, first_look(index), stage)


def test_a_time_finds_the_row_s_stage_there(index):
    look = to_time(index, at(index, 3), 60_000)
    assert (look.stage, look.at_ps) == (4, 60_000)
    assert to_time(index, look, 10**15).at_ps == 96_000  # no later than the end


def test_a_time_outside_is_the_nearer_end_and_that_is_said(index):
    # the last stage ends at 96 ns
    assert to_time(index, at(index, 3), -5).at_ps == 0
    assert beyond_words(index, 96_001) == "the timeline ends at 96 ns"
    assert beyond_words(index, -1) == "the timeline begins at 0 ps"
    assert [beyond_words(index, time_ps) for time_ps in (0, 96_000)] == ["", ""]


def test_a_jump_into_folded_groups_unfolds_what_is_around_the_place_and_nothing_else():
    machine = topology(pes=(4, 1))
    index = TimelineIndex(decode_like(1, launched=4, machine=machine), "x")
    folded = first_look(index).folded  # all PEs but the first
    assert len(folded) == 3
    there = to_pe(index, first_look(index), 2)
    row = index.tree.rows[there.row]
    assert not row.is_group
    assert there.folded == folded - {row.parent}


def test_a_command_is_found_at_its_dispatch(index):
    assert to_command(index, at(index, 0), 1).stage == 6
    with pytest.raises(JumpError, match=r"^command 2 has no stage on this PE$"):
        to_command(index, at(index, 0), 2)


def test_another_pe_is_looked_at_on_the_same_engine_at_the_same_time():
    machine = topology(pes=(2, 1))
    index = TimelineIndex(decode_like(1, launched=2, machine=machine), "x")
    gemm = int(index.lane(5).ids[2])
    there = to_pe(index, at(index, gemm), 1)
    assert (index.pe(there.stage), index.start(there.stage)) == (1, index.start(gemm))
    assert index.engine(there.stage).block == index.engine(gemm).block
    with pytest.raises(JumpError, match=r"^PE must be one of the launch \(0 to 1\), not 7$"):
        to_pe(index, at(index, gemm), 7)


def test_a_kernel_line_is_found_at_its_next_command_and_again_from_the_start(index):
    # line 7 issues command 0, line 8 command 1
    assert to_line(index, at(index, 0), "decode.py:8").stage == 6
    assert to_line(index, at(index, 6), "7").stage == 0
    assert to_line(index, at(index, 0), ":7").stage == 0


def test_every_command_of_a_line_is_come_to_in_turn(decode_index):
    line = decode_index.line(0, 1)
    look, passed = at(decode_index, 0), []
    for _ in range(5):
        look = to_line(decode_index, look, str(line.number))
        passed.append(decode_index.command(look.stage))
    assert passed == [1, 3, 5, 7, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("9", "no command of this PE that ran comes from line 9"),
        ("other.py:7", "no command of this PE that ran comes from line other.py:7"),
        ("soon", "a line must be like decode.py:118 or 118, not 'soon'"),
        ("9" * 5000, f"a line must be like decode.py:118 or 118, not '{'9' * 23}…'"),
    ],
)
def test_what_is_not_there_is_said(index, text, said):
    with pytest.raises(JumpError, match=f"^{said}$"):
        to_line(index, at(index, 0), text)


def test_an_empty_timeline_has_no_places():
    index = TimelineIndex(timeline_of_intervals([], []), "x")
    look = first_look(index)
    assert to_time(index, look, 100).stage == NO_STAGE
    for jump in (to_command, to_pe):
        with pytest.raises(JumpError):
            jump(index, look, 0)
    with pytest.raises(JumpError):
        to_line(index, look, "1")
