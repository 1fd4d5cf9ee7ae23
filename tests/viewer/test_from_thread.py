"""What a thread found out is shown by the screen that wanted it, if it still wants it."""

import threading
from dataclasses import replace

import pytest
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import select
from kerntape.viewer.screens import finder
from kerntape.viewer.screens.area import AreaPanel
from kerntape.viewer.screens.from_thread import shown_by
from painted_text import last_line
from settling import settled, until
from textual.worker import get_current_worker


def told(screen, shown):
    """What a worker of the timeline's gets when it has that shown by the screen."""
    given = []
    return given, lambda: given.append(shown_by(screen, shown, 7))


def test_a_screen_that_is_there_shows_it_and_its_answer_comes_back(drive, decode):
    async def scenario(pilot, screen):
        given, work = told(screen, lambda number: number + 1)
        screen.run_worker(work, thread=True)
        await settled(pilot)
        return given

    assert drive(decode, scenario) == [8]


def test_a_screen_that_is_gone_is_shown_nothing(drive, decode):
    async def scenario(pilot, screen):
        panel = AreaPanel(screen.index, screen.hazards, (0, 1_000))
        pilot.app.push_screen(panel)
        await settled(pilot)
        await pilot.press("escape")
        given, work = told(panel, pytest.fail)
        screen.run_worker(work, thread=True)
        await settled(pilot)
        return given

    assert drive(decode, scenario) == [None]


def test_a_worker_that_was_cancelled_between_its_question_and_its_turn_shows_nothing(drive, decode):
    async def scenario(pilot, screen):
        given, asked = [], threading.Event()

        def work():
            worker = get_current_worker()
            call = pilot.app.call_from_thread

            def cancelled_meanwhile(show):
                worker.cancel()
                return call(show)

            pilot.app.call_from_thread = cancelled_meanwhile
            try:
                given.append(shown_by(screen, lambda: "shown"))
            finally:
                asked.set()

        screen.run_worker(work, thread=True, exit_on_error=False)
        await until(asked.is_set)
        return given

    assert drive(decode, scenario) == [None]


@pytest.fixture
def late_search(monkeypatch):
    """Every search is a thread's; those for `late` wait until this is set."""
    is_due, find = threading.Event(), finder.find

    def waits(index, pattern):
        if pattern == "fetch":
            assert is_due.wait(20)
        return find(index, pattern)

    monkeypatch.setattr(finder, "AT_ONCE_STAGES", 0)
    monkeypatch.setattr(finder, "find", waits)
    return is_due


async def late(pilot, late_search):
    late_search.set()
    await settled(pilot)


def test_a_search_that_ends_after_a_newer_one_moves_nothing(drive, decode, late_search):
    async def scenario(pilot, screen):
        screen.go(select(screen.index, screen.look, 0))
        screen.finder.find("fetch")
        screen.finder.find("gemm")
        await until(lambda: screen.look.stage != 0)  # the other search is done
        found = screen.look
        await late(pilot, late_search)
        assert screen.look == found
        await pilot.press("n")
        return last_line(screen)

    assert "for gemm" in drive(decode, scenario)


def test_a_search_in_a_timeline_that_is_not_shown_any_more_moves_nothing(
    drive, decode, late_search
):
    other = TimelineIndex(replace(decode), "another")

    async def scenario(pilot, screen):
        screen.go(select(screen.index, screen.look, 0))
        screen.finder.find("fetch")
        screen.show(other, HazardIndex(other), screen.look)
        before = screen.look
        await late(pilot, late_search)
        return screen.look == before

    assert drive(decode, scenario)
