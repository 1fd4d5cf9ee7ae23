"""Lists open where one was when they were closed."""

import pytest
from kerntape.replay.replay import replay
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.viewer.model.hazard_filter import EVERYTHING, HazardFilter
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.screens.calibrate import CalibratePanel
from kerntape.viewer.screens.hazards import HazardPanel
from kerntape.viewer.screens.left_off import NO_ROW, LeftOff, pair_at, row_of
from kerntape.viewer.screens.list_panel import ListPanel
from kerntape.viewer.screens.summary import NOTHING, SummaryScreen
from kerntape.viewer.screens.timeline import TimelineScreen
from kerntape.viewer.widgets.painted import Painted
from message_kernels import captured
from painted_text import line_texts
from settling import settled


def chosen(screen):
    painted = screen.query_one("#summary", Painted).lines
    return [line for line in line_texts(painted) if line.startswith("›")]


@pytest.fixture(scope="module")
def pes(captured_decode):
    """Decode on two PEs: hazards on either."""
    return captured_decode("opt2", "one_cube", p=2, s_kv=1024)


@pytest.mark.parametrize("key", ["enter", "u", "escape", "c"])
def test_the_summary_opens_at_the_line_that_was_chosen_however_it_was_left(drive, opt2, key):
    async def scenario(pilot, screen):
        await pilot.press("u")
        await settled(pilot)
        await pilot.press("down", "down", "down")
        (before,) = chosen(pilot.app.screen)
        assert before.startswith("› DMA read")  # CPU, HBM, DMA read
        await pilot.press(key)
        if key == "c":
            assert isinstance(pilot.app.screen, CalibratePanel)
            await pilot.press("escape")
        assert isinstance(pilot.app.screen, TimelineScreen)
        await pilot.press("u")
        await settled(pilot)
        assert isinstance(pilot.app.screen, SummaryScreen)
        assert chosen(pilot.app.screen) == [before]
        await pilot.press("down")
        assert chosen(pilot.app.screen)[0].startswith("› TCM")

    drive(opt2, scenario)


def test_the_same_line_is_chosen_when_a_low_screen_puts_it_elsewhere(drive, opt2):
    async def scenario(pilot, screen):
        await pilot.press("u")
        await settled(pilot)
        await pilot.press("end")  # of a high screen, the least part of the path
        (before,) = chosen(pilot.app.screen)
        await pilot.resize_terminal(100, 18)
        await pilot.pause()
        assert chosen(pilot.app.screen) == [before]

    drive(opt2, scenario, (100, 40))


def test_another_run_s_summary_opens_at_no_line(drive, opt2):
    async def scenario(pilot, screen):
        await pilot.press("u", "down", "escape", "c", "down", "right")
        await settled(pilot)
        await pilot.press("escape", "u")
        assert pilot.app.screen.place == NOTHING

    drive(opt2, scenario)


@pytest.mark.parametrize("key", ["escape", "tab", "enter"])
def test_the_hazards_open_with_the_filter_and_at_the_pair_that_were_chosen(drive, pes, key):
    async def scenario(pilot, screen):
        await pilot.press("tab", "pagedown", "p", "f", "slash", *"m", "enter", "down", "down")
        before = pilot.app.screen
        pair, wanted = before._pair(before._row()), before.wanted
        assert (wanted.handle, wanted.pe is None) == ("m", False)
        assert before.place > 0
        await pilot.press(key)
        assert pilot.app.screen is screen
        await pilot.press("tab")
        after = pilot.app.screen
        assert isinstance(after, HazardPanel)
        assert after is not before
        assert (after._pair(after._row()), after.wanted) == (pair, wanted)
        assert after.count() == before.count()
        title = line_texts(after.panel.lines)[0]
        assert " · RAW · " in title
        assert " · on 'm' " in title

    drive(pes, scenario)


def test_a_replay_with_other_numbers_keeps_the_filter_and_the_pair(drive, opt2):
    async def scenario(pilot, screen):
        await pilot.press("tab", "f", "pagedown")
        before = pilot.app.screen
        pair = before._pair(before._row())
        await pilot.press("escape", "c", "down", *["right"] * 5)
        await settled(pilot)
        await pilot.press("escape", "tab")
        after = pilot.app.screen
        assert after._hazards is not before._hazards
        assert after._pair(after._row()) == pair
        assert after.wanted == before.wanted

    drive(opt2, scenario)


def test_a_pair_that_this_run_does_not_have_leaves_the_filter_and_the_first_line(drive, opt2):
    async def scenario(pilot, screen):
        gone, wanted = (0, 0, 0, 0, 0, 0), HazardFilter(kind=HazardKind.RAW)
        screen.left_off.leave_hazards(opt2.trace, wanted, gone)
        await pilot.press("tab")
        assert (pilot.app.screen.wanted, pilot.app.screen.place) == (wanted, 0)

    drive(opt2, scenario)


def test_a_pair_is_found_by_what_it_is_about_wherever_it_stands(opt2):
    mine = HazardIndex(TimelineIndex(opt2, "x"))
    other = HazardIndex(TimelineIndex(replay(opt2.trace, policy="serial"), "x"))
    pairs = [pair_at(mine, row) for row in range(len(mine))]
    assert len(set(pairs)) == len(pairs)
    assert [row_of(mine, pair) for pair in pairs] == list(range(len(mine)))
    assert row_of(mine, (0, 0, 0, 0, 0, 0)) == NO_ROW
    elsewhere = {pair_at(other, row): row for row in range(len(other))}
    assert [row_of(other, pair) for pair in pairs] == [
        elsewhere.get(pair, NO_ROW) for pair in pairs
    ]
    assert elsewhere.keys() & set(pairs)


def test_another_trace_has_no_filter(opt2, opt3):
    left_off = LeftOff()
    left_off.leave_hazards(opt2.trace, HazardFilter(pe=0), (0, 1, 2, 0, 0, 0))
    assert left_off.in_hazards(opt2.trace) == (HazardFilter(pe=0), (0, 1, 2, 0, 0, 0))
    assert left_off.in_hazards(opt3.trace) == (EVERYTHING, None)


@pytest.mark.parametrize("key", ["c", "escape"])
def test_the_calibration_opens_at_the_number_that_was_chosen(drive, opt2, key):
    async def scenario(pilot, screen):
        await pilot.press("c", *["down"] * 3, "right", key)
        await settled(pilot)
        await pilot.press("c")
        panel = pilot.app.screen
        assert isinstance(panel, CalibratePanel)
        assert panel.row == "pe_cpu.cycles_per_byte"  # policy, clock, fixed cycles, this one
        await settled(pilot)
        last = panel._calibrating().blocks[-1]
        await pilot.press("end", key, "c")
        assert pilot.app.screen.row == last

    drive(opt2, scenario)


def test_the_blocked_commands_open_at_the_one_that_was_chosen(drive):
    stopped = replay(captured("all_send_first", with_data=False, messages=13).trace)

    async def scenario(pilot, screen):
        await pilot.press("exclamation_mark", "down")
        assert pilot.app.screen.place == 1
        await pilot.press("escape", "exclamation_mark")
        assert isinstance(pilot.app.screen, ListPanel)
        return pilot.app.screen.place

    assert drive(stopped, scenario) == 1
