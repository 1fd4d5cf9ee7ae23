"""A replay that ends while a list is open: what is chosen there is of the run that it lists."""

import gc
import threading
import weakref

import pytest
from kerntape.schemas.errors import KerntapeError
from kerntape.viewer import recalibration
from kerntape.viewer.model import path_list
from kerntape.viewer.model.carried import same_stage
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import select
from kerntape.viewer.screens.compare import CompareScreen
from kerntape.viewer.screens.hazards import HazardPanel
from kerntape.viewer.screens.other_views import (
    COMPARES_NOT,
    COMPARES_THEN,
    NEWER,
    NEWER_WITHOUT_IT,
    NOTHING_TO_COMPARE,
)
from painted_text import last_line, line_texts
from settling import settled


@pytest.fixture
def gate(monkeypatch):
    """Replays wait until it is opened; what numbers are worth is not measured."""
    opened, replayed = threading.Event(), recalibration.time

    def late(*arguments):
        assert opened.wait(20)
        return replayed(*arguments)

    monkeypatch.setattr(recalibration, "time", late)
    monkeypatch.setattr(recalibration.Recalibration, "_measure", lambda *arguments: None)
    return opened


async def turned(pilot):
    """Turns the first row, the policy: `strict_fifo` becomes another, with another critical path."""
    await pilot.press("c")
    await pilot.pause()
    await pilot.press("right", "escape")
    await pilot.pause()


async def replayed(pilot, gate):
    gate.set()
    await settled(pilot)


@pytest.mark.parametrize(
    ("is_compiled", "slow"), [(True, ""), (False, " (slow: the replay engine is not compiled)")]
)
@pytest.mark.parametrize("columns", [60, 100])
def test_the_panel_says_what_it_waits_for(
    drive, opt2, gate, monkeypatch, is_compiled, slow, columns
):
    monkeypatch.setattr(recalibration, "is_compiled", lambda: is_compiled)
    prepare = recalibration.prepare
    monkeypatch.setattr(
        recalibration, "prepare", lambda *model: prepare(*model) if gate.wait(20) else None
    )

    async def scenario(pilot, screen):
        def said():
            detail = line_texts(pilot.app.screen.panel.lines)[-3:-1]
            return " ".join(line.strip() for line in detail).strip()

        await pilot.press("c")
        assert said() == f"finding the numbers that this run uses …{slow}"
        await replayed(pilot, gate)
        assert said().startswith("the default; holds a composite")
        gate.clear()
        await pilot.press("right")
        assert said() == f"replaying …{slow}"
        await replayed(pilot, gate)
        assert said().startswith("holds any command for earlier accesses")

    drive(opt2, scenario, size=(columns, 30))


def chosen_step(index, panel):
    return path_list.path_stage(index, panel.place)


def chosen_hazard(index, panel):
    return int(panel._hazards.sites.later[panel._row()])


