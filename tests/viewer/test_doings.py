"""What the main screen does besides moving, driven by its keys."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from kerntape.schemas.deadlock import BlockedCommand, Deadlock
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.schemas.timeline import Status
from kerntape.viewer.app import Browser
from kerntape.viewer.model.look import Overlay, select
from kerntape.viewer.screens import finder, saving
from kerntape.viewer.screens.area import AreaPanel
from kerntape.viewer.screens.command_line import CommandLine
from kerntape.viewer.screens.list_panel import ListPanel
from kerntape.viewer.typed import TypedError, speed_of
from kerntape.viewer.widgets.painted import Painted
from kerntape.viewer.widgets.picture import Picture
from painted_text import last_line, line_texts
from textual import events
from timeline_builder import decode_like, topology, two_commands

KEY_NAMES = {
    " ": "space",
    "#": "number_sign",
    ":": "colon",
    ".": "full_stop",
    "_": "underscore",
    "^": "circumflex_accent",
    "$": "dollar_sign",
    "|": "vertical_line",
}


def typed(text):
    return [KEY_NAMES.get(character, character) for character in text]


def picture(screen):
    return line_texts(screen.query_one(Picture).lines)


async def say(pilot, words):
    await pilot.press("colon", *typed(words), "enter")


def test_the_critical_path_is_laid_over_the_rows_and_taken_away(drive):
    async def scenario(pilot, screen):
        await pilot.press("p")
        assert screen.look.overlays == {Overlay.PATH}
        assert picture(screen)[-1].startswith("path  ")
        assert "━╸GEMM╺━" in picture(screen)[-1]
        await pilot.app.workers.wait_for_complete()
        await pilot.press("p")
        assert not picture(screen)[-1].startswith("path")

    drive(two_commands().build(), scenario)


def test_enter_in_the_steps_of_the_critical_path_goes_to_the_stage(drive):
    async def scenario(pilot, screen):
        await pilot.press("o")
        assert isinstance(pilot.app.screen, ListPanel)
        await pilot.press("down", "down", "down", "enter")
        assert screen.look.stage == 4
        await pilot.press("o")
        assert pilot.app.screen.place == 3  # it opens where the cursor is

    drive(two_commands().build(), scenario)


def test_idle_time_is_coloured_when_it_is_worked_out(drive):
    async def scenario(pilot, screen):
        await pilot.press("i")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        shown = picture(screen)
        assert shown[-1].startswith(" idle for   d░ data  p░ dispatch")
        assert any("GEMM" in line and "p░░" in line for line in shown)
        await pilot.press("i")
        assert "░" not in "".join(picture(screen))

    drive(two_commands().build(), scenario)


def held_twice():
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=20)
    return builder.build()


def test_one_steps_from_hazard_to_hazard(drive):
    async def scenario(pilot, screen):
        await pilot.press("z")
        assert screen.look.stage == 6
        assert last_line(screen) == "command 1 was held 20 ns for s, written by command 0"
        await pilot.press("z")
        assert (screen.look.stage, last_line(screen)) == (6, "no hazard in this direction")
        await pilot.press("end", "Z")
        await pilot.press("down", "down", "down", "Z")
        assert screen.look.stage == 6

    drive(held_twice(), scenario)


def test_a_pattern_is_found_and_gone_along(drive):
    async def scenario(pilot, screen):
        await pilot.press("n")
        assert last_line(screen) == "nothing to find yet: / asks for a pattern"
        await pilot.press("slash", *typed("gemm"), "enter")
        assert screen.look.stage == 1
        assert last_line(screen) == "match 1 of 4 for gemm, in its op"
        await pilot.press("n", "n")
        assert (screen.look.stage, last_line(screen)) == (
            3,
            "match 3 of 4 for gemm, in its kind, its op",
        )
        await pilot.press("N")
        assert screen.look.stage == 2
        await say(pilot, "find ^exp$")
        assert (screen.look.stage, last_line(screen)) == (7, "match 1 of 1 for ^exp$, in its op")
        await say(pilot, "find nothing")
        assert (screen.look.stage, last_line(screen)) == (7, "no match for nothing")

    drive(two_commands().build(), scenario)


def test_a_long_timeline_is_searched_by_a_thread(drive, monkeypatch):
    monkeypatch.setattr(finder, "AT_ONCE_STAGES", 0)

    async def scenario(pilot, screen):
        await pilot.press("slash", *typed("gemm"), "enter")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert (screen.look.stage, last_line(screen)) == (1, "match 1 of 4 for gemm, in its op")
        await pilot.press("n")
        assert (screen.look.stage, last_line(screen)) == (2, "match 2 of 4 for gemm, in its op")

    drive(two_commands().build(), scenario)


def test_finding_stays_on_a_match_that_the_cursor_is_at(drive):
    async def scenario(pilot, screen):
        screen.go(select(screen.index, screen.look, 3))
        await say(pilot, "find gemm")
        assert (screen.look.stage, last_line(screen)) == (
            3,
            "match 3 of 4 for gemm, in its kind, its op",
        )

    drive(two_commands().build(), scenario)


def test_a_pattern_that_is_none_is_said_and_can_be_typed_again(drive):
    async def scenario(pilot, screen):
        await pilot.press("slash", "left_parenthesis", "enter")
        prompt = line_texts(pilot.app.screen.query_one("#prompt", Painted).lines)[0]
        assert prompt.startswith(" must be a regular expression: ")
        await pilot.press("escape")
        assert pilot.app.screen is screen

    drive(two_commands().build(), scenario)


def test_one_plays_until_a_key_is_hit(drive):
    async def scenario(pilot, screen):
        await pilot.press("space")
        assert screen.player.is_playing
        screen.player.tick()
        assert screen.look.at_ps % (screen.player.speed // 20) == 0 < screen.look.at_ps
        await pilot.press("greater_than_sign")
        assert screen.player.is_playing  # another speed does not end it
        await pilot.press("space")
        assert not screen.player.is_playing
        await pilot.press("space", "m")
        assert not screen.player.is_playing
        assert screen.look.mark_ps >= 0  # the key did what it does
        await pilot.press("space", "f12")
        assert not screen.player.is_playing  # a key without an action ends it too

    drive(two_commands().build(), scenario)


def test_playing_ends_at_the_end_and_begins_anew_from_there(drive):
    async def scenario(pilot, screen):
        screen.player.set_speed(10**9)
        assert last_line(screen) == "Space plays: 1.000 ms a second · < slower · > faster"
        await pilot.press("space")
        screen.player.tick()
        assert not screen.player.is_playing
        assert screen.look.at_ps == 96_000
        await pilot.press("space")
        assert screen.look.at_ps < 96_000 or not screen.player.is_playing

    drive(two_commands().build(), scenario)


def test_a_speed_that_is_none_is_refused():
    assert speed_of("20ps") == 20
    for text in ("0", "19ps"):
        with pytest.raises(TypedError) as caught:
            speed_of(text)
        least = "a speed must be at least 20 ps a second"
        assert str(caught.value).replace("20.00", "20") == f"{least}, not '{text}'"


def test_tab_on_an_empty_line_lists_what_can_be_typed(drive):
    async def scenario(pilot, screen):
        await pilot.press("colon", "tab")
        prompt = pilot.app.screen.query_one("#prompt")
        return "".join(span.text for span in prompt.lines[0])

    # the first of the sorted names, and how many more there are
    said = drive(two_commands().build(), scenario)
    assert said.startswith(" area  area_figures  bookmark")
    assert said.rstrip().endswith(" more")


def test_the_speed_is_halved_doubled_and_typed(drive):
    async def scenario(pilot, screen):
        await say(pilot, "speed 1us")
        assert screen.player.speed == 10**6
        await pilot.press("greater_than_sign")
        assert screen.player.speed == 2 * 10**6
        await pilot.press("less_than_sign", "less_than_sign")
        assert screen.player.speed == 10**6 // 2

    drive(two_commands().build(), scenario)


def test_an_area_is_begun_ended_studied_and_taken_away(drive):
    async def scenario(pilot, screen):
        await pilot.press("V")
        assert (
            last_line(screen)
            == "no area yet: v begins one at the cursor, v ends it elsewhere; or drag the mouse"
        )
        await pilot.press("v")
        assert last_line(screen) == "area: go to its other end, v again ends it there"
        await pilot.press("end", "v")
        panel = pilot.app.screen
        assert isinstance(panel, AreaPanel)
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert line_texts(panel.panel.lines)[1] == "  0 ps to 88 ns · 88 ns"
        await pilot.press("escape", "V")
        assert isinstance(pilot.app.screen, AreaPanel)
        await pilot.press("V", "v")
        assert (pilot.app.screen, screen.look.area) == (screen, None)

    drive(two_commands().build(), scenario)


def test_a_drag_of_the_mouse_chooses_an_area(drive):
    async def scenario(pilot, screen):
        before = screen.look.stage
        await pilot.mouse_down(Picture, offset=(20, 4))
        await pilot._post_mouse_events([events.MouseMove], Picture, offset=(40, 4), button=1)
        assert screen.look.area is not None
        await pilot.mouse_up(Picture, offset=(40, 4))
        await pilot.pause()
        assert isinstance(pilot.app.screen, AreaPanel)
        assert screen.look.stage == before

    drive(two_commands().build(), scenario)


def test_the_area_is_saved_as_csv_and_the_screen_as_svg(drive, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def scenario(pilot, screen):
        screen.go(replace(screen.look, area=(0, 10_000)))
        await say(pilot, "table loop")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert last_line(screen) == "saved 1 stages as loop.csv"
        await say(pilot, "table loop")
        prompt = pilot.app.screen.query_one("#prompt", Painted)
        assert line_texts(prompt.lines) == [" loop.csv: exists already; choose another name"]
        await pilot.press("escape")
        screen.go(replace(screen.look, area=None))
        await say(pilot, "table")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert last_line(screen) == "saved 8 stages as decode-timeline.csv"
        await say(pilot, "picture view")
        await pilot.pause()
        assert last_line(screen) == "saved view.svg"
        await say(pilot, "picture view")
        prompt = pilot.app.screen.query_one("#prompt", Painted)
        assert line_texts(prompt.lines) == [" view.svg: exists already; choose another name"]

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
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
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


def test_rows_are_filtered_by_a_pattern(drive, decode):
    async def scenario(pilot, screen):
        await pilot.press("F", *typed("gemm|math"), "enter")
        shown = [
            line for line in picture(screen) if (line.strip() and "GEMM" in line) or "CPU" in line
        ]
        assert len(shown) == 1
        await say(pilot, "filter nothing")
        assert last_line(screen) == "no row is like nothing"
        await pilot.press("F", *typed("gemm"), "enter", "F", "backspace", "enter")
        assert screen.look.hidden == frozenset()
        assert last_line(screen) == "all rows are shown"

    drive(decode, scenario)


def test_the_header_says_which_rows_are_shown_while_a_pattern_chooses_them(drive, decode):
    def header(screen):
        return line_texts(screen.query_one("#header", Painted).lines)[0]

    async def scenario(pilot, screen):
        unfiltered = header(screen)
        await pilot.press("F", *typed("gemm|math"), "enter")
        assert "   rows like gemm|math   " in header(screen)
        await pilot.press("m")
        assert "   rows like gemm|math   Δ +0 ps   " in header(screen)
        await pilot.press("m")
        await say(pilot, "filter nothing")  # which changes nothing
        assert "   rows like gemm|math   " in header(screen)
        await pilot.press("F")
        assert pilot.app.screen.line.value == "gemm|math"
        await pilot.press("enter")
        assert "   rows like gemm|math   " in header(screen)
        await pilot.press("F", *typed("cpu"), "enter")
        assert "   rows like cpu   " in header(screen)
        await pilot.press("I")  # shows all again, as it does where it hid some
        assert header(screen) == unfiltered
        await pilot.press("F", *typed("c"), "enter", "F", "delete", "enter")
        assert header(screen) == unfiltered
        await say(pilot, "filter .")
        assert (last_line(screen), header(screen)) == ("every row is like .", unfiltered)

    drive(decode, scenario)


@pytest.mark.parametrize(
    ("words", "stage"),
    [("command 1", 6), ("line decode.py:8", 6), ("time 60ns", 2), ("last_stage", 6), ("pe 0", 0)],
)
def test_what_is_typed_is_done(drive, words, stage):
    async def scenario(pilot, screen):
        screen.go(select(screen.index, screen.look, 2 if words.startswith("time") else 0))
        await say(pilot, words)
        return screen.look.stage

    assert drive(two_commands().build(), scenario) == stage


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("command x", " a number must be of digits, not 'x'"),
        ("pe 9", " PE must be one of the launch (0 to 0), not 9"),
        ("line 99", " no command of this PE that ran comes from line 99"),
        ("speed fast", " a time must be like 7.4us, 12345ns or 3ms, not 'fast'"),
    ],
)
def test_what_cannot_be_done_is_said_and_can_be_typed_again(drive, words, said):
    async def scenario(pilot, screen):
        await say(pilot, words)
        assert isinstance(pilot.app.screen, CommandLine)
        return line_texts(pilot.app.screen.query_one("#prompt", Painted).lines)[0]

    assert drive(two_commands().build(), scenario) == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("#" + "9" * 5000, " a number must be of at most 9 digits, not 5,000"),
        ("pe " + "9" * 5000, " a number must be of at most 9 digits, not 5,000"),
        ("9" * 5000, f" a time must be like 7.4us, 12345ns or 3ms, not '{'9' * 23}…'"),
        ("line " + "9" * 5000, f" a line must be like decode.py:118 or 118, not '{'9' * 23}…'"),
        ("filter " + "(" * 5000, " a pattern must be of at most 300 characters, not 5,000"),
    ],
)
def test_what_is_far_too_long_is_said_to_be(drive, words, said):
    async def scenario(pilot, screen):
        await pilot.press("colon")
        pilot.app.focused.value = words  # as pasted
        await pilot.press("enter")
        return line_texts(pilot.app.screen.query_one("#prompt", Painted).lines)[0]

    assert drive(two_commands().build(), scenario) == said


def test_tab_completes_and_what_fits_is_shown(drive):
    async def scenario(pilot, screen):
        await pilot.press("colon", *typed("zoo"))
        line = pilot.app.screen
        assert line_texts(line.query_one("#prompt", Painted).lines) == [" zoom_in  zoom_out"]
        span = screen.look.span_ps
        await pilot.press("tab", "i", "tab", "enter")
        assert screen.look.span_ps == span // 2
        await pilot.press("colon", "enter")  # nothing typed: nothing done
        assert pilot.app.screen is screen

    drive(two_commands().build(), scenario)


def test_the_keys_are_a_palette_that_does_what_is_chosen(drive):
    async def scenario(pilot, screen):
        span = screen.look.span_ps
        await pilot.press("ctrl+p", *typed("zoom in"), "enter")
        assert (pilot.app.screen, screen.look.span_ps) == (screen, span // 2)
        await pilot.press("question_mark", *typed("kernel line's"), "enter")
        assert last_line(screen) == "type :line 118"
        await pilot.press("question_mark", *typed("hazards held"), "enter")
        assert pilot.app.screen is not screen

    drive(two_commands().build(), scenario)


def test_bookmarks_are_kept_beside_the_file_and_found_again(tmp_path, drive):
    timeline, opened = two_commands().build(), tmp_path / "x.ktimeline"

    async def keep(pilot, screen):
        screen.bookmarks._path = opened
        await pilot.press("b")
        assert last_line(screen) == "bookmark a kept: x.ktimeline.kernnotes · B lists them"
        screen.go(select(screen.index, screen.look, 4))
        await say(pilot, "note late GEMM")
        await say(pilot, "mark here")

    async def find(pilot, screen):
        screen.bookmarks._path = opened
        await pilot.press("B")
        shown = "\n".join(line_texts(pilot.app.screen.panel.lines))
        assert "late GEMM" in shown
        await pilot.press("down", "enter")
        assert (screen.look.stage, last_line(screen)) == (4, "b: late GEMM")
        await pilot.press("B", "home", "enter")
        assert last_line(screen) == "at the bookmark a"

    drive(timeline, keep)
    drive(timeline, find)


def test_the_browser_is_told_where_the_file_is(tmp_path):
    app = Browser(two_commands().build(), "x", path=tmp_path / "x.ktrace")
    assert app.get_default_screen().bookmarks._path == tmp_path / "x.ktrace"


def deadlocked():
    blocked = (
        BlockedCommand(0, 1, "recv E", "decode.py:8", "a message", 0, 0),
        BlockedCommand(9, 0, "recv W", "decode.py:8", "a message", 0, 1),
    )
    deadlock = Deadlock(cycle=blocked[:1], tail=blocked[1:], clearing_depth=2)
    return replace(two_commands().build(), status=Status.DEADLOCK, deadlock=deadlock)


def test_a_deadlock_s_graph_leads_to_where_each_command_stopped(drive):
    async def scenario(pilot, screen):
        await pilot.press("exclamation_mark")
        shown = "\n".join(line_texts(pilot.app.screen.panel.lines))
        assert "a queue depth of 2 clears it" in shown
        await pilot.press("enter")
        assert screen.look.stage == 7
        assert last_line(screen).startswith("PE 0 command 1 recv E (decode.py:8) waits for")
        await pilot.press("exclamation_mark", "down", "enter")  # a PE without a stage
        assert last_line(screen).startswith("PE 9 command 0")

    drive(deadlocked(), scenario)


def test_a_run_without_a_deadlock_says_so(drive):
    async def scenario(pilot, screen):
        await pilot.press("exclamation_mark")
        assert "no deadlock" in "\n".join(line_texts(pilot.app.screen.panel.lines))
        await pilot.press("enter")
        assert pilot.app.screen is screen

    drive(two_commands().build(), scenario)


def test_pins_filters_and_levels_work_on_a_large_machine(drive):
    machine = topology(sips=2, cubes=(2, 2), pes=(4, 2))
    timeline = decode_like(1, launched=64, machine=machine)

    async def scenario(pilot, screen):
        await pilot.press("1")
        assert [line[:9].strip("› ") for line in picture(screen)[1:4:2]] == ["▸ SIP 0", "▸ SIP 1"]
        await pilot.press("4", "P")
        assert screen.look.pinned == (screen.look.row,)
        await say(pilot, "pe 63")
        assert screen.index.engine(screen.look.stage).rank == 63
        await pilot.press("F", *typed("pe 3 gemm"), "enter", "0", "p", "i")
        await pilot.app.workers.wait_for_complete()
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert picture(screen)

    drive(timeline, scenario)


def test_the_line_of_a_pattern_offers_prefixes_and_what_there_is_behind_them(drive):
    async def scenario(pilot, screen):
        def offered():
            return line_texts(pilot.app.screen.query_one("#prompt", Painted).lines)[0].strip()

        await pilot.press("slash")
        assert offered() == (
            "find (a regular expression) anywhere · kind: op: handle: line: in that only"
        )
        await pilot.press("k")
        assert offered() == "kind:"
        await pilot.press("tab")
        assert offered() == "kind:GEMM  kind:MATH  kind:dispatch  kind:fetch  kind:finish"
        await pilot.press("x", "tab")
        assert offered() == "nothing completes this"
        await pilot.press("backspace", "g", "tab", "enter")
        assert last_line(screen) == "match 1 of 2 for kind:GEMM, in its kind"
        await say(pilot, "find line:exp")
        assert last_line(screen) == "match 1 of 2 for line:exp, in the kernel's line"
        await pilot.press("slash", *typed("op:"), "enter")
        assert offered() == "a pattern must follow op:"
        await pilot.press("escape")
        await say(pilot, "find lime:exp")
        assert last_line(screen) == "no match for lime:exp; did you mean 'line:'?"

    drive(two_commands().build(), scenario, size=(80, 24))


def test_the_steps_of_the_critical_path_are_saved_as_a_table(drive, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def scenario(pilot, screen):
        await pilot.press("o", "E")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        shown = line_texts(pilot.app.screen.panel.lines)[0]
        assert "· saved 7 lines as decode-critical-path.csv " in shown
        await pilot.press("escape", "B", "E")
        assert (
            "there is no table of this to save; e saves the screen"
            in (line_texts(pilot.app.screen.panel.lines)[0])
        )
        await pilot.press("e")
        await pilot.pause()
        assert (
            "· saved decode-bookmarks-and-notes.svg " in line_texts(pilot.app.screen.panel.lines)[0]
        )

    drive(two_commands().build(), scenario)
    saved = Path("decode-critical-path.csv").read_text(encoding="utf-8").splitlines()
    assert saved[0] == "step,stage,pe,engine,name,start_ps,spent_ps,latency_ps,why"
    assert saved[1] == "1,0,0,pe_cpu,dispatch of command 0,0,10000,0,nothing"
    assert len(saved) == 8
