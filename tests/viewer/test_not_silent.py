"""No key is silent: on every screen what cannot be done, and a key that is none, is said."""

import asyncio
from dataclasses import replace

import pytest
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.topologies.loader import resolve_topology
from kerntape.viewer.app import NO_SHELL, Browser
from kerntape.viewer.model.look import select
from kerntape.viewer.panel_actions import LISTS, in_section
from kerntape.viewer.screens.area import AreaPanel
from kerntape.viewer.screens.list_panel import ListPanel
from kerntape.viewer.screens.machine import MachineScreen
from kerntape.viewer.screens.saving import _say
from kerntape.viewer.widgets.painted import Painted
from painted_text import last_line, line_texts
from pressed import type_in
from settling import settled
from timeline_builder import decode_like, topology, two_commands


def title(panel):
    return line_texts(panel.panel.lines)[0]


@pytest.mark.parametrize(
    ("words", "at_ps", "said"),
    [
        ("time 5ms", 96_000, "the timeline ends at 96 ns"),
        ("5ms", 96_000, "the timeline ends at 96 ns"),
        ("-1ns", 0, "the timeline begins at 0 ps"),
        ("time -1ns", 0, "the timeline begins at 0 ps"),
    ],
)
def test_a_time_outside_the_timeline_leads_to_its_end_and_says_so(drive, words, at_ps, said):
    async def scenario(pilot, screen):
        screen.go(select(screen.index, screen.look, 3))
        await type_in(pilot, words)
        assert (screen.look.at_ps, last_line(screen)) == (at_ps, said)

    drive(two_commands().build(), scenario)


@pytest.mark.parametrize("opened", ["c", "tab", "B", "o"])
def test_what_the_timeline_said_is_gone_when_a_panel_is_closed(drive, opened):
    async def scenario(pilot, screen):
        await pilot.press("b")
        said = last_line(screen)
        await pilot.press(opened, "escape")
        return said, last_line(screen)

    said, after = drive(decode_like(1), scenario)
    assert said.startswith("bookmark a kept")
    assert after.startswith(", . stage")


@pytest.mark.parametrize(("opened", "key"), [("c", "right"), ("tab", "f")])
def test_what_a_panel_said_goes_with_the_next_key_of_its_own(drive, opened, key):
    async def scenario(pilot, screen):
        await pilot.press(opened, "ö")
        said = title(pilot.app.screen)
        await pilot.press(key)
        return said, title(pilot.app.screen)

    said, after = drive(decode_like(1), scenario)
    assert "ö does nothing here" in said
    assert "does nothing" not in after
    assert "? keys" in after


def test_a_file_saved_from_a_panel_that_is_gone_is_told_on_the_main_screen(drive):
    async def scenario(pilot, screen):
        await pilot.press("o")
        gone = pilot.app.screen
        await pilot.press("escape", "c")
        _say(gone, "saved 3 lines as x.csv")
        await pilot.pause()
        return last_line(screen), title(pilot.app.screen)

    said, above = drive(decode_like(1), scenario)
    assert said == "saved 3 lines as x.csv"
    assert "saved" not in above


def test_a_key_that_is_none_is_said_and_esc_has_words_of_its_own(drive):
    async def scenario(pilot, screen):
        await pilot.press("f5")
        assert last_line(screen) == "f5 does nothing here: ? lists the keys"
        await pilot.press("dollar_sign")
        assert last_line(screen) == "$ does nothing here: ? lists the keys"
        await pilot.press("escape")
        assert last_line(screen) == "nothing is open that Esc would close: q quits"
        await pilot.press("space", "f5")  # what ends playing needs no words
        assert "does nothing" not in last_line(screen)
        await pilot.press("u", "f5")
        summary = pilot.app.screen.query_one("#summary", Painted)
        assert line_texts(summary.lines)[-1] == " f5 does nothing here: ? lists the keys"
        await pilot.press("escape", "g", "f5")
        machine = pilot.app.screen.query_one("#machine", Painted)
        assert line_texts(machine.lines)[-1] == " f5 does nothing here: ? lists the keys"
        await pilot.press("escape", "o", "f5")
        assert "· f5 does nothing here: ? lists the keys " in title(pilot.app.screen)

    drive(two_commands().build(), scenario)


