"""Bookmarks, driven by keys: in the run that was opened and in one that took its place, with the file that
keeps them and without.
"""

import json
import os
from dataclasses import replace

import pytest
from kerntape.viewer.model.index import NO_STAGE
from kerntape.viewer.model.look import select
from kerntape.viewer.model.notes import Note
from kerntape.viewer.notes_file import NotesFile
from painted_text import last_line, line_texts
from pressed import type_in
from settling import settled
from timeline_builder import two_commands

STAGE = 100


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


def listed(pilot):
    return line_texts(pilot.app.screen.panel.lines)


def title(pilot):
    return listed(pilot)[0]


async def at(pilot, screen, stage, *keys):
    screen.go(select(screen.index, screen.look, stage))
    await pilot.press(*keys)


# -------------------------------------------------------------------- once, and taken away again


def test_a_place_is_bookmarked_once(beside):
    async def scenario(pilot, screen):
        await at(pilot, screen, STAGE, "b", "b")
        assert last_line(screen) == "bookmark a is at this place already · B lists them"
        await recalibrated(pilot, "down", "down", "right", "right")
        await at(pilot, screen, STAGE, "b")
        assert last_line(screen) == "bookmark a is at this place already · B lists them"
        screen.go(replace(screen.look, stage=NO_STAGE, at_ps=5_000))
        await pilot.press("b", "b")
        assert last_line(screen) == "bookmark b is at this place already · B lists them"
        screen.go(replace(screen.look, stage=NO_STAGE, at_ps=5_001))
        await pilot.press("b")
        assert last_line(screen).startswith("bookmark c ")

    assert len(beside(scenario)) == 1


def test_words_join_the_bookmark_that_has_none_and_are_a_second_one_beside_others(beside):
    async def scenario(pilot, screen):
        await at(pilot, screen, STAGE, "b")
        await type_in(pilot, "note first")
        await type_in(pilot, "note second")
        await type_in(pilot, "mark here")

    notes = {note["name"]: note["text"] for note in beside(scenario)}
    assert notes == {"a": "first", "b": "second", "here": ""}


@pytest.mark.parametrize("key", ["d", "delete"])
def test_the_chosen_bookmark_is_removed_from_the_list_and_from_the_file(beside, tmp_path, key):
    async def scenario(pilot, screen):
        for stage in (10, 20, 30):
            await at(pilot, screen, stage, "b")
        await pilot.press("B", "down", key)
        assert "bookmark b removed" in title(pilot)
        assert pilot.app.screen.count() == 2
        kept = json.loads((tmp_path / "x.ktrace.kernnotes").read_text())["notes"]
        assert [note["name"] for note in kept] == ["a", "c"]
        await pilot.press("end", key)  # the last one: the one before is chosen then
        await pilot.press("enter")
        assert screen.look.stage == 10
        await pilot.press("b")
        assert last_line(screen) == "bookmark a is at this place already · B lists them"
        await pilot.press("B", key, key)
        assert "there is no bookmark to remove" in title(pilot)
        assert "b sets one at the cursor" in listed(pilot)[1]
        await pilot.press("escape", "b")
        assert last_line(screen).startswith("bookmark a kept")

    (note,) = beside(scenario)
    assert note["stage"] == 10


def test_a_bookmark_is_removed_in_a_run_that_took_the_place_too(beside):
    async def scenario(pilot, screen):
        await at(pilot, screen, STAGE, "b")
        await recalibrated(pilot, "down", "down", "right", "right")
        screen.go(replace(screen.look, stage=NO_STAGE, at_ps=5_000))
        await pilot.press("b", "B", "home", "d")  # the bare time, of this run only
        assert "bookmark b removed" in title(pilot)
        assert pilot.app.screen.count() == 1
        await pilot.press("d")
        assert "bookmark a removed" in title(pilot)

    assert beside(scenario) == []


# -------------------------------------------------------------------- where the file is another's

OTHER = "x.ktrace.kernnotes: its notes belong to another timeline; they are left alone"
REMEDY = "move or delete what is there, or type :fresh_notes, which renames it"


@pytest.fixture
def of_another(tmp_path):
    """The file of notes that was written when another timeline had that name."""
    NotesFile(tmp_path / "x.ktrace", two_commands().build()).keep(())
    return tmp_path / "x.ktrace.kernnotes"


def said(screen):
    """All that the last lines say, as one text."""
    lines = line_texts(screen.query_one("#last").lines)
    return " ".join(" ".join(lines).split())


@pytest.mark.parametrize("text", [None, "mine"])
def test_bookmarks_last_for_the_session_where_the_file_is_not_this_timeline_s(
    drive, opt2, of_another, text
):
    if text:
        of_another.write_text(text)
    why = "x.ktrace.kernnotes: must be a file of notes, not other text"
    why = why if text else OTHER
    before = of_another.read_bytes()

    async def scenario(pilot, screen):
        screen.bookmarks._path = of_another.with_name("x.ktrace")
        await at(pilot, screen, 10, "b")
        assert f"bookmark a for this session only: not written: {why} · {REMEDY}" in said(screen)
        await at(pilot, screen, 20)
        await type_in(pilot, "note kept here")
        assert last_line(screen) == "bookmark b for this session only · B lists them"
        await pilot.press("B")
        assert pilot.app.screen.count() == 2
        shown = " ".join(" ".join(listed(pilot)).split())
        assert f"not written: {why} · {REMEDY}" in shown
        assert "kept here" in shown
        await pilot.press("d")
        assert "bookmark a removed" in title(pilot)
        await pilot.press("enter")
        assert (screen.look.stage, last_line(screen)) == (20, "b: kept here")

    drive(opt2, scenario)
    assert of_another.read_bytes() == before


