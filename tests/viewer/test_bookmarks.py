"""Bookmarks in a run that took the place of the one that was opened."""

import json
from dataclasses import replace

import pytest
from kerntape.viewer.model.index import NO_STAGE
from kerntape.viewer.model.look import select
from painted_text import last_line, line_texts

STAGE = 100


async def settled(pilot):
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def recalibrated(pilot, *keys):
    await pilot.press("c")
    await settled(pilot)
    await pilot.press(*keys)
    await settled(pilot)
    await pilot.press("escape")


@pytest.fixture
def beside(tmp_path, drive, opt2):
    """Runs a scenario on a file in a folder, and gives the notes in its sidecar file, if there is one."""

    def run(scenario):
        async def told(pilot, screen):
            screen.bookmarks._path = tmp_path / "x.ktrace"
            return await scenario(pilot, screen)

        drive(opt2, told)
        sidecar = tmp_path / "x.ktrace.kernnotes"
        return json.loads(sidecar.read_text())["notes"] if sidecar.exists() else None

    return run


def test_a_bookmark_made_after_a_recalibration_is_kept_on_its_stage(beside, opt2):
    async def scenario(pilot, screen):
        await recalibrated(pilot, "down", "down", "right", "right")
        screen.go(select(screen.index, screen.look, STAGE))
        assert screen.index.start(STAGE) != int(opt2.start_ps[STAGE])
        await pilot.press("b")
        assert last_line(screen) == "bookmark a kept: x.ktrace.kernnotes · B lists them"
        await pilot.press("home", "B", "enter")
        assert screen.look.stage == STAGE

    (note,) = beside(scenario)
    assert (note["stage"], note["at_ps"]) == (STAGE, int(opt2.start_ps[STAGE]))


def test_a_bookmark_of_the_opened_run_is_listed_where_its_stage_is_now(beside):
    async def scenario(pilot, screen):
        screen.go(select(screen.index, screen.look, STAGE))
        await pilot.press("b")
        await recalibrated(pilot, "down", "down", "right", "right")
        await pilot.press("B")
        assert pilot.app.screen.count() == 1
        await pilot.press("enter")
        assert screen.look.stage == STAGE

    assert len(beside(scenario)) == 1


def test_a_bare_time_of_another_run_says_why_it_is_not_kept(beside):
    async def scenario(pilot, screen):
        await recalibrated(pilot, "down", "right")
        screen.go(replace(screen.look, stage=NO_STAGE, at_ps=5_000))
        await pilot.press("b")
        assert last_line(screen) == (
            "bookmark a for this run only: the run as it was opened has no such time"
        )
        await pilot.press("B")
        assert pilot.app.screen.count() == 1
        await pilot.press("escape")
        await recalibrated(pilot, "R")
        await pilot.press("B")
        assert pilot.app.screen.count() == 0

    assert beside(scenario) is None


def test_bare_times_of_the_opened_run_are_counted_but_not_shown_in_another(beside):
    async def scenario(pilot, screen):
        screen.go(replace(screen.look, stage=NO_STAGE, at_ps=5_000))
        await pilot.press("b")
        await recalibrated(pilot, "down", "right")
        await pilot.press("B")
        assert (
            "1 is not shown: what it marks is not in this run"
            in line_texts(pilot.app.screen.panel.lines)[1]
        )

    assert len(beside(scenario)) == 1
