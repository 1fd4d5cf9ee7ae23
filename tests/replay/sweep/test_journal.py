"""A journal loses nothing that was appended whole, and belongs to one sweep."""

import errno
import os

import pytest
from kerntape.replay.sweep import journal as journal_module
from kerntape.replay.sweep.journal import Journal, journal_path
from kerntape.replay.sweep.points import PointResult, Way
from kerntape.schemas.errors import FileError

FIRST = [
    PointResult(0, Way.REPLAYED, ("ok", 10, 0.25, None)),
    PointResult(2, Way.FOLLOWED, ("ok",)),
]
SECOND = [PointResult(1, Way.DEADLOCKED, ("deadlock",))]


@pytest.fixture
def path(tmp_path):
    return journal_path(tmp_path / "r.csv")


@pytest.fixture
def two_batches(path):
    """A journal that was left behind."""
    with Journal(path, "a sweep") as journal:
        journal.append(FIRST)
        journal.append(SECOND)
    return path


def kept(path):
    with Journal(path, "a sweep") as journal:
        return sorted(journal.results.values(), key=lambda result: result.point)


def refusal(path, sweep="a sweep"):
    with pytest.raises(FileError) as error:
        Journal(path, sweep)
    return str(error.value)


def test_it_lies_beside_the_results(path):
    assert path.name == "r.csv.partial"


def test_what_was_appended_is_there_again(two_batches):
    assert kept(two_batches) == [FIRST[0], SECOND[0], FIRST[1]]


def test_it_can_be_continued_any_number_of_times(two_batches):
    more = PointResult(3, Way.REPLAYED, ("ok", 11))
    with Journal(two_batches, "a sweep") as journal:
        journal.append([more])
    assert kept(two_batches)[-1] == more


def test_half_a_last_line_is_dropped_wherever_it_was_cut(two_batches):
    whole = two_batches.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for size in range(last, len(whole)):
        two_batches.write_bytes(whole[:size])
        assert kept(two_batches) == FIRST
        assert two_batches.read_bytes() == whole[:last]


def test_a_title_that_was_cut_is_written_anew(path):
    with Journal(path, "a sweep") as journal:
        journal.append(FIRST)
    title = path.read_bytes().splitlines(keepends=True)[0]
    for size in range(len(title)):
        path.write_bytes(title[:size])
        with Journal(path, "a sweep") as journal:
            journal.append(SECOND)
        assert kept(path) == SECOND


def test_another_sweeps_journal_is_refused_and_left_alone(two_batches):
    before = two_batches.read_bytes()
    assert refusal(two_batches, "another sweep") == (
        f"{two_batches}: must be of this sweep, not of one with other arguments or by another"
        " kerntape; continue it with those, or delete the file"
    )
    assert two_batches.read_bytes() == before


def test_a_refusal_tells_the_command_that_began_the_journal(path):
    with Journal(path, "a sweep", "kerntape sweep x.ktrace -o r.csv") as journal:
        journal.append(FIRST)
    assert kept(path) == FIRST  # whatever command goes on with the same sweep
    assert refusal(path, "another sweep") == (
        f"{path}: must be of this sweep, not of one with other arguments or by another kerntape"
        " (kerntape sweep x.ktrace -o r.csv); continue it with those, or delete the file"
    )


def test_a_command_that_would_move_the_cursor_is_spelled_out(path):
    with Journal(path, "a sweep", "kerntape sweep 'a\x1b[2J\n'") as journal:
        journal.append(FIRST)
    assert "(kerntape sweep 'a\\x1b[2J\\n')" in refusal(path, "another sweep")


def test_a_disk_that_is_full_from_the_start_leaves_nothing_behind(path, monkeypatch):
    class FullDisk(journal_module.FileIO):
        def write(self, line):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(journal_module, "FileIO", FullDisk)
    assert refusal(path).startswith(f"{path}: cannot be written: No space left on device")
    assert not path.exists()


def test_damage_before_the_last_line_is_refused(two_batches):
    damaged = two_batches.read_bytes().replace(b'"replayed"', b'"replaxed"')
    two_batches.write_bytes(damaged)
    line = f"{two_batches}: line 3 is damaged; delete the file to begin anew"
    assert refusal(two_batches) == line


def test_a_file_that_is_no_journal_is_refused_and_left_alone(path):
    path.write_text("my notes")
    assert refusal(path) == f"{path}: line 1 is damaged; delete the file to begin anew"
    assert path.read_text() == "my notes"


def test_two_sweeps_cannot_write_one_journal(path):
    with Journal(path, "a sweep"):
        assert refusal(path) == (
            f"{path}: another sweep is writing it; wait for its end, or name other results"
        )


def test_one_without_a_point_is_not_left_behind(path):
    with Journal(path, "a sweep"):
        assert path.exists()
    assert not path.exists()


def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    path = tmp_path / "none" / "r.csv.partial"
    assert refusal(path) == (
        f"{path}: cannot be written: there is no folder {tmp_path / 'none'}; create the folder first"
    )


def test_a_pipe_in_its_place_is_refused_rather_than_waited_for(path):
    os.mkfifo(path)
    assert refusal(path) == f"{path}: must be a plain file to write, not a device or a pipe"


def test_a_full_disk_is_one_line_with_a_remedy_and_what_was_whole_is_kept(two_batches, monkeypatch):
    class FullDisk(journal_module.FileIO):
        def write(self, line):
            super().write(line[:10])
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(journal_module, "FileIO", FullDisk)
        with Journal(two_batches, "a sweep") as journal, pytest.raises(FileError) as error:
            journal.append([PointResult(3, Way.REPLAYED, ("ok", 11))])
    assert str(error.value) == (
        f"{two_batches}: cannot be written: No space left on device;"
        " free some space there, or write to another disk"
    )
    assert kept(two_batches) == [FIRST[0], SECOND[0], FIRST[1]]


def test_a_folder_whose_files_cannot_be_locked_is_one_line(path, monkeypatch):
    def no_locks(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(journal_module.fcntl, "flock", no_locks)
    assert refusal(path) == f"{path}: cannot be written: No locks available"


def test_one_that_another_sweep_removes_while_it_is_opened_is_made_anew(path, monkeypatch):
    ending = Journal(path, "a sweep")
    flock = journal_module.fcntl.flock

    def lock_as_the_other_ends(file, how):
        if not ending._file.closed:
            ending.remove()
            ending._file.close()
        flock(file, how)

    with monkeypatch.context() as patched:
        patched.setattr(journal_module.fcntl, "flock", lock_as_the_other_ends)
        journal = Journal(path, "a sweep")
    with journal:
        journal.append(FIRST)
        assert path.exists()
        assert "another sweep is writing it" in refusal(path)
    assert kept(path) == FIRST
