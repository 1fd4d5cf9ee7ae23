"""The stage box whole: nothing is left out for room, and a panel scrolls it."""

from dataclasses import replace

import pytest
from kerntape.viewer.actions import HINTS, named
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.look import first_look, select
from kerntape.viewer.model.stage_box import WHOLE_KEY, box_lines
from kerntape.viewer.model.stage_whole import _place_lines, whole_lines
from kerntape.viewer.model.text import line_cells
from kerntape.viewer.model.words import (
    handle_name,
    op_reads,
    op_writes,
    place_words,
    shape_words,
)
from kerntape.viewer.screens.whole_stage import StagePanel
from painted_text import last_line, line_text, line_texts
from timeline_builder import decode_like, timeline_of_intervals, two_commands


def whole(timeline, stage, width=80):
    index = TimelineIndex(timeline, "x")
    lines = whole_lines(index, HazardIndex(index), stage, width)
    assert {line_cells(line) for line in lines} == {width}
    return line_texts(lines)


def test_all_about_a_stage_a_line_each():
    assert whole(two_commands().build(), 4) == [
        "  GEMM  tile 2 of 2",
        "  command 0 on PE 0: dot",
        "  line    decode.py:7 s = tl.dot(q, k)",
        "",
        "  ready   50 ns",
        "  start   54 ns  +4 ns",
        "  end     78 ns  24 ns",
        "",
        "  why     waited 4 ns for the engine: GEMM tile 1",
        "",
        "  reads   q  8×64 bf16   tcm 0x0 1024 B",
        "  reads   K  64×32 bf16  tcm 0x400 4096 B",
        "  writes  s  8×32 f32    tcm 0x1400 1024 B",
        "",
        "  let     finish start",
    ]


def test_every_op_and_every_address_of_a_long_command_is_told(decode, softmax_merge):
    shown = whole(decode, softmax_merge)
    words = " ".join(" ".join(shown).split())
    ops = "rmax, max_elem, exp_diff, exp_diff, rsum, fma, mul_bcast, copy"
    assert f"composite {ops}" in words
    touched = [line for line in shown if line.startswith(("  reads ", "  writes "))]
    assert len(touched) > 10
    assert all(" tcm 0x" in line or " hbm " in line for line in touched)


def test_every_stage_that_it_let_start_is_told(decode, decode_index):
    index = decode_index
    many = max(range(len(index)), key=lambda stage: len(index.released_by(stage)))
    released = index.released_by(many)
    assert len(released) > 1
    assert sum(line.endswith(" start") for line in whole(decode, many, 200)) == len(released)


def long_names(timeline):
    """The timeline with 90 cells more behind the name of every handle and tensor."""
    name = " " + "the_value_cache_of_the_layer_" * 3 + "end"
    trace = timeline.trace
    tensors = tuple(replace(one, name=one.name + name) for one in trace.header.tensors)
    header = replace(trace.header, tensors=tensors)
    strings = tuple(one + name for one in trace.strings)
    return replace(timeline, trace=replace(trace, header=header, strings=strings))


def facts(index, stage):
    """Every name, shape, address and size of what the stage reads and writes, without spaces."""
    for handle in (*op_reads(index, stage), *op_writes(index, stage)):
        place = place_words(index, index.pe(stage), handle)
        for told in (handle_name(handle), shape_words(handle), place):
            yield told.replace(" ", "")


@pytest.mark.parametrize("width", [24, 30, 40, 60, 80, 120])
@pytest.mark.parametrize("has_long_names", [False, True])
def test_no_name_address_or_size_is_cut_off(width, has_long_names):
    timeline = decode_like(1)
    if has_long_names:
        timeline = long_names(timeline)
    index = TimelineIndex(timeline, "x")
    for stage in range(len(index)):
        lines = whole(timeline, stage, width)
        shown = "".join(lines).replace(" ", "")
        assert "…" not in shown
        assert [one for one in facts(index, stage) if one not in shown] == []
        assert all(len(line) <= width for line in lines)


def test_where_a_line_has_no_room_for_it_the_place_is_below_the_name():
    # of 30 cells 20 are for what is told: `K  64×32 bf16  tcm 0x400 4096 B` has 31
    assert whole(two_commands().build(), 4, 30)[-8:] == [
        "  reads   q  8×64 bf16",
        "            tcm 0x0 1024 B",
        "  reads   K  64×32 bf16",
        "            tcm 0x400 4096 B",
        "  writes  s  8×32 f32",
        "            tcm 0x1400 1024 B",
        "",
        "  let     finish start",
    ]


