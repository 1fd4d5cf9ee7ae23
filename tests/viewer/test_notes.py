"""Bookmarks and notes, and the file beside the timeline that keeps them."""

import json
from dataclasses import replace

import pytest
from kerntape.schemas.errors import FileError
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.notes import (
    Note,
    added,
    as_text,
    content_key,
    free_note_name,
    from_text,
    note_head,
    note_lines,
)
from kerntape.viewer.notes_file import MAX_BYTES, NotesFile
from timeline_builder import two_commands

NOTES = (Note("a", 10_000, 1, "der erste Fetch – 첫 번째"), Note("end", 96_000, NO_STAGE))


def test_notes_come_back_as_they_were():
    assert from_text(as_text(NOTES, "k"), "k", 8, "x") == NOTES


def test_the_same_notes_are_the_same_text():
    assert as_text(NOTES, "k") == as_text(tuple(NOTES), "k")
    assert json.loads(as_text((), "k")) == {
        "form": "kerntape notes",
        "version": 1,
        "timeline": "k",
        "notes": [],
    }


def test_a_note_takes_the_place_of_one_of_the_same_name_in_the_order_of_time():
    assert [note.name for note in added(NOTES, Note("b", 50_000, 3))] == ["a", "b", "end"]
    assert added(NOTES, Note("a", 99_000, 3)) == (NOTES[1], Note("a", 99_000, 3))


def test_the_next_free_letter_is_the_name_of_a_note_without_one():
    assert free_note_name(NOTES) == "b"
    letters = tuple(Note(chr(ord("a") + i), i, NO_STAGE) for i in range(26))
    assert free_note_name(letters) == "27"


def test_another_timeline_has_another_key():
    timeline = two_commands().build()
    moved = replace(timeline, start_ps=timeline.start_ps + 1)
    assert content_key(timeline) == content_key(two_commands().build())
    assert content_key(timeline) != content_key(moved)


def broken(**changes):
    content = json.loads(as_text(NOTES, "k")) | changes
    return json.dumps(content)


WHOLE = {"name": "a", "at_ps": 1, "stage": 1, "text": ""}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "x: must be a file of notes, not other text; move it away"),
        ("[]", "x: must be a file of notes, not other text; move it away"),
        (broken(form="y"), "x: must be a file of notes, not other text; move it away"),
        (broken(version=2), "x: its version must be 1, not 2"),
        (broken(timeline="z"), "x: its notes belong to another timeline; they are left alone"),
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
        from_text(text, "k", 8, "x")
    assert str(caught.value) == said


def test_the_file_stands_beside_the_timeline_s_and_is_read_when_it_is_opened_again(tmp_path):
    opened = tmp_path / "decode.ktrace"
    file = NotesFile(opened, "k", 8)
    file.read()
    assert file.notes == ()
    file.keep(NOTES)
    assert [path.name for path in tmp_path.iterdir()] == ["decode.ktrace.kernnotes"]
    again = NotesFile(opened, "k", 8)
    again.read()
    assert again.notes == NOTES


def test_notes_of_another_timeline_are_neither_shown_nor_overwritten(tmp_path):
    opened = tmp_path / "decode.ktrace"
    NotesFile(opened, "k", 8).keep(NOTES)
    other = NotesFile(opened, "other", 8)
    for step in (other.read, lambda: other.keep(())):
        with pytest.raises(FileError, match="belong to another timeline"):
            step()
    kept = NotesFile(opened, "k", 8)
    kept.read()
    assert kept.notes == NOTES


def test_a_file_that_is_too_long_or_no_text_is_refused(tmp_path):
    sidecar = tmp_path / "x.kernnotes"
    sidecar.write_bytes(b" " * (MAX_BYTES + 1))
    with pytest.raises(FileError, match=f"must be at most {MAX_BYTES} bytes of notes"):
        NotesFile(tmp_path / "x", "k", 8).read()
    sidecar.write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="must be a file of notes"):
        NotesFile(tmp_path / "x", "k", 8).read()


def test_without_a_file_notes_last_as_long_as_the_session():
    file = NotesFile(None, "k", 8)
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
    assert "b sets one at the cursor" in note_head((), 80)[0][0].text