def test_the_other_file_is_renamed_over_nothing_and_the_notes_of_the_session_are_written(
    beside, of_another, tmp_path
):
    before = of_another.read_bytes()
    (tmp_path / "x.ktrace.kernnotes.old-1").write_text("older")

    async def scenario(pilot, screen):
        await at(pilot, screen, 10, "b")
        await type_in(pilot, "fresh_notes")
        assert last_line(screen) == (
            "what was there is x.ktrace.kernnotes.old-2 now; yours: x.ktrace.kernnotes"
        )
        await at(pilot, screen, 20, "b")
        assert last_line(screen) == "bookmark b kept: x.ktrace.kernnotes · B lists them"
        await pilot.press("B")
        assert "not written" not in " ".join(listed(pilot))
        await pilot.press("escape")
        await type_in(pilot, "fresh_notes")
        assert last_line(screen) == ("x.ktrace.kernnotes: its notes are of this timeline, and stay")

    assert [note["stage"] for note in beside(scenario)] == [10, 20]
    assert (tmp_path / "x.ktrace.kernnotes.old-1").read_text() == "older"
    assert (tmp_path / "x.ktrace.kernnotes.old-2").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == [
        f"x.ktrace.kernnotes{end}" for end in ("", ".old-1", ".old-2")
    ]


def test_a_folder_of_that_name_is_renamed_as_the_last_line_advises(beside, tmp_path):
    (tmp_path / "x.ktrace.kernnotes").mkdir()

    async def scenario(pilot, screen):
        await at(pilot, screen, 10, "b")
        assert said(screen).endswith(
            "bookmark a for this session only: not written: x.ktrace.kernnotes: must be a plain"
            f" file of notes, not a folder · {REMEDY}"
        )
        await type_in(pilot, "fresh_notes")
        assert last_line(screen) == (
            "what was there is x.ktrace.kernnotes.old-1 now; yours: x.ktrace.kernnotes"
        )

    assert [note["stage"] for note in beside(scenario)] == [10]
    assert (tmp_path / "x.ktrace.kernnotes.old-1").is_dir()


def test_a_free_letter_is_none_that_a_bare_time_of_another_run_has(beside, tmp_path, opt2):
    other = replace(opt2, end_ps=opt2.end_ps + 1)
    NotesFile(tmp_path / "x.ktrace", other).keep((Note("a", 5_000, NO_STAGE),))

    async def scenario(pilot, screen):
        await at(pilot, screen, 10, "b")
        assert last_line(screen) == "bookmark b kept: x.ktrace.kernnotes · B lists them"

    assert [(note["name"], note["stage"]) for note in beside(scenario)] == [
        ("b", 10),
        ("a", NO_STAGE),
    ]


def test_there_may_be_nothing_to_rename(beside):
    async def scenario(pilot, screen):
        await type_in(pilot, "fresh_notes")
        assert last_line(screen) == "there is no file of other notes to set aside"

    assert beside(scenario) is None


def test_the_notes_of_the_session_are_written_when_the_other_file_has_been_moved_away(
    beside, of_another
):
    async def scenario(pilot, screen):
        await at(pilot, screen, 10, "b")
        of_another.rename(of_another.with_name("elsewhere"))
        await pilot.press("B")
        assert "not written" not in " ".join(listed(pilot))

    assert [note["stage"] for note in beside(scenario)] == [10]


def test_a_file_that_comes_to_fit_is_never_written_over_by_the_session_s_notes(
    beside, of_another, opt2
):
    async def scenario(pilot, screen):
        await pilot.press("B", "escape")
        of_another.unlink()
        NotesFile(of_another.with_name("x.ktrace"), opt2).keep(())  # before anything was noted
        await at(pilot, screen, 10, "b")
        assert last_line(screen).startswith("bookmark a kept")

    assert [note["stage"] for note in beside(scenario)] == [10]


def test_a_file_that_comes_to_fit_when_something_was_noted_is_left_alone(beside, of_another, opt2):
    async def scenario(pilot, screen):
        await at(pilot, screen, 10, "b")
        of_another.unlink()
        NotesFile(of_another.with_name("x.ktrace"), opt2).keep((Note("theirs", 0, 5),))
        await at(pilot, screen, 20, "b")
        assert last_line(screen) == "bookmark b for this session only · B lists them"

    assert [note["name"] for note in beside(scenario)] == ["theirs"]


def test_bookmarks_last_for_the_session_where_the_folder_cannot_be_written(drive, opt2, tmp_path):
    async def scenario(pilot, screen):
        screen.bookmarks._path = tmp_path / "gone" / "x.ktrace"
        await at(pilot, screen, 10, "b")
        assert last_line(screen) == (
            "bookmark a for this session only: not written:"
            f" {tmp_path}/gone/x.ktrace.kernnotes: cannot be written:"
            f" there is no folder {tmp_path}/gone; create the folder first"
        )
        await at(pilot, screen, 20, "b")
        assert last_line(screen) == "bookmark b for this session only · B lists them"
        await pilot.press("B")
        assert pilot.app.screen.count() == 2
        await pilot.press("d")
        assert "bookmark a removed for this session only" in title(pilot)

    drive(opt2, scenario, size=(400, 30))
