"""The machine view: how busy PEs and links are, moving over them, and the drawing."""

import asyncio
import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kerntape.capture.capture import capture
from kerntape.replay.replay import replay
from kerntape.schemas.stages import StageKind
from kerntape.topologies.loader import resolve_topology
from kerntape.viewer.app import Browser
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.jumps import JumpError, to_pe
from kerntape.viewer.model.look import first_look, select, window
from kerntape.viewer.model.machine import (
    BUSIEST,
    MachineLook,
    Message,
    busy_shares,
    engines_of,
    first_machine_look,
    load_of,
    message_of,
    next_engine,
    rank_at,
    spot,
    stepped,
)
from kerntape.viewer.model.machine_lines import level_glyph, map_lines, more_words
from kerntape.viewer.model.machine_words import (
    ON_THE_WAY,
    Drawn,
    machine_detail,
    machine_title,
    percent,
)
from kerntape.viewer.model.text import line_cells
from kerntape.viewer.panel_actions import MACHINE, in_section
from kerntape.viewer.screens.keys import KeysScreen
from kerntape.viewer.screens.machine import MachineScreen
from kerntape.viewer.screens.timeline import TimelineScreen
from painted_text import line_text
from settling import settled
from timeline_builder import (
    CPU,
    GEMM,
    MATH,
    TCM,
    decode_like,
    timeline_of_intervals,
    topology,
    two_commands,
)

TWO_SIPS = topology(sips=2, cubes=(2, 2), pes=(4, 2))


def texts(lines):
    return [line_text(line) for line in lines]


@pytest.fixture(scope="module")
def small():
    return TimelineIndex(two_commands().build(), "x")


@pytest.fixture(scope="module")
def cube():
    """Eight PEs reduce to one: real messages."""
    machine = resolve_topology("one_cube")
    arguments = {"p": "8", "s_kv": "512"}
    trace = capture("gqa_decode", machine, arguments, with_data=False).trace
    return TimelineIndex(replay(trace), "x")


def test_a_share_is_the_part_of_the_range_in_which_an_engine_worked(small):
    # 40–80 ns: GEMM 40–78, fetch 40–50, dispatch 78–80, MATH none
    shares = busy_shares(small, 40_000, 80_000)
    assert shares[[CPU, TCM, GEMM, MATH]].tolist() == [2 / 40, 10 / 40, 38 / 40, 0.0]


def test_at_the_cursor_an_engine_works_or_not(small):
    look = select(small, first_look(small), 3)  # GEMM 30–54; fetch 2 runs 30–50
    load = load_of(small, look, MachineLook(0, at_cursor=True))
    assert (load.from_ps, load.to_ps) == (30_000, 30_001)
    assert {title for title, share in load.pe[0].items() if share == 1.0} == {"TCM", "GEMM"}


def test_a_pe_is_shaded_by_its_busiest_engine_or_by_one(small):
    look = window(small, first_look(small), 40_000, 40_000)
    load = load_of(small, look, MachineLook(0))
    assert load.share(0, BUSIEST) == 38 / 40
    assert load.share(0, "TCM") == 10 / 40
    assert load.share(0, "no such engine") == 0
    assert load.share(1, BUSIEST) is None


def test_the_load_is_of_the_area_where_there_is_one(small):
    # GEMM of 30–78 ns: half of 20 to 40
    look = replace(first_look(small), area=(20_000, 40_000))
    load = load_of(small, look, MachineLook(0))
    assert (load.from_ps, load.to_ps) == (20_000, 40_000)
    assert load.pe[0]["GEMM"] == 0.5
    instant = load_of(small, look, MachineLook(0, at_cursor=True))
    assert (instant.from_ps, instant.to_ps) == (0, 1)


def test_the_scheduler_which_only_decides_is_no_engine_to_shade_by(small):
    load = load_of(small, first_look(small), MachineLook(0))
    assert "SCHED" not in engines_of(load)
    shown = MachineLook(0)
    for title in (*engines_of(load)[1:], BUSIEST):
        shown = next_engine(shown, load)
        assert shown.engine == title


