"""Everything about the selected stage."""

from dataclasses import replace

import pytest
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.look import first_look, select
from kerntape.viewer.model.stage_box import box_lines, strip_lines
from kerntape.viewer.model.text import line_cells
from painted_text import line_text
from timeline_builder import decode_like, two_commands


def box(timeline, stage, width=30, height=24):
    index = TimelineIndex(timeline, "x")
    look = replace(first_look(index), stage=NO_STAGE)
    look = select(index, look, stage) if stage != NO_STAGE else look
    lines = box_lines(index, HazardIndex(index), look, width, height)
    assert len(lines) == height
    assert {line_cells(line) for line in lines} == {width}
    return [line_text(line) for line in lines]


def test_a_stage_with_its_times_reason_handles_and_what_it_released():
    assert box(two_commands().build(), 4) == [
        "┌ stage ──────────────────────",
        "│ GEMM  tile 2 of 2",
        "│ command 0  PE 0",
        "│ dot",
        "│",
        "│ ready 50 ns",
        "│ start 54 ns  +4 ns",
        "│ end   78 ns  24 ns",
        "│",
        "│ waited 4 ns for the engine:",
        "│ GEMM tile 1",
        "│",
        "│ reads  q  8×64 bf16",
        "│   tcm 0x0 1024 B",
        "│ reads  K  64×32 bf16",
        "│   tcm 0x400 4096 B",
        "│ writes s  8×32 f32",
        "│   tcm 0x1400 1024 B",
        "│",
        "│ then let finish start",
        "│",
        "│",
        "│",
        "└─────────────────────────────",
    ]


def test_what_does_not_fit_is_counted():
    assert box(two_commands().build(), 4, height=8)[-3:] == [
        "│ ready 50 ns",
        "│ … 14 more: O shows all",
        "└─────────────────────────────",
    ]


def test_a_command_of_many_handles_lists_each_once_without_its_address(decode, softmax_merge):
    lines = box(decode, softmax_merge, height=40)
    handles = [line.split()[2] for line in lines if line.startswith(("│ reads", "│ writes"))]
    reads = ["s", "m", "m_loc", "m_new", "P", "l", "corr", "l_loc", "O", "V"]
    assert handles[:10] == reads
    assert not any("tcm" in line for line in lines)
    assert "│ composite rmax, max_elem," in lines


def test_an_hbm_handle_is_placed_in_its_tensor():
    timeline = decode_like(1)
    # stage 1 is the load's HBM read; q_hbm is the first tensor in HBM, 0x28c0 after the TCM handles
    assert "│   hbm q_hbm+0x28c0 2048 B" in box(timeline, 1)


def test_without_a_stage_the_box_says_so():
    assert box(two_commands().build(), NO_STAGE, height=4) == [
        "┌ stage ──────────────────────",
        "│ no stage here",
        "│",
        "└─────────────────────────────",
    ]


@pytest.mark.parametrize("size", [(1, 1), (2, 5), (10, 3), (40, 60)])
def test_the_box_fits_any_size(size):
    box(two_commands().build(), 4, *size)


def test_on_a_narrow_screen_two_lines_say_the_same():
    index = TimelineIndex(two_commands().build(), "x")
    look = select(index, first_look(index), 4)
    assert [line_text(line) for line in strip_lines(index, look, 80)] == [
        " GEMM tile 2 of 2 · command 0 dot",
        " 54 ns + 24 ns  reads q 8×64 bf16 · reads K 64×32 bf16 · writes s 8×32 f32",
    ]
    assert [line_text(line) for line in strip_lines(index, replace(look, stage=NO_STAGE), 80)] == [
        " no stage here",
        "",
    ]