def test_the_ends_of_a_list_are_said(drive):
    ends = {
        "list_down": "this is the last line",
        "list_page_down": "this is the last line",
        "list_last": "this is the last line",
        "list_up": "this is the first line",
        "list_page_up": "this is the first line",
        "list_first": "this is the first line",
    }

    async def scenario(pilot, screen):
        await pilot.press("o")
        panel = pilot.app.screen
        for action in in_section(LISTS):
            for key in action.keys if action.name in ends else ():
                panel.place = 0 if "first" in ends[action.name] else panel.count() - 1
                await pilot.press(key)
                assert f"· {ends[action.name]} " in title(panel), key
        await pilot.press("up" if panel.place else "down")
        assert "this is" not in title(panel)
        await pilot.press("escape", "B", "down")
        assert "· nothing is listed " in title(pilot.app.screen)

    drive(two_commands().build(), scenario)


def test_a_key_that_opens_another_panel_says_that_this_one_closes_first(drive):
    async def scenario(pilot, screen):
        await pilot.press("o", "tab")
        assert isinstance(pilot.app.screen, ListPanel)
        assert "· Esc closes this, then Tab opens that " in title(pilot.app.screen)

    drive(two_commands().build(), scenario)


def test_the_edges_of_the_machine_are_said(drive):
    machine = resolve_topology("one_cube")
    timeline = decode_like(1, launched=machine.pe_count, machine=machine)

    async def scenario(pilot, screen):
        await pilot.press("g")
        shown = pilot.app.screen
        assert isinstance(shown, MachineScreen)
        for key in ("left", "up"):
            await pilot.press(key)
            assert shown._message == "the machine ends here"
        await pilot.press("right")
        assert shown._message == ""
        await pilot.press("w", "w")
        assert shown._message == "this is one CUBE, a box a PE"
        await pilot.press("s", "s")
        assert shown._message == "these are all CUBEs"

    drive(timeline, scenario)


def test_where_nothing_is_held_z_names_what_finds_hazards(drive):
    async def scenario(pilot, screen):
        await pilot.press("z")
        assert last_line(screen) == "no hazard: Tab, a finds possible ones"

    drive(two_commands().build(), scenario)


def test_an_area_without_a_length_is_none_and_says_how_one_is_made(drive):
    async def scenario(pilot, screen):
        screen.go(select(screen.index, screen.look, 5))  # the finish at 78, of no length
        await pilot.press("v", "v")
        assert screen.look.area is None
        assert last_line(screen) == "no area: it would be empty; v begins one, v elsewhere ends it"
        await pilot.press("v", "full_stop", "v")  # on to the dispatch, 78 to 88
        assert isinstance(pilot.app.screen, AreaPanel)
        assert screen.look.area == (78_000, 88_000)

    drive(two_commands().build(), scenario)


def two_pes():
    return decode_like(1, launched=2, machine=topology(pes=(2, 1)))


async def jumps_by_n(pilot, screen):
    await pilot.press("slash", *"kind:gemm", "enter")
    while screen.index.pe(screen.look.stage) == 0:
        await pilot.press("n")


async def jumps_by_pe(pilot, screen):
    await type_in(pilot, "pe 1")


async def jumps_to_the_mark(pilot, screen):
    folded = screen.look.folded
    far = int(screen.index.lane(13).ids[0])
    screen.go(replace(screen.look, mark_ps=screen.index.start(far), mark_stage=far))
    assert screen.look.folded == folded
    await pilot.press("apostrophe")