@pytest.mark.parametrize("rank", range(0, 64, 7))
def test_a_rank_has_a_spot_and_a_spot_a_rank(rank):
    assert rank_at(TWO_SIPS, *spot(TWO_SIPS, rank)) == rank


def test_one_walks_over_cubes_and_sips_as_over_one_grid():
    """Two SIPs of 2×2 CUBEs of 4×2 PEs: 16 columns, 4 rows."""
    at = MachineLook(0)
    at = stepped(TWO_SIPS, at, 3, 0)
    assert at.rank == 3
    at = stepped(TWO_SIPS, at, 1, 0)
    assert at.rank == 8  # CUBE 1, PE 0
    at = stepped(TWO_SIPS, at, 0, 2)
    assert at.rank == 24  # CUBE 3, PE 0
    at = stepped(TWO_SIPS, at, 4, 1)
    assert TWO_SIPS.place(at.rank).sip == 1
    assert spot(TWO_SIPS, at.rank) == (8, 3)
    assert stepped(TWO_SIPS, at, 100, 100).rank == 63
    assert stepped(TWO_SIPS, at, -100, -100).rank == 0


def test_the_view_begins_near_on_one_cube_and_far_on_many(small):
    assert first_machine_look(small, first_look(small)).is_near
    many = TimelineIndex(decode_like(1, launched=2, machine=TWO_SIPS), "x")
    look = first_look(many)
    assert first_machine_look(many, look) == MachineLook(0, is_near=False)
    second = int(np.flatnonzero(many.timeline.stages.pe == 1)[0])
    assert first_machine_look(many, select(many, look, second)).rank == 1


def test_a_message_has_a_sender_a_receiver_and_a_link(cube):
    kinds = cube.timeline.stages.kind
    for kind in (StageKind.SEND, StageKind.LINK, StageKind.RECV):
        stage = int(np.flatnonzero(kinds == kind)[0])
        message = message_of(cube, stage)
        assert message is not None
        assert message.links == (f"pe.{message.sender}>{message.receiver}",)
        if kind is StageKind.LINK:
            assert cube.engine(stage).channel == message.links[0]
    gemm = int(np.flatnonzero(kinds == StageKind.GEMM)[0])
    assert message_of(cube, gemm) is None
    assert message_of(cube, NO_STAGE) is None


def test_enter_on_a_pe_unfolds_its_rows():
    many = TimelineIndex(decode_like(1, launched=40, machine=TWO_SIPS), "x")
    look = first_look(many)
    there = to_pe(many, look, 37)
    assert many.timeline.engines[many.lane_of(there.stage)].rank == 37
    row = many.tree.rows[there.row]
    assert row.title == "CPU"
    assert not set(many.tree.above(row.key)) & there.folded
    with pytest.raises(JumpError, match="PE must be one of the launch"):
        to_pe(many, look, 50)


def test_shares_are_drawn_and_written():
    assert [level_glyph(share) for share in (0.001, 0.13, 0.5, 0.99, 1.0)] == list("▁▁▄▇█")
    assert [percent(share) for share in (0, 0.001, 0.63, 1.0)] == ["·", "<1 %", "63 %", "100 %"]


def drawn_of(index, shown, message=None):
    return Drawn(index.timeline.topology, load_of(index, first_look(index), shown), shown, message)


def test_all_cubes_are_drawn_with_a_glyph_a_pe():
    many = TimelineIndex(decode_like(1, launched=2, machine=TWO_SIPS), "x")
    drawn = drawn_of(many, MachineLook(9, engine="GEMM"))
    lines = texts(map_lines(drawn, 26, 8))
    # a GEMM of 8 tiles of 24 ns in about 1 µs: a fifth
    assert lines == [
        " SIP 0        SIP 1",
        " ▁▁-- [----]  ----  ----",
        " ----  ----   ----  ----",
        "",
        " ----  ----   ----  ----",
        " ----  ----   ----  ----",
        "",
        "",
    ]


