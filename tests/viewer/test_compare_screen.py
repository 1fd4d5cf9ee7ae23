"""Side by side, driven by its keys."""

import asyncio
import csv
from pathlib import Path

import pytest
from kerntape.viewer.actions import named
from kerntape.viewer.app import Browser
from kerntape.viewer.model import times
from kerntape.viewer.model.comparing import LOWER, UPPER, first_pair, marked, moved
from kerntape.viewer.model.look import NO_TIME
from kerntape.viewer.panel_actions import COMPARE, in_section
from kerntape.viewer.screens.compare import CompareScreen
from kerntape.viewer.screens.compare_keys import MARKING, compare_moves
from kerntape.viewer.screens.keys import KeysScreen
from kerntape.viewer.screens.timeline import TimelineScreen
from kerntape.viewer.widgets.painted import Painted
from painted_text import line_texts
from settling import settled
from timeline_builder import two_commands


@pytest.fixture
def compared(opt2, opt3):
    """Runs a scenario in the browser opened on two files."""

    def run(scenario, one=opt2, other=opt3, size=(100, 30)):
        async def go():
            app = Browser(one, "opt2.ktrace", (other, "opt3.ktrace"))
            async with app.run_test(size=size) as pilot:
                await settled(pilot)
                assert isinstance(app.screen, CompareScreen)
                return await scenario(pilot, app.screen)

        return asyncio.run(go())

    return run


def test_two_files_open_side_by_side_and_x_comes_and_goes(compared):
    async def scenario(pilot, screen):
        for key in named("leave_comparison").keys:
            await pilot.press(key)
            assert isinstance(pilot.app.screen, TimelineScreen), key
            await pilot.press("x")
            await settled(pilot)
            assert isinstance(pilot.app.screen, CompareScreen)

    compared(scenario)


def looks_at(look):
    return look.stage, look.from_ps, look.to_ps


def test_it_opens_at_the_stage_and_the_time_where_one_was_and_comes_back_to_them(compared):
    async def scenario(pilot, screen):
        await pilot.press("x", "end", "w", "w", "w", "a", "f", "s", "m", "left_square_bracket")
        main = pilot.app.screen
        before = main.look
        assert before.stage > 0
        assert before.span_ps < main.index.span_ps
        for key in (*named("leave_comparison").keys, *named("quit_comparison").keys):
            await pilot.press("x")
            await settled(pilot)
            beside = pilot.app.screen
            assert looks_at(beside.look) == looks_at(before)
            lower = beside.pair.looks[LOWER]
            assert (lower.from_ps, lower.to_ps) == (before.from_ps, before.to_ps)
            assert lower.stage == beside.comparison.moment(UPPER, before.stage).stages[LOWER]
            await pilot.press(key)
            assert main.look == before  # the mark and the trail too

    compared(scenario)


def test_the_run_with_the_turned_numbers_is_compared_from_where_one_was_in_it(drive, opt2):
    async def scenario(pilot, screen):
        await pilot.press("c", "down", "right")
        await settled(pilot)
        await pilot.press("escape", "j", "j", "end", "w", "w", "w")
        before = screen.look
        await pilot.press("x")
        await settled(pilot)
        beside = pilot.app.screen
        assert looks_at(beside.look) == looks_at(before)
        assert {look.stage for look in beside.pair.looks} == {before.stage}  # stage by stage
        await pilot.press("escape")
        assert screen.look == before

    drive(opt2, scenario)


def test_where_all_was_shown_all_of_both_is(compared):
    async def scenario(pilot, screen):
        assert screen.look.span_ps == screen.index.span_ps
        assert screen.index.span_ps > pilot.app.screen_stack[0].index.span_ps  # opt3 takes longer
        await pilot.press("x", "end", "x")
        await settled(pilot)
        again = pilot.app.screen
        assert again.look.stage == pilot.app.screen_stack[0].look.stage
        assert again.look.span_ps == again.index.span_ps

    compared(scenario)


@pytest.mark.parametrize("key", named("quit_comparison").keys)
def test_as_the_first_screen_it_is_left_by_q_as_the_browser_is_and_says_so(compared, key):
    async def scenario(pilot, screen):
        shown = line_texts(screen.query_one("#compare", Painted).lines)
        assert shown[-1].startswith(" x timeline  ")
        assert "  ? keys  q quit  " in shown[-1]  # then how many lines of the table are not shown
        await pilot.press("x", "x")
        await settled(pilot)
        shown = line_texts(pilot.app.screen.query_one("#compare", Painted).lines)
        assert "  ? keys  x back  " in shown[-1]
        await pilot.press(key)
        assert isinstance(pilot.app.screen, TimelineScreen)
        assert not pilot.app._exit

    compared(scenario)

    async def leaves(pilot, screen):
        await pilot.press(key)
        await pilot.pause()
        assert pilot.app._exit

    compared(leaves)


def test_leaving_keeps_the_cursor_s_stage(compared):
    async def scenario(pilot, screen):
        await pilot.press("j", "j", "full_stop", "full_stop")
        stage = screen.pair.looks[0].stage
        assert stage > 0
        await pilot.press("x")
        assert pilot.app.screen.look.stage == stage

    compared(scenario)


def test_every_key_of_every_move_moves_both_sides(compared):
    async def scenario(pilot, screen):
        start = moved(screen.comparison, first_pair(screen.comparison), named("row_down").move)
        for action in compare_moves():
            for key in action.keys:
                screen.pair = start
                await pilot.press(key)
                follow = marked if action.name in MARKING else moved
                assert screen.pair == follow(screen.comparison, start, action.move), key

    compared(scenario)


