"""`:reload`: the file is opened anew after capturing again, and the cursor stays where it was."""

import json
from dataclasses import replace

import pytest
from kerntape.schemas.timeline import Status
from kerntape.schemas.timeline_file import write_timeline
from kerntape.schemas.trace_file import write_trace
from kerntape.viewer.model import times
from kerntape.viewer.model.look import jump
from painted_text import last_line, line_texts
from pressed import reload, type_in
from settling import settled
from timeline_builder import two_commands
from viewed_files import captured_trace


def place(screen):
    index, stage = screen.index, screen.look.stage
    return index.pe(stage), index.command(stage), index.kind(stage)


def test_a_file_that_was_captured_again_is_shown_at_the_same_command_of_the_same_pe(
    on_files, decode_file
):
    async def scenario(pilot, screen):
        await type_in(pilot, "command 9")
        await pilot.press("f", "s", "s")
        before, (index, look) = place(screen), (screen.index, screen.look)
        was = times.short(screen.index.timeline.makespan_ps)
        write_trace(decode_file, captured_trace(s_kv=1024))
        await reload(pilot)
        assert screen.index is not index
        assert screen.index.timeline.makespan_ps > index.timeline.makespan_ps
        assert place(screen) == before
        assert screen.look.span_ps == look.span_ps  # and where it was on the screen
        here = screen.index.start(screen.look.stage) - screen.look.from_ps
        assert here == index.start(look.stage) - look.from_ps
        now = times.short(screen.index.timeline.makespan_ps)
        assert last_line(screen) == f"opened anew: {now}, was {was}"

    on_files(scenario, decode_file)


def test_what_has_not_changed_is_shown_as_it_was(on_files, decode_file):
    async def scenario(pilot, screen):
        await type_in(pilot, "command 9")
        await pilot.press("v")
        await type_in(pilot, "time 1us")
        await pilot.press("w", "w", "p", "m", "full_stop", "P", "v", "V")
        before = screen.look
        assert (before.mark_ps, before.area is None) == (1_000_000, False)
        await reload(pilot)
        assert screen.look == before
        makespan = times.short(screen.index.timeline.makespan_ps)
        assert last_line(screen) == f"opened anew: {makespan}, as before"

    on_files(scenario, decode_file)


def test_a_command_that_is_gone_gives_way_to_the_nearest_and_that_is_said(on_files, decode_file):
    async def scenario(pilot, screen):
        await pilot.press("end", "end")
        last = max(range(len(screen.index)), key=screen.index.command)
        screen.go(jump(screen.index, screen.look, last))
        before = screen.index.command(last)
        write_trace(decode_file, captured_trace(s_kv=128))
        await reload(pilot)
        now = max(map(screen.index.command, range(len(screen.index))))
        assert place(screen)[1] == now < before
        assert last_line(screen).endswith(
            f" · command {before} of PE 0 is gone: at command {now} of PE 0"
        )

    on_files(scenario, decode_file)


def test_on_other_rows_the_cursor_finds_its_pe_and_the_pattern_holds(on_files, tmp_path):
    path = tmp_path / "x.ktrace"
    write_trace(path, captured_trace(topology="one_cube", p=8, s_kv=1024))

    async def scenario(pilot, screen):
        await type_in(pilot, "pe 3")
        await type_in(pilot, "command 4")
        await pilot.press("F", *"gemm", "enter")
        rank = screen.index.timeline.trace.pes[place(screen)[0]].rank
        command = place(screen)[1]
        write_trace(path, captured_trace(topology="one_cube", p=4, s_kv=1024))
        await reload(pilot)
        trace_now = screen.index.timeline.trace
        assert len(trace_now.pes) == 4
        assert trace_now.pes[place(screen)[0]].rank == rank
        assert place(screen)[1] == command
        assert screen.look.rows_like == "gemm"
        titles = {screen.index.tree.rows[key].title for key in screen.look.hidden}
        assert "MATH" in titles

    on_files(scenario, path)


def test_a_pe_that_is_not_launched_any_more_leads_to_the_first_look(on_files, tmp_path):
    path = tmp_path / "x.ktrace"
    write_trace(path, captured_trace(topology="one_cube", p=8, s_kv=1024))

    async def scenario(pilot, screen):
        await type_in(pilot, "pe 7")
        write_trace(path, captured_trace(topology="one_cube", p=2, s_kv=1024))
        await reload(pilot)
        assert place(screen)[0] == 0
        assert " of PE 7 is gone: at command " in last_line(screen)

    on_files(scenario, path)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda file: file.unlink(), "cannot be read: No such file or directory"),
        (
            lambda file: replaced(file, file.read_bytes()[:2000]),
            "truncated: section 'tables' must end at byte ",
        ),
        (
            lambda file: replaced(file, b"text"),
            "byte 0: must be a trace or a timeline, not a file that begins with b'text'",
        ),
        (
            lambda file: write_trace(file, captured_trace(kernel="gated_ffn")),
            "must be of the kernel gqa_decode still, not of gated_ffn: leave, and view it anew",
        ),
    ],
    ids=["gone", "cut short", "other text", "another kernel"],
)
def test_what_cannot_be_shown_in_its_place_is_refused_in_one_line(
    on_files, decode_file, spoil, why
):
    async def scenario(pilot, screen):
        await type_in(pilot, "command 9")
        index, look = screen.index, screen.look
        spoil(decode_file)
        await reload(pilot)
        assert (screen.index, screen.look) == (index, look)
        assert last_line(screen).startswith(f"x.ktrace: {why}")
        await pilot.press("w", "left_square_bracket", "u", "escape")  # it is as good as before
        write_trace(decode_file, captured_trace(s_kv=128))
        await reload(pilot)
        assert screen.index is not index

    on_files(scenario, decode_file)