def test_links_and_the_message_s_way_are_drawn_between_cubes():
    many = TimelineIndex(decode_like(1, launched=2, machine=TWO_SIPS), "x")
    load = load_of(many, first_look(many), MachineLook(0))
    load = replace(load, link={"cube.0>1": 0.05, "cube.2>0": 0.3, "cube.5>4": 0.9, "sip.0>1": 0.0})
    drawn = Drawn(TWO_SIPS, load, MachineLook(63), Message(0, 8, ("cube.0>1",)))
    lines = map_lines(drawn, 26, 8)
    assert line_text(lines[0]) == " SIP 0 ╌╌╌╌╌╌ SIP 1"
    assert line_text(lines[1])[5:7] == "╌╌"
    assert line_text(lines[1])[18:20] == "━━"
    assert line_text(lines[3]) == "   │"
    assert [span.text for span in lines[1] if span.tone == ON_THE_WAY] == ["▂", "╌╌-"]


def test_one_cube_is_drawn_with_a_box_a_pe(cube):
    lines = texts(map_lines(drawn_of(cube, MachineLook(5, is_near=True)), 80, 12))
    assert lines[0] == " SIP 0 · CUBE 0"
    assert lines[1].count("┌") == lines[6].count("┌") == 4
    assert "┌›PE 5 ─────┐" in lines[6]
    assert "→" in "".join(lines)
    assert "↑" in "".join(lines)


def test_a_map_larger_than_the_screen_follows_the_chosen_pe():
    machine = resolve_topology("llama70b_4sip")
    load = replace(drawn_empty(), pe={})
    for rank in (0, 511, 300):
        for is_near in (False, True):
            drawn = Drawn(machine, load, MachineLook(rank, is_near=is_near), None)
            lines = map_lines(drawn, 40, 7)
            assert {line_cells(line) for line in lines} == {40}
            assert ("›" if is_near else "[") in "".join(texts(lines)), (rank, is_near)


def test_a_map_that_goes_on_beside_the_screen_says_on_which_side():
    # a SIP is 1 + 2 CUBEs · (4 PEs + 2) = 13 cells; the last PE: 1 + 13 + (4 + 2) + 3 = column 23
    cells = 24
    drawn = Drawn(TWO_SIPS, replace(drawn_empty(), pe={}), MachineLook(0), None)
    last = replace(drawn, shown=MachineLook(TWO_SIPS.pe_count - 1))
    assert more_words(drawn, cells) == ""
    assert more_words(drawn, cells - 1) == "more on the right →"
    assert more_words(last, cells - 1) == "← more on the left"
    boxes = replace(drawn, shown=MachineLook(0, is_near=True))
    # four boxes of 13 with 7 between them, behind one cell: 1 + 3 · 20 + 13 = 74
    assert [more_words(boxes, width) for width in (74, 73)] == ["", "more on the right →"]
    title = line_text(machine_title(drawn, 80, "more on the right →"))
    assert title.endswith("  more on the right →")


def drawn_empty():
    index = TimelineIndex(two_commands().build(), "x")
    return load_of(index, first_look(index), MachineLook(0))


def test_the_words_say_what_is_shaded_and_what_the_pe_did(small):
    drawn = drawn_of(small, MachineLook(0, is_near=True), Message(0, 1, ("pe.0>1",)))
    assert line_text(machine_title(drawn, 80)) == " single_pe   busiest engine over 0 ps – 96.00 ns"
    assert texts(machine_detail(drawn, 80)) == [
        " SIP 0 CUBE 0 PE 0  CPU 21 % · TCM 42 % · GEMM 50 % · MATH 8 %",
        "",
        " message from rank 0 to rank 1 over pe.0>1",
    ]
    elsewhere = replace(drawn, shown=MachineLook(0), message=None, load=replace(drawn.load, pe={}))
    assert texts(machine_detail(elsewhere, 80)) == [
        " SIP 0 CUBE 0 PE 0  not in this launch",
        "",
        " no message selected: its way is drawn when one is",
    ]


