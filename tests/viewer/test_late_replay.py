"""A replay that ends while a list is open: what is chosen there is of the run that it lists."""

import threading

import pytest
from kerntape.viewer import recalibration
from kerntape.viewer.model import path_list
from kerntape.viewer.model.carried import same_stage
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import select
from kerntape.viewer.screens.other_views import NEWER, NEWER_WITHOUT_IT
from painted_text import last_line


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
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


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
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert panel._hazards.is_searched
        assert panel._hazards._index is panel._index is screen.index
        await pilot.press("escape")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
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