def replaced(file, content):
    """By another file of that name: what is mapped stays as it is."""
    other = file.with_name("other")
    other.write_bytes(content)
    other.replace(file)


def test_the_options_hold_again(on_files, decode_file):
    async def scenario(pilot, screen):
        write_trace(decode_file, captured_trace(s_kv=256))
        await reload(pilot)
        timeline = screen.index.timeline
        assert timeline.policy.name == "serial"
        assert timeline.calibration.hbm.latency_ns == 7

    on_files(scenario, decode_file, "--policy", "serial", "--set", "hbm.latency_ns=7")


def test_a_timeline_opened_as_it_is_is_read_again_as_it_is(on_files, tmp_path, opt2, opt3):
    path = tmp_path / "x.ktimeline"
    write_timeline(path, opt2)

    async def scenario(pilot, screen):
        write_timeline(path, opt3)  # the old one stays mapped until it is replaced
        assert screen.index.timeline.makespan_ps == opt2.makespan_ps
        await reload(pilot)
        assert screen.index.timeline.makespan_ps == opt3.makespan_ps

    on_files(scenario, path)


def test_of_two_files_both_are_opened_anew(on_files, decode_file):
    other = decode_file.with_name("y.ktrace")
    write_trace(other, captured_trace(variant="opt3", s_kv=512))

    async def scenario(pilot, screen):
        write_trace(other, captured_trace(variant="opt3", s_kv=256))
        await reload(pilot)
        await pilot.press("x")
        await settled(pilot)
        sides = pilot.app.screen.comparison.sides
        assert [side.name for side in sides] == ["x.ktrace", "y.ktrace"]
        kept = [side.timeline.trace.header.arguments["s_kv"] for side in sides]
        assert kept == [512, 256]
        await pilot.press("x")
        other.unlink()
        await reload(pilot)
        assert last_line(screen) == "y.ktrace: cannot be read: No such file or directory"

    on_files(scenario, decode_file, other)


def test_what_was_found_possible_was_so_in_the_file_before(drive, opt2):
    async def scenario(pilot, screen):
        screen.reload._reopen = lambda: (opt2,)
        await pilot.press("tab", "a")
        await settled(pilot)
        assert screen.hazards.is_searched
        await pilot.press("escape")
        await reload(pilot)
        assert not screen.hazards.is_searched
        await pilot.press("tab", "a")
        await settled(pilot)
        assert screen.hazards.is_searched

    drive(opt2, scenario)


def test_bookmarks_go_along_and_are_written_when_the_old_file_is_set_aside(on_files, decode_file):
    notes = decode_file.with_name("x.ktrace.kernnotes")

    async def scenario(pilot, screen):
        await type_in(pilot, "command 9")
        before = place(screen)
        await pilot.press("b")
        assert last_line(screen).startswith("bookmark a kept: x.ktrace.kernnotes")
        old = notes.read_bytes()
        write_trace(decode_file, captured_trace(s_kv=1024))
        await reload(pilot)
        await pilot.press("home", "B")
        assert pilot.app.screen.count() == 1
        assert "belong to another timeline" in " ".join(line_texts(pilot.app.screen.panel.lines))
        await pilot.press("enter")
        assert place(screen) == before
        assert notes.read_bytes() == old
        await type_in(pilot, "fresh_notes")
        (note,) = json.loads(notes.read_text())["notes"]
        assert note["stage"] == screen.look.stage
        assert notes.with_name("x.ktrace.kernnotes.old-1").read_bytes() == old

    on_files(scenario, decode_file)


def test_a_run_that_stops_says_so(drive):
    timeline = two_commands().build()

    async def scenario(pilot, screen):
        stopped = replace(timeline, status=Status.DEADLOCK)
        screen.reload._reopen = lambda: (stopped,)
        await reload(pilot)
        return last_line(screen)

    assert drive(timeline, scenario) == (
        "opened anew: 96.00 ns, as before · it stopped for ever: ! shows who waits for whom"
    )


def test_without_a_file_there_is_nothing_to_open(drive):
    async def scenario(pilot, screen):
        await reload(pilot)
        return last_line(screen)

    assert drive(two_commands().build(), scenario) == (
        "nothing to open anew: this was not opened from a file"
    )