def test_every_key_of_the_machine_view_does_what_the_table_says():
    timeline = decode_like(1, launched=64, machine=TWO_SIPS)
    start = MachineLook(9, is_near=False)
    expected = {
        "pe_right": replace(start, rank=10),
        "pe_left": replace(start, rank=8),
        "pe_down": replace(start, rank=13),
        "pe_up": start,
        "nearer": replace(start, is_near=True),
        "farther": start,
        "next_engine": replace(start, engine="CPU"),
        "previous_engine": replace(start, engine="HBM"),
        "instant": replace(start, at_cursor=True),
    }

    async def go():
        app = Browser(timeline, "x")
        async with app.run_test(size=(100, 30)) as pilot:
            for action in in_section(MACHINE):
                for key in action.keys:
                    await pilot.press("g")
                    screen = app.screen
                    assert isinstance(screen, MachineScreen)
                    screen.shown = start
                    await pilot.press(key)
                    if action.name in expected:
                        assert screen.shown == expected[action.name], key
                        await pilot.press("M")
                    assert isinstance(app.screen, TimelineScreen), key
                    if action.name == "go_to_lanes":
                        index = app.screen.index
                        stage = app.screen.look.stage
                        assert index.timeline.engines[index.lane_of(stage)].rank == 9

    asyncio.run(go())


def test_a_pe_outside_the_launch_has_no_lanes_and_that_is_said():
    timeline = decode_like(1, launched=2, machine=TWO_SIPS)

    async def go():
        app = Browser(timeline, "x")
        async with app.run_test(size=(100, 30)) as pilot:
            await pilot.press("g", "down", "enter")
            assert "PE must be one of the launch" in line_text(
                app.screen.query_one("#last").lines[-1]
            )

    asyncio.run(go())


@pytest.mark.parametrize("size", [(100, 30), (80, 24), (30, 8), (10, 3)])
@pytest.mark.parametrize("name", ["single_pe", "one_cube", "llama70b_4sip"])
def test_every_machine_fits_every_terminal(name, size):
    machine = resolve_topology(name)
    timeline = decode_like(1, launched=machine.pe_count, machine=machine)

    async def go():
        app = Browser(timeline, "x")
        async with app.run_test(size=size) as pilot:
            await pilot.press("g", "right", "down", "s", "w")
            lines = app.screen.query_one("#machine").lines
            assert len(lines) == size[1]
            assert {line_cells(line) for line in lines} == {size[0]}

    asyncio.run(go())


def test_keys_picture_and_table_are_there_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    timeline = decode_like(1, launched=2, machine=topology(pes=(2, 1)))

    async def go():
        app = Browser(timeline, "x")
        async with app.run_test(size=(100, 30)) as pilot:
            await pilot.press("g")
            machine = app.screen
            await pilot.press("question_mark")
            assert isinstance(app.screen, KeysScreen)
            await pilot.press("escape", "e")
            await pilot.pause()
            assert line_text(machine.query_one("#machine").lines[-1]) == " saved x-machine.svg"
            await pilot.press("E")
            await settled(pilot)
            said = line_text(machine.query_one("#machine").lines[-1])
            assert said == " saved the load of PEs and links as x-machine.csv"
            return machine.load

    load = asyncio.run(go())
    with Path("x-machine.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["pe"] for row in rows} == {"0", "1"}
    gemm = next(row for row in rows if (row["pe"], row["engine"]) == ("1", "GEMM"))
    assert float(gemm["busy_share"]) == pytest.approx(load.pe[1]["GEMM"], abs=1e-6)


def test_an_engine_whose_stages_overlap_is_busy_at_most_throughout():
    # a timeline file may hold such a one: 0–8 and 0–8 are 16 ps of work in 10
    index = TimelineIndex(timeline_of_intervals([0, 0], [8, 8]), "x")
    assert max(busy_shares(index, 0, 10)) == 1