def test_every_key_of_the_comparison_does_what_the_table_says(compared):
    async def scenario(pilot, screen):
        start = first_pair(screen.comparison)
        seen = {}
        for action in in_section(COMPARE):
            for key in action.keys if action.name != "leave_comparison" else ():
                screen.pair = start
                await pilot.press(key)
                seen[action.name] = screen.pair
        assert seen["next_difference"].chosen == 0
        assert seen["previous_difference"].chosen == 0
        assert seen["swap_sides"].active == 1
        assert seen["regroup"].level != start.level
        row = screen.comparison.alignment.first_divergence()
        moment = screen.comparison.moment_of_row(row)
        assert seen["first_divergence"].look.stage == moment.stages[0]

    compared(scenario)


def test_two_timelines_with_nothing_in_common_say_what_is_not_the_same_and_can_be_left(compared):
    async def scenario(pilot, screen):
        shown = line_texts(screen.query_one("#compare", Painted).lines)
        assert shown[0] == " the two cannot be lined up: they have nothing in common"
        assert shown[-1] == " x to opt2.ktrace alone  ? keys  q quit"
        await pilot.press("n")
        shown = line_texts(screen.query_one("#compare", Painted).lines)
        assert shown[-1] == " nothing is lined up to look at: x goes on"
        await pilot.press("W", "x")
        assert isinstance(pilot.app.screen, TimelineScreen)

    compared(scenario, other=two_commands().build(), size=(80, 24))


def test_with_one_file_there_is_nothing_to_compare_until_a_number_is_turned(drive, opt2):
    async def scenario(pilot, screen):
        await pilot.press("x")
        assert pilot.app.screen is screen
        said = line_texts(screen.query_one("#last", Painted).lines)[-1]
        assert said == " nothing to compare with: name two files (view A B), or turn a number (c)"
        await pilot.press("c", "down", "right")
        await settled(pilot)
        await pilot.press("escape", "x")
        await settled(pilot)
        shown = line_texts(pilot.app.screen.query_one("#compare", Painted).lines)
        assert "stage by stage" in shown[0]
        assert shown[2].startswith("   as it was")
        assert pilot.app.screen.pair.active == LOWER  # the run that one comes from

    drive(opt2, scenario)


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (20, 3), (200, 60)])
def test_it_fits_any_terminal(compared, size):
    async def scenario(pilot, screen):
        await pilot.press("n", "g")
        lines = screen.query_one("#compare", Painted).lines
        assert len(lines) == size[1]

    compared(scenario, size=size)


def test_a_mark_is_set_on_both_sides_and_both_tell_how_far_they_are_from_it(compared):
    async def scenario(pilot, screen):
        await pilot.press("j", "j", "full_stop", "m")
        marked_at = [look.at_ps for look in screen.pair.looks]
        assert [look.mark_ps for look in screen.pair.looks] == marked_at
        await pilot.press(*["full_stop"] * 4)
        now = [look.at_ps for look in screen.pair.looks]
        shown = line_texts(screen.query_one("#compare", Painted).lines)
        heads = [line for line in shown if "opt2.ktrace" in line or "opt3.ktrace" in line]
        for head, before, after in zip(heads, marked_at, now, strict=True):
            assert f"Δ +{times.exact(after - before)}" in head
        await pilot.press("apostrophe")
        assert [look.at_ps for look in screen.pair.looks] == marked_at
        assert [look.mark_ps for look in screen.pair.looks] == now
        await pilot.press("m", "m")  # here, and away
        assert [look.mark_ps for look in screen.pair.looks] == [NO_TIME, NO_TIME]

    compared(scenario)


def test_one_finds_on_the_cursor_s_side_and_the_other_follows(compared):
    def last_line(screen):
        return line_texts(screen.query_one("#compare", Painted).lines)[-1]

    async def scenario(pilot, screen):
        await pilot.press("greater_than_sign")
        assert last_line(screen) == " nothing to find yet: / asks for a pattern"
        await pilot.press("slash", *"gemm", "enter")
        found = screen.look.stage
        assert last_line(screen).startswith(" match 1 of ")
        moment = screen.comparison.moment(UPPER, found)
        assert screen.pair.looks[LOWER].stage == moment.stages[LOWER]
        await pilot.press("greater_than_sign", "less_than_sign")
        assert screen.look.stage == found
        await pilot.press("tab", "greater_than_sign")  # the other side's matches
        assert screen.pair.active == LOWER
        assert last_line(screen).startswith(" match ")
        await pilot.press("n")
        assert "match" not in last_line(screen)

    compared(scenario)


def test_keys_picture_and_table_are_there_too(compared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def scenario(pilot, screen):
        await pilot.press("question_mark")
        assert isinstance(pilot.app.screen, KeysScreen)
        await pilot.press(*"first moment", "enter")
        row = screen.comparison.alignment.first_divergence()
        assert screen.look.stage == screen.comparison.moment_of_row(row).stages[0]
        await pilot.press("e")
        await pilot.pause()
        assert (
            line_texts(screen.query_one("#compare", Painted).lines)[-1] == " saved opt2-compare.svg"
        )
        await pilot.press("E")
        await settled(pilot)
        assert line_texts(screen.query_one("#compare", Painted).lines)[-1].endswith(
            "opt2-compare.csv"
        )

    compared(scenario)
    with Path("opt2-compare.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    upper, lower = (sum(int(row[side]) for row in rows) for side in ("upper_ps", "lower_ps"))
    assert sum(int(row["change_ps"]) for row in rows) == lower - upper
