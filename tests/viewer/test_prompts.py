"""A name that cannot be written to is said where it is typed, and can be typed again."""

import os
from pathlib import Path

import pytest
from kerntape.viewer.screens.ask import AskLine
from kerntape.viewer.screens.command_line import CommandLine
from painted_text import last_line, prompt_line
from pressed import type_in
from settling import settled
from timeline_builder import two_commands


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The folder in which the browser runs: with a file `plain` that is no folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").write_text("")
    return tmp_path


WRONG = {
    "no/x": "no/x{}: cannot be written: there is no folder no; create the folder first",
    "plain/x": "plain/x{}: cannot be written: Not a directory; name a file inside a folder",
}


@pytest.mark.parametrize(("name", "said"), WRONG.items())
@pytest.mark.parametrize(
    ("word", "suffix"),
    [("picture", ".svg"), ("table", ".csv")],
)
def test_a_wrong_path_behind_a_command_stays_to_be_mended(word, suffix, name, said, drive):
    async def scenario(pilot, screen):
        await type_in(pilot, f"{word} {name}")
        asked = pilot.app.screen
        assert isinstance(asked, CommandLine)
        assert (asked.line.value, prompt_line(asked)) == (
            f"{word} {name}",
            f" {said.format(suffix)}",
        )
        await pilot.press(*["backspace"] * len(name), *"right", "enter")
        await settled(pilot)
        assert pilot.app.screen is screen
        assert last_line(screen).startswith("saved ")

    drive(two_commands().build(), scenario)
    assert sorted(os.listdir()) == ["plain", f"right{suffix}"]


@pytest.mark.parametrize(("name", "said"), WRONG.items())
def test_a_wrong_path_for_a_calibration_stays_to_be_mended(name, said, drive, opt2):
    async def scenario(pilot, screen):
        await pilot.press("c")
        panel = pilot.app.screen
        await pilot.press("s", *name, "enter")
        asked = pilot.app.screen
        assert isinstance(asked, AskLine)
        assert (asked.line.value, prompt_line(asked)) == (name, f" {said.format('.yaml')}")
        await pilot.press(*["backspace"] * len(name), *"right", "enter")
        assert pilot.app.screen is panel

    drive(opt2, scenario)
    assert Path("right.yaml").is_file()


def test_a_folder_that_one_may_not_write_to_is_said_too(drive, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)

    async def scenario(pilot, screen):
        await type_in(pilot, "picture x")
        return prompt_line(pilot.app.screen)

    assert drive(two_commands().build(), scenario) == (
        " x.svg: cannot be written: Permission denied; choose a place that you may write to"
    )
