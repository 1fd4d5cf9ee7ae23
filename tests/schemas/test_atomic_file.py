"""A file is written whole or not at all, whatever happens in the middle."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from kerntape.schemas.atomic_file import cannot_write, remove_unfinished, write_whole
from kerntape.schemas.errors import FileError


def write(path: Path, content: bytes = b"new") -> None:
    with write_whole(path) as file:
        file.write(content)


def refused(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        write(path)
    return str(caught.value)


@pytest.fixture
def umask_027() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_the_file_is_there_when_the_block_has_ended_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with write_whole(path) as file:
        file.write(b"half")
        assert not path.exists()
        file.write(b"whole")
    assert path.read_bytes() == b"halfwhole"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ValueError, FileError, SystemExit])
def test_any_exception_leaves_what_was_there_and_nothing_else(
    stop: type[BaseException], tmp_path: Path
) -> None:
    def write_half() -> None:
        with write_whole(path) as file:
            file.write(b"half")
            raise stop

    path = tmp_path / "x"
    path.write_bytes(b"old")
    with pytest.raises(stop):
        write_half()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("stage", ["fsync", "write"])
def test_a_full_disk_is_one_line_and_leaves_nothing(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int = 0) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def write_half() -> None:
        with write_whole(path) as file:
            file.write(b"half")
            if stage == "write":
                fail()

    path = tmp_path / "x"
    if stage == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileError) as caught:
        write_half()
    assert str(caught.value) == (
        f"{path}: cannot be written: No space left on device;"
        " free some space there, or write to another disk"
    )
    assert os.listdir(tmp_path) == []


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "no" / "x"
    assert refused(path) == (
        f"{path}: cannot be written: there is no folder {tmp_path}/no; create the folder first"
    )


def test_a_folder_that_is_there_and_takes_no_file_is_told_as_the_system_says_it(
    tmp_path: Path,
) -> None:
    # as /proc: a new file in it is answered with ENOENT
    error = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    assert str(cannot_write(tmp_path / "x", error)) == (
        f"{tmp_path}/x: cannot be written: No such file or directory; name another folder"
    )


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    path = tmp_path / "file" / "x"
    assert refused(path) == (
        f"{path}: cannot be written: Not a directory; name a file inside a folder"
    )


def test_a_folder_in_the_way_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path) == (
        f"{tmp_path}: must be a file to write, not a folder; name a file inside it"
    )


def test_a_device_is_never_replaced() -> None:
    assert refused(Path("/dev/null")) == (
        "/dev/null: must be a plain file to write, not a device or a pipe"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    path = folder / "x"
    assert refused(path) == (
        f"{path}: cannot be written: Permission denied; choose a place that you may write to"
    )


def test_a_write_protected_file_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # what os.access says to all but root
    assert refused(path) == (
        f"{path}: cannot be written: the file is write-protected;"
        " choose a place that you may write to"
    )
    assert path.read_bytes() == b"old"


def test_a_name_that_is_too_long_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 300)
    assert refused(path) == f"{path}: cannot be written: File name too long; choose a shorter name"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("name", "shown"), [("a\0b", r"a\x00b"), ("\ud800", r"\ud800")])
def test_a_name_that_no_file_can_have_is_one_line(name: str, shown: str, tmp_path: Path) -> None:
    said = f"'{tmp_path}/{shown}': no file can be called so; choose another name"
    assert refused(tmp_path / name) == said
    assert os.listdir(tmp_path) == []


def test_a_name_of_the_greatest_length_is_written(tmp_path: Path) -> None:
    write(tmp_path / ("x" * 255))
    assert os.listdir(tmp_path) == ["x" * 255]


@pytest.mark.usefixtures("umask_027")
def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path: Path) -> None:
    write(tmp_path / "x")
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


@pytest.mark.usefixtures("umask_027")
def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes() == b"new"


def test_a_link_is_replaced_and_what_it_points_to_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write(link)
    assert target.read_bytes() == b"old"
    assert not link.is_symlink()
    assert link.read_bytes() == b"new"


def test_a_link_to_nothing_is_replaced_and_nothing_else_is_made(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nothing")
    write(link)
    assert os.listdir(tmp_path) == ["link"]
    assert link.read_bytes() == b"new"


def test_a_reader_of_the_old_file_goes_on_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with path.open("rb") as reader:
        write(path)
        assert reader.read() == b"old"


def test_a_process_that_ends_while_a_thread_writes_removes_what_is_half_written(
    tmp_path: Path,
) -> None:
    (tmp_path / "kept").write_text("whole")

    def written_on_the_way_out() -> None:
        with write_whole(tmp_path / "half") as file:
            file.write(b"half")
            assert len(list(tmp_path.iterdir())) == 2
            remove_unfinished()
            assert [path.name for path in tmp_path.iterdir()] == ["kept"]

    with pytest.raises(FileError, match="half"):  # its thread can no longer put it in its place
        written_on_the_way_out()
    remove_unfinished()  # what is done is left alone
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
