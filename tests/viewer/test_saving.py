"""Tables and pictures, saved by keys and under typed names."""

import threading
from dataclasses import replace
from pathlib import Path

from kerntape.viewer.screens import saving
from painted_text import last_line, line_texts, prompt_line
from pressed import type_in
from settling import settled
from timeline_builder import two_commands


def test_the_area_is_saved_as_csv_and_the_screen_as_svg(drive, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def scenario(pilot, screen):
        screen.go(replace(screen.look, area=(0, 10_000)))
        await type_in(pilot, "table loop")
        await settled(pilot)
        assert last_line(screen) == "saved 1 stages as loop.csv"
        await type_in(pilot, "table loop")
        assert prompt_line(pilot.app.screen) == " loop.csv: exists already; choose another name"
        await pilot.press("escape")
        screen.go(replace(screen.look, area=None))
        await type_in(pilot, "table")
        await settled(pilot)
        assert last_line(screen) == "saved 8 stages as decode-timeline.csv"
        await type_in(pilot, "picture view")
        await pilot.pause()
        assert last_line(screen) == "saved view.svg"
        await type_in(pilot, "picture view")
        assert prompt_line(pilot.app.screen) == " view.svg: exists already; choose another name"

    drive(two_commands().build(), scenario)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "decode-timeline.csv",
        "loop.csv",
        "view.svg",
    ]
    assert len(Path("loop.csv").read_text().splitlines()) == 2


def test_the_browser_is_left_only_when_what_is_being_saved_is_saved(drive, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    may_write, write = threading.Event(), saving.write_csv
    monkeypatch.setattr(saving, "write_csv", lambda *given: may_write.wait(10) and write(*given))

    async def scenario(pilot, screen):
        await pilot.press("E", "q")
        assert not pilot.app._exit
        may_write.set()
        await settled(pilot)
        assert pilot.app._exit

    drive(two_commands().build(), scenario)
    assert len(Path("decode-timeline.csv").read_text().splitlines()) == 9


def test_what_a_panel_saves_is_saved_and_told_when_the_panel_is_closed(
    drive, opt2, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    may_write, write = threading.Event(), saving.write_table
    monkeypatch.setattr(saving, "write_table", lambda *given: may_write.wait(10) and write(*given))

    async def scenario(pilot, screen):
        await pilot.press("o", "E", "escape", "q")
        assert not pilot.app._exit
        may_write.set()
        await pilot.app.workers.wait_for_complete()
        assert " as decode-critical-path.csv" in screen._message

    drive(opt2, scenario)
    assert Path("decode-critical-path.csv").exists()


def test_the_steps_of_the_critical_path_are_saved_as_a_table(drive, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def scenario(pilot, screen):
        await pilot.press("o", "E")
        await settled(pilot)
        shown = line_texts(pilot.app.screen.panel.lines)[0]
        assert "· saved 7 lines as decode-critical-path.csv " in shown
        await pilot.press("escape", "B", "E")
        shown = line_texts(pilot.app.screen.panel.lines)[0]
        assert "there is no table of this to save; e saves the screen" in shown
        await pilot.press("e")
        await pilot.pause()
        shown = line_texts(pilot.app.screen.panel.lines)[0]
        assert "· saved decode-bookmarks-and-notes.svg " in shown

    drive(two_commands().build(), scenario)
    saved = Path("decode-critical-path.csv").read_text(encoding="utf-8").splitlines()
    assert saved[0] == "step,stage,pe,engine,name,start_ps,spent_ps,latency_ps,why"
    assert saved[1] == "1,0,0,pe_cpu,dispatch of command 0,0,10000,0,nothing"
    assert len(saved) == 8
