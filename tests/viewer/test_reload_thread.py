"""`:reload` works in a thread: what else is done meanwhile, wished again, or goes wrong there."""

import errno
import threading

import pytest
from kerntape.schemas.errors import FileError
from kerntape.viewer.model import times
from kerntape.viewer.model.look import select, window
from kerntape.viewer.model.path_list import path_stage
from kerntape.viewer.potential_search import PotentialSearch
from painted_text import last_line
from pressed import reload, type_in
from settling import settled, until
from timeline_builder import two_commands


def test_a_list_keeps_the_run_that_it_lists_until_it_is_closed(drive, opt2, opt3):
    gate = threading.Event()

    async def scenario(pilot, screen):
        screen.reload._reopen = lambda: gate.wait(20) and (opt3,)
        index = screen.index
        await type_in(pilot, "reload")
        await pilot.press("o", "end")
        last = path_stage(index, pilot.app.screen.place)
        gate.set()
        await settled(pilot)
        assert screen.index is index
        await pilot.press("enter")  # to the last step, and on to the run of opt3
        assert screen.index.timeline is opt3
        assert screen.index.command(screen.look.stage) == min(
            index.command(last), max(map(screen.index.command, range(len(screen.index))))
        )
        assert last_line(screen).startswith("opened anew: ")

    drive(opt2, scenario)


def test_a_search_that_is_at_the_file_before_adds_nothing_to_this_one(
    drive, opt2, opt3, monkeypatch
):
    gate, work = threading.Event(), PotentialSearch.work
    monkeypatch.setattr(PotentialSearch, "work", lambda *given: gate.wait(20) and work(*given))

    async def scenario(pilot, screen):
        screen.reload._reopen = lambda: (opt3,)
        await pilot.press("tab", "a", "escape")
        await type_in(pilot, "reload")
        await until(lambda: screen.index.timeline is opt3)
        gate.set()
        await settled(pilot)
        assert not screen.hazards.is_searched

    drive(opt2, scenario)


def test_a_second_wish_opens_once_more_what_was_written_meanwhile(drive, opt2, opt3):
    gate, opened = threading.Event(), []
    shown = []

    def reopen():
        opened.append((opt2, opt3)[len(opened)])
        assert gate.wait(20)
        return (opened[-1],)

    async def scenario(pilot, screen):
        screen.reload._reopen = reopen
        show = screen.take_reopened
        screen.take_reopened = lambda indexes: (shown.append(indexes), show(indexes))
        await type_in(pilot, "reload")
        await until(lambda: opened)
        await type_in(pilot, "reload")
        assert last_line(screen) == "opening decode.ktrace anew …"
        gate.set()
        await settled(pilot)
        assert screen.index.timeline is opt3
        now, was = (times.short(one.makespan_ps) for one in (opt3, opt2))
        assert last_line(screen) == f"opened anew: {now}, was {was}"
        assert len(shown) == 1  # what the file was at the first wish is passed over

    drive(opt2, scenario)
    assert opened == [opt2, opt3]


def test_what_the_first_wish_failed_at_may_be_well_by_the_second(drive, opt2, opt3):
    gate, opened = threading.Event(), []

    def reopen():
        opened.append(1)
        assert gate.wait(20)
        if len(opened) == 1:
            raise FileError("x: cannot be read")
        return (opt3,)

    async def scenario(pilot, screen):
        screen.reload._reopen = reopen
        await type_in(pilot, "reload")
        await until(lambda: opened)
        await type_in(pilot, "reload")
        gate.set()
        await settled(pilot)
        assert screen.index.timeline is opt3
        assert last_line(screen).startswith("opened anew: ")

    drive(opt2, scenario)


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (MemoryError(), "cannot be opened anew: out of memory"),
        (
            OSError(errno.EIO, "Input/output error", "x.ktrace"),
            "cannot be opened anew: x.ktrace: Input/output error",
        ),
        (OSError("no more threads"), "cannot be opened anew: no more threads"),
    ],
)
def test_what_the_system_refuses_is_said_in_one_line_and_the_browser_lives(
    drive, opt2, opt3, error, why
):
    def fails():
        raise error

    async def scenario(pilot, screen):
        screen.reload._reopen = fails
        await reload(pilot)
        assert last_line(screen) == why
        assert screen.index.timeline is opt2
        screen.reload._reopen = lambda: (opt3,)
        await reload(pilot)
        assert screen.index.timeline is opt3

    drive(opt2, scenario)


def test_memory_may_run_out_over_the_new_timeline_too(drive, opt2, monkeypatch):
    def fails(index):
        raise MemoryError

    async def scenario(pilot, screen):
        screen.reload._reopen = lambda: (opt2,)
        monkeypatch.setattr("kerntape.viewer.screens.reload.prepare", fails)
        await reload(pilot)
        assert last_line(screen) == "cannot be opened anew: out of memory"

    drive(opt2, scenario)


def test_a_key_is_not_kept_waiting(drive):
    gate = threading.Event()

    async def scenario(pilot, screen):
        screen.reload._reopen = lambda: gate.wait(20) and (two_commands().build(),)
        await type_in(pilot, "reload")
        screen.go(window(screen.index, select(screen.index, screen.look, 3), 0, 50_000))
        await pilot.press("full_stop")
        stage = screen.look.stage
        gate.set()
        await settled(pilot)
        assert (screen.look.stage, screen.look.span_ps) == (stage, 50_000)

    drive(two_commands().build(), scenario)