@pytest.mark.parametrize("jump", [jumps_by_n, jumps_by_pe, jumps_to_the_mark])
def test_a_jump_into_a_folded_group_unfolds_it(drive, jump):
    async def scenario(pilot, screen):
        assert screen.look.folded  # the second PE
        await jump(pilot, screen)
        assert screen.index.pe(screen.look.stage) == 1
        assert not screen.index.tree.rows[screen.look.row].is_group
        assert not screen.look.folded

    drive(two_pes(), scenario)


def test_a_hazard_and_a_step_of_the_path_in_a_folded_group_unfold_it(drive):
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=20)

    async def scenario(pilot, screen):
        for keys in (("z",), ("tab", "enter"), ("o", "end", "enter")):
            await pilot.press("1")
            assert screen.look.folded
            await pilot.press(*keys)
            assert not screen.look.folded, keys
            assert not screen.index.tree.rows[screen.look.row].is_group

    drive(builder.build(), scenario)


def test_without_a_shell_ctrl_z_says_so_on_every_screen(drive):
    async def scenario(pilot, screen):
        await pilot.press("ctrl+z")
        assert last_line(screen) == NO_SHELL
        await pilot.press("o", "ctrl+z")
        assert NO_SHELL in title(pilot.app.screen)
        await pilot.press("escape", "question_mark", *"shell", "enter")
        assert last_line(screen) == NO_SHELL

    drive(two_commands().build(), scenario)


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (200, 50)])
def test_help_and_the_way_out_are_in_every_footer(drive, size):
    keys = {"": "q", "u": "q", "x": "x", "g": "g"}

    async def scenario(pilot, screen):
        for opener, leaves in keys.items():
            if opener == "x":
                continue  # one file has nothing to compare with
            await pilot.press(*opener)
            shown = pilot.app.screen_lines()[-1]
            words = "".join(span.text for span in shown)
            assert len(words) == size[0]
            assert "? keys" in words
            assert f" {leaves} " in words
            await pilot.press(*(["escape"] if opener else []))
        for opener in ("tab", "o", "B", "exclamation_mark", "c"):
            await pilot.press(opener)
            shown = title(pilot.app.screen)
            assert "? keys · Esc close ─" in shown, opener
            await pilot.press("escape")

    drive(two_commands().build(), scenario, size=size)


def test_the_speed_says_where_it_gets_no_slower_and_a_filter_that_all_rows_are_shown(drive):
    async def scenario(pilot, screen):
        await type_in(pilot, "speed 20ps")
        await pilot.press("less_than_sign")
        assert last_line(screen) == "20 ps a second is as slow as it gets"
        await pilot.press("F", "enter")
        assert last_line(screen) == "all rows are shown"
        await pilot.press("end", "space")
        screen.player.set_speed(10**9)
        screen.player.tick()
        assert last_line(screen) == "the timeline ends here: Space plays it from its beginning"

    drive(two_commands().build(), scenario)


def test_the_summary_says_where_its_lines_end(drive):
    async def scenario(pilot, screen):
        await pilot.press("u", "up")
        summary = pilot.app.screen
        assert summary._message == "this is the first line"
        await pilot.press("end", "down")
        assert summary._message == "this is the last line"
        await pilot.press("up")
        assert summary._message == ""

    drive(two_commands().build(), scenario)


def test_two_alike_are_never_apart_and_the_ends_of_the_table_are_said(decode):
    async def go():
        app = Browser(decode, "decode.ktrace", (decode, "again.ktrace"))
        async with app.run_test(size=(80, 24)) as pilot:
            await settled(pilot)
            compared = app.screen
            await pilot.press("v")
            assert compared._message == "the two are never apart"
            await pilot.press("n", "N")
            assert compared._message == "this is the first line"
            await pilot.press(*["n"] * len(compared.comparison.differences(compared.pair.level)))
            assert compared._message == "this is the last line"
            await pilot.press("home", "comma")
            assert compared._message == "no earlier stage in this row"
            await pilot.press("f5")
            assert compared._message == "f5 does nothing here: ? lists the keys"

    asyncio.run(go())