def chosen_note(index, panel):
    return index.timeline.stages.kind.size // 2


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        (("o", "end"), chosen_step),
        (("tab", "end"), chosen_hazard),
        (("b", "B"), chosen_note),
    ],
    ids=["critical path", "hazards", "bookmarks"],
)
def test_what_is_chosen_in_a_list_is_of_the_run_that_it_lists(drive, opt2, gate, keys, chosen):
    async def scenario(pilot, screen):
        screen.go(select(screen.index, screen.look, len(screen.index) // 2))
        await turned(pilot)
        await pilot.press(*keys)
        await pilot.pause()
        before, stage = screen.index, chosen(screen.index, pilot.app.screen)
        await replayed(pilot, gate)
        assert screen.index is before  # the list is still open
        await pilot.press("enter")
        await pilot.pause()
        assert screen.index is not before
        assert screen.look.stage == same_stage(before, screen.index, stage)
        assert last_line(screen) == NEWER

    drive(opt2, scenario)


def test_possible_hazards_found_for_a_list_are_of_its_run(drive, opt2, gate):
    async def scenario(pilot, screen):
        await turned(pilot)
        await pilot.press("tab")
        panel = pilot.app.screen
        await replayed(pilot, gate)
        await pilot.press("a")
        await settled(pilot)
        assert panel._hazards.is_searched
        assert panel._hazards._index is panel._index is screen.index
        await pilot.press("escape")
        await settled(pilot)
        assert screen.hazards._index is screen.index
        assert screen.index is not panel._index

    drive(opt2, scenario)


def test_a_stage_that_the_newer_run_lacks_is_said_to_be_gone(drive, opt2, captured_decode):
    shorter = TimelineIndex(captured_decode("opt2", s_kv=256), "decode.ktrace")

    async def scenario(pilot, screen):
        screen.go(select(screen.index, screen.look, len(screen.index) - 1))
        await pilot.press("o")
        screen.others._newest = (shorter, HazardIndex(shorter))
        screen.others.renew()
        assert screen.index is not shorter
        await pilot.press("escape")
        await pilot.pause()
        assert screen.index is shorter
        assert last_line(screen) == NEWER_WITHOUT_IT

    drive(opt2, scenario)


def test_a_run_that_was_not_kept_back_takes_its_place_without_a_word(drive, opt2, gate):
    async def scenario(pilot, screen):
        await turned(pilot)
        await pilot.press("o", "escape")
        before = screen.index
        await replayed(pilot, gate)
        assert screen.index is not before
        assert last_line(screen).startswith(", . stage")

    drive(opt2, scenario)


AT_ONCE = ("c", "right", "x")
"""A first turn, and the comparison of what it leads to."""


def test_the_first_turn_is_compared_as_soon_as_it_is_replayed(drive, opt2, gate):
    async def scenario(pilot, screen):
        base = screen.index.timeline
        await pilot.press(*AT_ONCE)
        await pilot.pause()
        assert pilot.app.screen is screen
        assert last_line(screen) == COMPARES_THEN
        await replayed(pilot, gate)
        assert isinstance(pilot.app.screen, CompareScreen)
        upper, lower = pilot.app.screen.comparison.sides
        assert upper.timeline is base
        assert lower.timeline is screen.index.timeline is screen.others.recalibration.timeline

    drive(opt2, scenario)


def test_a_comparison_that_waits_is_of_the_newest_turn(drive, opt2, gate):
    async def scenario(pilot, screen):
        await pilot.press(*AT_ONCE, "c", "right", "x")
        await replayed(pilot, gate)
        assert isinstance(pilot.app.screen, CompareScreen)
        lower = pilot.app.screen.comparison.sides[1]
        assert lower.timeline.policy == screen.others.recalibration.settings.policy

    drive(opt2, scenario)


def test_numbers_put_back_meanwhile_leave_nothing_to_compare(drive, opt2, gate):
    async def scenario(pilot, screen):
        await pilot.press(*AT_ONCE, "c", "R", "x")
        await replayed(pilot, gate)
        assert pilot.app.screen is screen
        assert last_line(screen) == NOTHING_TO_COMPARE

    drive(opt2, scenario)


def test_esc_takes_a_comparison_back_that_waits(drive, opt2, gate):
    async def scenario(pilot, screen):
        await pilot.press(*AT_ONCE, "escape")
        assert last_line(screen) == COMPARES_NOT
        await replayed(pilot, gate)
        assert pilot.app.screen is screen

    drive(opt2, scenario)


def test_what_was_opened_since_is_not_left_for_a_comparison(drive, opt2, gate):
    async def scenario(pilot, screen):
        await pilot.press(*AT_ONCE, "tab")
        await replayed(pilot, gate)
        assert isinstance(pilot.app.screen, HazardPanel)
        await pilot.press("escape")
        await pilot.pause()
        assert pilot.app.screen is screen

    drive(opt2, scenario)


def test_a_comparison_of_what_cannot_be_replayed_is_not_waited_for(drive, opt2, gate, monkeypatch):
    def refused(*arguments):
        assert gate.wait(20)
        raise KerntapeError("it must be shorter")

    monkeypatch.setattr(recalibration, "time", refused)

    async def scenario(pilot, screen):
        await pilot.press(*AT_ONCE)
        await replayed(pilot, gate)
        assert pilot.app.screen is screen
        assert last_line(screen) == "nothing new to compare with: it must be shorter"

    drive(opt2, scenario)


def test_a_run_that_another_took_the_place_of_is_let_go_of_at_once(drive, opt2, gate):
    async def scenario(pilot, screen):
        gate.set()
        runs = []
        for _ in range(3):
            await turned(pilot)
            await pilot.press("c")  # a panel closed, whose widgets knew the run before
            await replayed(pilot, gate)
            await pilot.press("escape")
            runs.append(weakref.ref(screen.index))
        assert [run() is None for run in runs] == [True, True, False]

    gc.collect()
    gc.disable()  # which would find it in its own time, long after so much memory is short
    try:
        drive(opt2, scenario)
    finally:
        gc.enable()