def test_a_name_that_has_no_room_goes_on_below_itself_and_an_offset_is_not_broken():
    assert _place_lines("hbm a+b+0x1000 8192 B", 21) == ["hbm a+b+0x1000 8192 B"]
    assert _place_lines("hbm a+b+0x1000 8192 B", 20) == ["hbm a+b +0x1000 8192", "B"]
    assert _place_lines("hbm a+b+0x1000 8192 B", 12) == ["hbm a+b", "+0x1000 8192", "B"]
    told = whole(long_names(two_commands().build()), 4, 40)
    at = next(i for i, line in enumerate(told) if line.startswith("  reads   "))
    assert told[at : at + 6] == [
        "  reads   q",
        "          the_value_cache_of_the_layer_t",
        "          he_value_cache_of_the_layer_th",
        "          e_value_cache_of_the_layer_end",
        "          8×64 bf16",
        "            tcm 0x0 1024 B",
    ]


@pytest.mark.parametrize("width", [1, 12, 40, 300])
def test_it_fits_any_width(width):
    timeline = decode_like(1)
    for stage in range(0, len(timeline.start_ps), 7):
        whole(timeline, stage, width)


def test_a_long_text_goes_on_below_its_own_beginning():
    told = whole(decode_like(1), 0, 30)
    at = next(i for i, line in enumerate(told) if line.startswith("  line  "))
    assert told[at + 1].startswith(" " * 10)


def test_the_box_names_the_key_that_shows_the_rest():
    assert named("stage_box").keys == (WHOLE_KEY,)
    index = TimelineIndex(two_commands().build(), "x")
    look = select(index, first_look(index), 4)
    lines = box_lines(index, HazardIndex(index), look, 30, 8)
    assert line_text(lines[-2]) == "│ … 14 more: O shows all"
    assert (WHOLE_KEY, "stage box") in HINTS


def test_o_opens_it_over_the_timeline_it_scrolls_and_o_or_escape_closes_it(drive, opt2):
    async def scenario(pilot, screen):
        await pilot.press("colon", *"#7", "enter", "O")
        panel = pilot.app.screen
        assert isinstance(panel, StagePanel)
        first = line_texts(panel.panel.lines)
        assert first[0].startswith("── stage ──")
        assert first[1] == "  dispatch"
        await pilot.press("down")
        assert line_texts(panel.panel.lines)[1:5] == first[2:6]
        await pilot.press("end", "down")
        assert "this is the last line" in line_texts(panel.panel.lines)[0]
        assert any(line.startswith("  let ") for line in line_texts(panel.panel.lines))
        for key in ("O", "escape", "enter"):
            await pilot.press(key)
            assert pilot.app.screen is screen
            await pilot.press("O")
        await pilot.press("tab")
        assert "Esc closes this, then Tab opens that" in line_texts(pilot.app.screen.panel.lines)[0]

    drive(opt2, scenario, (80, 24))


def test_a_click_on_the_box_opens_it_too(drive, decode):
    async def scenario(pilot, screen):
        await pilot.click("#box", offset=(4, 4))
        assert isinstance(pilot.app.screen, StagePanel)
        await pilot.press("escape")
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        await pilot.click("#strip", offset=(4, 1))
        assert isinstance(pilot.app.screen, StagePanel)

    drive(decode, scenario)


def test_from_the_summary_it_leads_to_the_timeline_and_is_found_among_the_keys(drive, decode):
    async def scenario(pilot, screen):
        await pilot.press("u", "O")
        assert isinstance(pilot.app.screen, StagePanel)
        await pilot.press("escape", "question_mark", *"its", "space", *"box", "enter")
        assert isinstance(pilot.app.screen, StagePanel)

    drive(decode, scenario)


def test_without_a_stage_there_is_nothing_to_open(drive):
    async def scenario(pilot, screen):
        assert screen.look.stage == NO_STAGE
        await pilot.press("O")
        return last_line(screen)

    said = drive(timeline_of_intervals([], []), scenario)
    assert said == "no stage is selected: there is nothing to tell"


def test_the_footer_names_the_key_where_there_is_room(screen_text, decode):
    assert "  O stage box  ? keys" in screen_text(decode, ("enter",), (120, 40)).splitlines()[-1]
