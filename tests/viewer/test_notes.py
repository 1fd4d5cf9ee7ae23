"""Bookmarks and notes, and the file beside the timeline that keeps them."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kerntape.schemas.errors import FileError
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.notes import (
    Kept,
    Keys,
    Note,
    added,
    as_text,
    carried_notes,
    free_note_name,
    from_text,
    joined,
    keys_of,
    note_head,
    note_lines,
    place_of,
)
from kerntape.viewer.notes_file import MAX_BYTES, NotesFile
from timeline_builder import decode_like, two_commands

NOTES = (Note("a", 10_000, 1, "der erste Fetch – 첫 번째"), Note("end", 96_000, NO_STAGE))
KEYS = Keys("which", "when")
SLOWER = Keys("which", "when else")
STARTS = np.arange(8) * 10_000
"""Of eight stages."""


def text_of(*notes):
    return as_text(Kept(notes), KEYS)


def test_notes_come_back_as_they_were():
    assert from_text(text_of(*NOTES), KEYS, STARTS, "x") == Kept(NOTES, (), "when")


def test_the_same_notes_are_the_same_text():
    assert text_of(*NOTES) == text_of(*tuple(NOTES))
    assert json.loads(text_of()) == {
        "form": "kerntape notes",
        "version": 2,
        "stages": "which",
        "timeline": "when",
        "notes": [],
    }


def test_in_a_run_of_the_same_stages_a_note_is_where_its_stage_starts_and_a_bare_time_is_nowhere():
    late = np.full(8, 77_000)
    kept = from_text(text_of(*NOTES), SLOWER, late, "x")
    assert kept == Kept((replace(NOTES[0], at_ps=77_000),), (NOTES[1],), "when")
    # written from there, the bare time is still one of the run that it was kept for
    again = from_text(as_text(kept, SLOWER), KEYS, STARTS, "x")
    assert again.notes == NOTES


def test_without_bare_times_the_text_is_of_the_newest_run():
    assert json.loads(as_text(Kept(NOTES[:1], (), "when"), SLOWER))["timeline"] == "when else"


def test_notes_of_the_first_version_belong_to_one_run():
    first = json.loads(text_of(*NOTES)) | {"version": 1}
    del first["stages"]
    assert from_text(json.dumps(first), KEYS, STARTS, "x").notes == NOTES
    with pytest.raises(FileError, match="belong to another timeline"):
        from_text(json.dumps(first), SLOWER, STARTS, "x")


def test_a_note_takes_the_place_of_one_of_the_same_name_in_the_order_of_time():
    assert [note.name for note in added(NOTES, Note("b", 50_000, 3))] == ["a", "b", "end"]
    assert added(NOTES, Note("a", 99_000, 3)) == (NOTES[1], Note("a", 99_000, 3))


def test_the_next_free_letter_is_the_name_of_a_note_without_one():
    assert free_note_name(NOTES) == "b"
    letters = tuple(Note(chr(ord("a") + i), i, NO_STAGE) for i in range(26))
    assert free_note_name(letters) == "27"
    # 27 and 29 are taken, as where 28 was removed: 28 is free though 28 notes are there, then 30
    gap = (*letters, Note("27", 27, NO_STAGE), Note("29", 29, NO_STAGE))
    assert free_note_name(gap) == "28"
    assert free_note_name((*gap, Note("28", 28, NO_STAGE))) == "30"
    assert free_note_name((*letters, Note("28", 28, NO_STAGE))) == "27"


def test_a_note_is_found_by_its_stage_or_by_its_bare_time():
    assert place_of(NOTES, 1, 99) == NOTES[0]
    assert place_of(NOTES, NO_STAGE, 96_000) == NOTES[1]
    assert place_of(NOTES, NO_STAGE, 96_001) is None
    assert place_of(NOTES, 2, 10_000) is None


def test_notes_that_are_joined_take_no_other_s_name():
    more = (Note("a", 20_000, 2), Note("c", 30_000, 3))
    names = [(note.name, note.stage) for note in joined(NOTES, more)]
    assert names == [("a", 1), ("b", 2), ("c", 3), ("end", NO_STAGE)]
    aside = (Note("b", 5_000, NO_STAGE), Note("c", 6_000, NO_STAGE))
    names = [(note.name, note.stage) for note in joined(NOTES, more, aside)]
    assert names == [("a", 1), ("d", 2), ("e", 3), ("end", NO_STAGE)]


def test_no_note_is_lost_where_more_are_joined_than_there_are_letters():
    letters = [chr(ord("a") + place) for place in range(26)]
    names = [*letters, "27", "29"]  # 28 was removed
    notes = tuple(Note(name, place, place) for place, name in enumerate(names))
    more = tuple(replace(note, stage=100 + note.stage) for note in notes)
    found = joined(notes, more)
    assert len({note.name for note in found}) == 56
    assert {note.stage for note in found} == {*range(28), *range(100, 128)}


def test_the_file_is_renamed_once_it_is_refused_and_nothing_else_is(tmp_path, timeline):
    opened, sidecar = tmp_path / "x", tmp_path / "x.kernnotes"
    file = NotesFile(opened, timeline)
    with pytest.raises(FileError, match=r"^there is no file of other notes to set aside$"):
        file.set_aside()
    file.keep(NOTES)
    with pytest.raises(
        FileError, match=r"^x\.kernnotes: its notes are of this timeline, and stay$"
    ):
        file.set_aside()
    sidecar.write_text("mine")
    assert file.set_aside() == "x.kernnotes.old-1"
    assert (tmp_path / "x.kernnotes.old-1").read_text() == "mine"
    again = NotesFile(opened, timeline)
    again.read()
    assert again.notes == NOTES


def test_a_folder_in_the_file_s_place_is_renamed_with_all_that_is_in_it(tmp_path, timeline):
    for name in ("x.kernnotes", "x.kernnotes.old-1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text("mine")
    file = NotesFile(tmp_path / "x", timeline)
    with pytest.raises(FileError):
        file.keep(NOTES)
    assert file.set_aside() == "x.kernnotes.old-2"
    for folder, inside in (("old-1", "x.kernnotes.old-1"), ("old-2", "x.kernnotes")):
        assert (tmp_path / f"x.kernnotes.{folder}" / inside).read_text() == "mine"
    again = NotesFile(tmp_path / "x", timeline)
    again.read()
    assert again.notes == NOTES


@pytest.mark.parametrize("make", [os.mkdir, lambda path: path.write_text("mine")])
def test_what_cannot_be_renamed_stays_and_leaves_nothing_beside_it(
    make, tmp_path, timeline, monkeypatch
):
    make(tmp_path / "x.kernnotes")
    file = NotesFile(tmp_path / "x", timeline)

    def refused(*paths):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(FileError) as caught:
        file.set_aside()
    assert str(caught.value) == (
        "x.kernnotes: cannot be renamed: Device or resource busy; move it away"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["x.kernnotes"]


def test_another_run_has_other_times_and_another_trace_other_stages():
    timeline = two_commands().build()
    moved = replace(timeline, start_ps=timeline.start_ps + 1)
    keys = keys_of(timeline)
    assert keys == keys_of(two_commands().build())
    assert keys_of(moved).stages == keys.stages
    assert keys_of(moved).times != keys.times
    assert keys_of(decode_like(1)).stages != keys.stages


def test_notes_go_with_their_stages_to_another_run():
    opened = TimelineIndex(two_commands().build(), "x")
    timeline = opened.timeline
    later = TimelineIndex(replace(timeline, start_ps=timeline.start_ps + 5_000), "x")
    found = carried_notes(NOTES, opened, later)
    assert found == (replace(NOTES[0], at_ps=opened.start(1) + 5_000),)


def broken(**changes):
    content = json.loads(text_of(*NOTES)) | changes
    return json.dumps(content)


WHOLE = {"name": "a", "at_ps": 1, "stage": 1, "text": ""}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "x: must be a file of notes, not other text"),
        ("[]", "x: must be a file of notes, not other text"),
        (broken(form="y"), "x: must be a file of notes, not other text"),
        (broken(version=3), "x: its version must be 2, not 3"),
        (
            broken(timeline="z", stages="y"),
            "x: its notes belong to another timeline; they are left alone",
        ),
        (broken(notes=3), "x: 'notes' must be a list"),
        (broken(notes=[{}]), "x: notes[0] must have a name, at_ps, stage and text"),
        (broken(notes=[WHOLE | {"stage": 8}]), "x: notes[0] must lie in the timeline"),
        (broken(notes=[WHOLE | {"at_ps": -1}]), "x: notes[0] must lie in the timeline"),
        (
            broken(notes=[WHOLE | {"at_ps": True}]),
            "x: notes[0] must have a name, at_ps, stage and text",
        ),
    ],
)
def test_what_is_no_note_of_this_timeline_is_refused_by_place(text, said):
    with pytest.raises(FileError) as caught:
        from_text(text, KEYS, STARTS, "x")
    assert str(caught.value) == said


@pytest.fixture
def timeline():
    return two_commands().build()


def test_the_file_stands_beside_the_timeline_s_and_is_read_when_it_is_opened_again(
    tmp_path, timeline
):
    opened = tmp_path / "decode.ktrace"
    file = NotesFile(opened, timeline)
    file.read()
    assert file.notes == ()
    file.keep(NOTES)
    assert [path.name for path in tmp_path.iterdir()] == ["decode.ktrace.kernnotes"]
    again = NotesFile(opened, timeline)
    again.read()
    assert again.notes == NOTES


def test_notes_of_other_stages_are_neither_shown_nor_overwritten(tmp_path, timeline):
    opened = tmp_path / "decode.ktrace"
    NotesFile(opened, timeline).keep(NOTES)
    other = NotesFile(opened, decode_like(1))
    for step in (other.read, lambda: other.keep(())):
        with pytest.raises(FileError, match="belong to another timeline"):
            step()
    kept = NotesFile(opened, timeline)
    kept.read()
    assert kept.notes == NOTES


def test_bare_times_of_another_run_stay_in_the_file_and_keep_others_out(tmp_path, timeline):
    opened = tmp_path / "decode.ktrace"
    NotesFile(opened, timeline).keep(NOTES)
    slower = NotesFile(opened, replace(timeline, end_ps=timeline.end_ps + 1))
    slower.read()
    assert (slower.notes, slower.aside) == (NOTES[:1], NOTES[1:])
    assert slower.can_keep(3)
    assert not slower.can_keep(NO_STAGE)
    slower.keep(())
    kept = NotesFile(opened, timeline)
    kept.read()
    assert kept.notes == NOTES[1:]
    assert kept.can_keep(NO_STAGE)


def test_a_file_that_is_too_long_or_no_text_is_refused(tmp_path, timeline):
    sidecar = tmp_path / "x.kernnotes"
    sidecar.write_bytes(b" " * (MAX_BYTES + 1))
    with pytest.raises(FileError, match=f"must be at most {MAX_BYTES} bytes of notes"):
        NotesFile(tmp_path / "x", timeline).read()
    sidecar.write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="must be a file of notes"):
        NotesFile(tmp_path / "x", timeline).read()


def test_without_a_file_notes_last_as_long_as_the_session(timeline):
    file = NotesFile(None, timeline)
    file.keep(NOTES)
    file.read()
    assert (file.notes, file.where) == (NOTES, "this session only")


def test_the_list_tells_name_place_and_words():
    index = TimelineIndex(two_commands().build(), "x")
    lines = [
        "".join(s.text for s in line).rstrip() for line in note_lines(index, NOTES, 0, 0, 100, 3)
    ]
    assert lines == [
        "  › a                    10 ns  fetch tile 1 of command 0           der erste Fetch – 첫 번째",
        "    end                  96 ns",
        "",
    ]
    assert "b sets one at the cursor" in note_head((), 0, 80)[0][0].text


def test_the_list_tells_how_many_notes_are_not_in_it():
    heads = ["".join(s.text for s in line).rstrip() for line in note_head(NOTES, 2, 80)]
    assert heads[0] == "  2 are not shown: what they mark is not in this run"
    assert note_head(NOTES, 1, 80)[0][0].text.startswith("  1 is not shown")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 200_000, "x: must be a file of notes, not other text"),
        (broken(notes=[WHOLE | {"at_ps": 1 << 63}]), "x: notes[0] must lie in the timeline"),
        (broken(version="v" * 99), f"x: its version must be 2, not {'v' * 23}…"),
        (
            broken(notes=[WHOLE | {"name": "\ud800"}]),
            "x: notes[0] must be of whole characters, not of halves of them",
        ),
        (
            broken(notes=[WHOLE | {"text": "a\udfff"}]),
            "x: notes[0] must be of whole characters, not of halves of them",
        ),
        (broken(timeline="\ud800", stages=KEYS.stages), "x: 'timeline' must be a hash"),
    ],
)
def test_what_could_not_be_read_or_written_again_is_refused(text, said):
    with pytest.raises(FileError) as caught:
        from_text(text, KEYS, STARTS, "x")
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (os.mkdir, "a folder"),
        (os.mkfifo, "a pipe, a device or a broken link"),
        (lambda path: os.symlink("nothing", path), "a pipe, a device or a broken link"),
    ],
    ids=["folder", "pipe", "broken link"],
)
def test_a_sidecar_that_is_no_plain_file_is_neither_waited_for_nor_replaced(
    make, kind, tmp_path, timeline
):
    sidecar = tmp_path / "x.kernnotes"
    make(sidecar)
    before = sidecar.lstat()
    file = NotesFile(tmp_path / "x", timeline)
    for step in (file.read, lambda: file.keep(NOTES)):
        with pytest.raises(FileError) as caught:
            step()
        assert str(caught.value) == f"x.kernnotes: must be a plain file of notes, not {kind}"
    assert sidecar.lstat() == before
    assert file.set_aside() == "x.kernnotes.old-1"
    assert (tmp_path / "x.kernnotes.old-1").lstat().st_ino == before.st_ino


def test_half_a_character_is_not_kept(tmp_path, timeline):
    file = NotesFile(tmp_path / "x", timeline)
    with pytest.raises(FileError, match=r"^a bookmark must be of whole characters"):
        file.keep((Note("\ud800", 0, NO_STAGE),))
    assert os.listdir(tmp_path) == []
