"""Names that are typed for a new file."""

import os
from functools import partial
from pathlib import Path

import pytest
from kerntape.schemas.errors import FileError
from kerntape.viewer import new_file
from kerntape.viewer.calibration_file import calibration_path
from kerntape.viewer.csv_file import write_table
from kerntape.viewer.new_file import check_new
from kerntape.viewer.picture_file import picture_name, picture_path
from kerntape.viewer.screens.saving import table_path

NO_NAME = "a file's name must be without NUL and of whole characters: type another"


def to_table(name):
    write_table(Path(f"{name}.csv"), ("a",), ())


WAYS = [to_table, lambda name: picture_name(name, "title", "view"), calibration_path]
"""How a name is typed for a table, a picture and a calibration."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a\0b", NO_NAME),
        ("no\0folder/a", NO_NAME),
        ("\ud800", NO_NAME),
        # with .csv, .svg or .yaml behind it, 304 or 305 bytes
        ("x" * 300, "a file's name must be of at most 255 bytes, not 30"),
        ("커" * 84, "a file's name must be of at most 255 bytes, not 25"),
    ],
)
def test_what_no_file_can_be_called_is_said_in_one_line(way, name, said, folder):
    with pytest.raises(FileError) as caught:
        way(name)
    assert str(caught.value).startswith(said)
    assert os.listdir(folder) == []


@pytest.mark.parametrize("way", WAYS)
def test_a_link_to_nothing_is_something_that_is_there(way, folder):
    for suffix in (".csv", ".svg", ".yaml"):
        os.symlink("nothing", folder / f"a{suffix}")
    with pytest.raises(FileError, match="exists already"):
        way("a")


@pytest.mark.parametrize(
    ("way", "name", "said"),
    [
        (picture_path, "pic.png", "a picture must be saved as .svg, not .png: type pic.svg"),
        (
            picture_path,
            "a.b/pic.PDF",
            "a picture must be saved as .svg, not .PDF: type a.b/pic.svg",
        ),
        (table_path, "all.xlsx", "a table must be saved as .csv, not .xlsx: type all.csv"),
    ],
)
def test_another_kind_of_file_is_refused_with_the_name_to_type(way, name, said):
    with pytest.raises(FileError) as caught:
        way(name)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("way", "name", "file"),
    [
        (picture_path, "pic", "pic.svg"),
        (picture_path, "pic.svg", "pic.svg"),
        (picture_path, "PIC.SVG", "PIC.SVG"),
        (picture_path, "png", "png.svg"),
        (picture_path, "run.v2", "run.v2.svg"),  # no kind of file that one knows
        (picture_path, "all.csv", "all.csv.svg"),
        (table_path, "run.v2", "run.v2.csv"),
    ],
)
def test_the_ending_is_added_where_there_is_none(way, name, file):
    assert way(name) == Path(file)


@pytest.mark.parametrize(
    ("way", "file"),
    [(picture_path, "mine.svg"), (table_path, "mine.csv"), (calibration_path, "mine.yaml")],
)
def test_a_tilde_is_the_user_s_folder(way, file, folder, monkeypatch):
    home = folder / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    assert way("~/mine") == home / file
    assert way("mine~") == Path(f"mine~{Path(file).suffix}")
    with pytest.raises(
        FileError, match=r"^~nobody-is-called-so/mine.*: ~ must be the folder of a user"
    ):
        way("~nobody-is-called-so/mine")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="a file system of Linux")
def test_a_folder_in_which_nothing_can_be_made_is_said_before_anything_is_written():
    with pytest.raises(FileError) as caught:
        check_new(Path("/proc/x.svg"))
    said = "/proc/x.svg: cannot be written: No such file or directory; name another folder"
    assert str(caught.value) == said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_said_too_and_nothing_stays_there(folder, monkeypatch):
    full = partial(open, "/dev/full", "wb", 0)
    monkeypatch.setattr(new_file, "TemporaryFile", lambda **where: full())
    with pytest.raises(FileError) as caught:
        check_new(folder / "x.svg")
    assert str(caught.value) == (
        f"{folder}/x.svg: cannot be written: No space left on device;"
        " free some space there, or write to another disk"
    )


def test_the_check_leaves_nothing_behind(folder):
    check_new(folder / "x.svg")
    assert os.listdir(folder) == []


def test_a_name_of_the_greatest_length_is_one(folder):
    check_new(folder / ("x" * 255))
